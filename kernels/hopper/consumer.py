"""A consumer: a warpgroup (four warps, 128 threads) that owns 64 query rows of each tile.

Its step for a key block j, with the symbols of `flash.py`:

    start  s_j = q k_jᵀ              on the tensor cores
    start  o  += p_{j-1} v_{j-1}     queued right behind it
    wait for s_j;  p_j, alpha, m, l = softmax step;  wait for o;  o = alpha · o

So the softmax step of block j stands beside the product of block j - 1. ptxas leaves only the maxima there
(see the loop), and the exponentials of one consumer run beside the products of another. The consumers come to
take turns by themselves: forcing it with barriers, the paper's ping-pong, cost 1-3 %.
"""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

# ruff: noqa: E741 - l is what the papers call it

from kernels.hopper.gluon_names import gl, gluon, wgmma, wgmma_wait
from kernels.hopper.products import start
from kernels.hopper.rings import after, await_full, release, tile_in
from kernels.hopper.tiles import blocks_seen, parts, read


@gluon.jit
def _softmax(s, m, l, scale_log2, dtype: gl.constexpr):
    """One online step. s and m are unscaled, so that the exponent is one multiply-add an element."""
    m_new = gl.maximum(m, gl.max(s, 1))
    reference = m_new * scale_log2
    p = gl.exp2(s * scale_log2 - reference[:, None])
    alpha = gl.exp2(m * scale_log2 - reference)
    # A thread holds two of each eight neighbouring columns of a row. Sums over the eights stay in the thread;
    # the eight partial sums of a row, which is what l holds, meet at the tile's end. 2 % at small N.
    partial = gl.convert_layout(gl.sum(gl.reshape(p, [p.shape[0], p.shape[1] // 8, 8]), 1), l.type.layout)
    l = gl.convert_layout(alpha, gl.SliceLayout(1, l.type.layout))[:, None] * l + partial
    return p.to(dtype), alpha, m_new, l


@gluon.jit
def _hide_future(s):
    """Causal: the last 64 of these keys begin where the rows begin, so row i sees the first i + 1 of them.

    The mask depends on no number known only at run time, so the compiler settles half the comparisons: 400
    instructions less, 3 % at d = 128 and N = 1024.
    """
    j = gl.arange(0, s.shape[1], gl.SliceLayout(0, s.type.layout)) - (s.shape[1] - s.shape[0])
    i = gl.arange(0, s.shape[0], gl.SliceLayout(1, s.type.layout))
    return gl.where(j[None, :] <= i[:, None], s, -float("inf"))


@gluon.jit
def _hide_beyond(s, keys):
    """Only so many of these keys exist."""
    j = gl.arange(0, s.shape[1], gl.SliceLayout(0, s.type.layout))
    return gl.where((j < keys)[None, :], s, -float("inf"))


@gluon.jit
def _first_step(
    q, k_ring, ki, keys, m, l, scale_log2, zero, dtype: gl.constexpr,
    CAUSAL: gl.constexpr, RAGGED: gl.constexpr,
):  # fmt: skip
    """The step for the one block that may need a mask, of which `keys` exist."""
    s_token = start(q, tile_in(k_ring, ki), zero)
    s = wgmma_wait(0, [s_token])
    release(k_ring, ki)
    if CAUSAL:
        s = _hide_future(s)
    elif RAGGED:
        s = _hide_beyond(s, keys)
    p, _, m, l = _softmax(s, m, l, scale_log2, dtype)
    return p, m, l


@gluon.jit
def _half_step(q, k_ring, ki, l, scale_log2, like, dtype: gl.constexpr):
    """A first step for the front half of a block; for the other keys p is 0. Layouts are those of `like`."""
    ROWS: gl.constexpr = like.shape[0]
    HALF: gl.constexpr = like.shape[1] // 2
    layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, HALF, 16])
    m = gl.full([ROWS], -float("inf"), gl.float32, gl.SliceLayout(1, layout))
    k = tile_in(k_ring, ki).slice(0, HALF, dim=0)
    s_token = start(q, k, gl.zeros([ROWS, HALF], gl.float32, layout))
    s = wgmma_wait(0, [s_token])
    release(k_ring, ki)
    p, _, m, l = _softmax(_hide_future(s), m, l, scale_log2, gl.float32)
    # p * 0: if ptxas sees constant zeros here it lets the loop's products run one after the other.
    p = gl.reshape(gl.permute(gl.join(p, p * 0), (0, 2, 1)), like.shape)
    p = gl.convert_layout(p, like.type.layout).to(dtype)
    return p, gl.convert_layout(m, gl.SliceLayout(1, like.type.layout)), l


@gluon.jit
def _write_logsumexp(L, row, m, l, scale_log2, N_q):
    """Store m + log l in powers of e, and return l for each row."""
    total = gl.convert_layout(gl.sum(l, 1), m.type.layout)
    i = row + gl.arange(0, m.shape[0], m.type.layout)
    LN_2: gl.constexpr = 0.6931471805599453
    gl.store(L + i, (m * scale_log2 + gl.log2(total)) * LN_2, mask=(i >= 0) & (i < N_q))
    return total


@gluon.constexpr_function
def _in_sectors(D):
    """A layout of (64, D) in which four threads hold 16 columns of a row: 32 bytes, what memory takes whole.

    After a matrix product they hold 8, two each. Getting from there to here trades one bit of a column's
    number between threads and registers, which is cheap: shuffles, and no shared memory.
    """
    further = [[0, 2**bit] for bit in range(4, D.bit_length() - 1)]
    return gl.DistributedLinearLayout(
        reg_bases=[[0, 1], [0, 2], [8, 0], *further],
        lane_bases=[[0, 8], [0, 4], [1, 0], [2, 0], [4, 0]],
        warp_bases=[[16, 0], [32, 0]],
        block_bases=[],
        shape=[64, D],
    )


@gluon.jit
def _write_output(task, batch, head, row, o):
    """Store the rows of o from row 0 to N_q, from the registers. So Q's slot is free once Q is done with."""
    D: gl.constexpr = o.shape[1]
    layout: gl.constexpr = _in_sectors(D)
    i = row + gl.arange(0, o.shape[0], gl.SliceLayout(1, layout))
    O = task.O + (batch.to(gl.int64) * task.o_batch + head.to(gl.int64) * task.o_head) * 8
    places = (i.to(gl.int64) * task.o_row * 8)[:, None] + gl.arange(0, D, gl.SliceLayout(0, layout))[None, :]
    sectors = gl.convert_layout(o.to(task.O.dtype.element_ty), layout)
    gl.store(O + places, sectors, mask=((i >= 0) & (i < task.N_q))[:, None])


@gluon.jit
def consume(
    rings, task,
    CONSUMERS: gl.constexpr, CAUSAL: gl.constexpr, RAGGED: gl.constexpr, Q_IN_REGISTERS: gl.constexpr,
    W: gl.constexpr,
):  # fmt: skip
    ROWS: gl.constexpr = rings.q.slots.shape[3]
    D: gl.constexpr = rings.q.slots.shape[4]
    BLOCK: gl.constexpr = rings.k.slots.shape[3]
    Q_SETS: gl.constexpr = rings.q.slots.shape[0] // CONSUMERS
    HALF: gl.constexpr = CAUSAL and BLOCK == 2 * ROWS
    dtype: gl.constexpr = task.O.dtype.element_ty
    # Registers of a matrix product: version 3 is the warpgroup's, 16 rows a warp.
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK, 16])
    o_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    l_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 8, 16])
    p_layout: gl.constexpr = gl.DotOperandLayout(0, o_layout, 2)
    s_rows: gl.constexpr = gl.SliceLayout(1, s_layout)
    o_rows: gl.constexpr = gl.SliceLayout(1, o_layout)
    zero = gl.zeros([ROWS, BLOCK], gl.float32, s_layout)
    N_q = task.N_q
    N_k = task.N_k
    shift = N_k - N_q
    scale_log2 = task.scale_log2
    ki = 0
    k_phase = 0
    vi = 0
    v_phase = 0
    turn = 0
    tile = read(rings.box, turn)
    while tile >= 0:
        batch, head, t = parts(tile)
        row = (t * CONSUMERS + W) * ROWS - task.lead
        # The tile's blocks, and how many of them these rows look at.
        n_tile = blocks_seen(row + (CONSUMERS - W) * ROWS, shift, N_k, BLOCK, CAUSAL)
        n = gl.where(row < N_q, blocks_seen(row + ROWS, shift, N_k, BLOCK, CAUSAL), 0)
        qi = turn % Q_SETS * CONSUMERS + W
        await_full(rings.q, qi, turn // Q_SETS & 1)
        q = tile_in(rings.q, qi)
        if Q_IN_REGISTERS:
            q = q.load(gl.DotOperandLayout(0, s_layout, 2))
            release(rings.q, qi)
        for _ in range(n, n_tile):  # for the other consumers only
            await_full(rings.k, ki, k_phase)
            release(rings.k, ki)
            await_full(rings.v, vi, v_phase)
            release(rings.v, vi)
            ki, k_phase = after(rings.k.slots, ki, k_phase)
            vi, v_phase = after(rings.v.slots, vi, v_phase)

        m = gl.full([ROWS], -float("inf"), gl.float32, s_rows)
        l = gl.zeros([ROWS, 8], gl.float32, l_layout)
        o = gl.zeros([ROWS, D], gl.float32, o_layout)
        L_head = task.L + (batch * task.heads + head).to(gl.int64) * N_q
        if n > 0:
            await_full(rings.k, ki, k_phase)
            # Where the diagonal ends in the middle of a block of 128, only its front half is computed: 5-8 %
            # at N = 512. Of two consumers that is the first one's block; of three, now one's, now another's.
            half = HALF and W % 2 == 0
            if HALF and CONSUMERS % 2 == 1:
                half = (row + shift) // ROWS % 2 == 0
            if half:
                p, m, l = _half_step(q, rings.k, ki, l, scale_log2, zero, dtype)
            else:
                p, m, l = _first_step(
                    q, rings.k, ki, N_k - (n - 1) * BLOCK, m, l, scale_log2, zero, dtype, CAUSAL, RAGGED
                )
            ki, k_phase = after(rings.k.slots, ki, k_phase)

            for _ in range(1, n):
                p_operand = gl.convert_layout(p, p_layout)  # moves nothing: they lie as an operand has to
                await_full(rings.k, ki, k_phase)
                s_token = start(q, tile_in(rings.k, ki), zero)
                await_full(rings.v, vi, v_phase)
                o_token = wgmma(p_operand, tile_in(rings.v, vi), o, is_async=True)
                s = wgmma_wait(1, [s_token])  # the older of the two
                release(rings.k, ki)
                ki, k_phase = after(rings.k.slots, ki, k_phase)
                p, alpha, m, l = _softmax(s, m, l, scale_log2, dtype)
                # ptxas sinks the exponentials below this wait. Holding them above it, by waiting for the next
                # V in between, cost 2-8 % from N = 2048 on: other consumers' products run beside them anyway.
                o = wgmma_wait(0, [o_token])
                release(rings.v, vi)
                vi, v_phase = after(rings.v.slots, vi, v_phase)
                o = gl.convert_layout(alpha, o_rows)[:, None] * o

            if not Q_IN_REGISTERS:
                release(rings.q, qi)  # the next tile's Q travels while this one ends
            await_full(rings.v, vi, v_phase)
            o_token = wgmma(gl.convert_layout(p, p_layout), tile_in(rings.v, vi), o, is_async=True)
            total = _write_logsumexp(L_head, row, m, l, scale_log2, N_q)
            o = wgmma_wait(0, [o_token])
            release(rings.v, vi)
            vi, v_phase = after(rings.v.slots, vi, v_phase)
            o = o * gl.convert_layout(1.0 / total, o_rows)[:, None]
        else:
            if not Q_IN_REGISTERS:
                release(rings.q, qi)
            _write_logsumexp(L_head, row, m, l, scale_log2, N_q)
        _write_output(task, batch, head, row, o)
        turn += 1
        tile = read(rings.box, turn)
