"""dQ in a walk of its own, for head dimension 256: the walk of the forward pass.

A program keeps 128 queries, 64 for each of two consumers, and walks over the keys. In a step a consumer
computes S, P, dP and dS for itself, and dQ += dS K. That last product is started one step late, behind the
next scores, so that the exponentials run beside it. The first one multiplies zeros.
"""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

from kernels.hopper.gluon_names import (
    aggregate,
    fence_async_shared,
    gl,
    gluon,
    mbarrier,
    static_range,
    tma_store,
    tma_store_wait,
    wgmma,
    wgmma_wait,
)
from kernels.hopper.gradients.problem import Problem
from kernels.hopper.products import start
from kernels.hopper.rings import Ring, after, await_full, fill, release, ring_for, tile_in


@aggregate
class Walk:
    q: Ring  # one tile for each consumer, through which its gradient leaves at the end
    do: Ring
    k: Ring
    v: Ring
    statistics: gl.tensor  # pointer to L in powers of two and Delta, as `statistics.prepare` writes them

    @gluon.constexpr_function
    def __init__(self, q, do, k, v, statistics):
        self.q = q
        self.do = do
        self.k = k
        self.v = v
        self.statistics = statistics


@gluon.jit
def _rows_of_program(problem, ROWS: gl.constexpr, BLOCK: gl.constexpr, CAUSAL: gl.constexpr):
    """This program's first query and how many key blocks its queries see; the longest programs come first."""
    first = (gl.num_programs(0) - 1 - gl.program_id(0)) * (2 * ROWS)
    keys = problem.N_k
    if CAUSAL:
        keys = gl.maximum(gl.minimum(first + 2 * ROWS + problem.N_k - problem.N_q, keys), 0)
    return first, gl.cdiv(keys, BLOCK)


@gluon.jit
def _produce(walk, problem, q_desc, do_desc, k_desc, v_desc, CAUSAL: gl.constexpr):
    ROWS: gl.constexpr = q_desc.block_type.shape[2]
    BLOCK: gl.constexpr = k_desc.block_type.shape[2]
    first, blocks = _rows_of_program(problem, ROWS, BLOCK, CAUSAL)
    head = gl.program_id(1)
    batch = gl.program_id(2)
    kv_head = head // problem.group
    for w in static_range(2):
        fill(walk.q, w, 0, q_desc, batch, head, first + w * ROWS)
        fill(walk.do, w, 0, do_desc, batch, head, first + w * ROWS)
    ki = 0
    k_phase = 0
    vi = 0
    v_phase = 0
    for block in range(blocks):
        fill(walk.k, ki, k_phase, k_desc, batch, kv_head, block * BLOCK)
        fill(walk.v, vi, v_phase, v_desc, batch, kv_head, block * BLOCK)
        ki, k_phase = after(walk.k.slots, ki, k_phase)
        vi, v_phase = after(walk.v.slots, vi, v_phase)


@gluon.jit
def _sum_dq(walk, problem, dq_desc, CAUSAL: gl.constexpr, RAGGED: gl.constexpr, W: gl.constexpr):
    ROWS: gl.constexpr = walk.q.slots.shape[3]
    D: gl.constexpr = walk.q.slots.shape[4]
    BLOCK: gl.constexpr = walk.k.slots.shape[3]
    dtype: gl.constexpr = dq_desc.dtype
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, BLOCK, 16])
    sum_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, sum_layout, 2)
    head = gl.program_id(1)
    batch = gl.program_id(2)
    first, blocks = _rows_of_program(problem, ROWS, BLOCK, CAUSAL)
    first += W * ROWS
    i = first + gl.arange(0, ROWS, gl.SliceLayout(1, s_layout))
    entry = (batch * problem.heads + head) * problem.tiles + first // ROWS
    statistics = walk.statistics + entry.to(gl.int64) * (2 * ROWS) + (i - first)
    l2 = gl.load(statistics, mask=i < problem.N_q, other=float("inf"))
    delta = gl.load(statistics + ROWS, mask=i < problem.N_q, other=0.0)
    shift = problem.N_k - problem.N_q
    zero = gl.zeros([ROWS, BLOCK], gl.float32, s_layout)
    ds = gl.zeros([ROWS, BLOCK], dtype, s_layout)
    dq = gl.zeros([ROWS, D], gl.float32, sum_layout)
    ki = 0
    k_phase = 0
    vi = 0
    v_phase = 0
    before = 0
    await_full(walk.q, W, 0)
    await_full(walk.do, W, 0)
    for block in range(blocks):
        # Always W, but the compiler cannot know: it would keep sixty addresses in registers that it lacks.
        here = W + (block >> 30)
        q = tile_in(walk.q, here)
        do = tile_in(walk.do, here)
        await_full(walk.k, ki, k_phase)
        s_token = start(q, tile_in(walk.k, ki), zero)
        await_full(walk.v, vi, v_phase)
        dp_token = start(do, tile_in(walk.v, vi), zero)
        dq_token = wgmma(gl.convert_layout(ds, operand), tile_in(walk.k, before), dq, is_async=True)
        s = wgmma_wait(2, [s_token])
        p = gl.exp2(s * problem.scale_log2 - l2[:, None])
        if CAUSAL or RAGGED:
            cut = (block + 1) * BLOCK > problem.N_k
            if CAUSAL:
                cut = cut | ((block + 1) * BLOCK - 1 > first + shift)
            if cut:
                j = block * BLOCK + gl.arange(0, BLOCK, gl.SliceLayout(0, s_layout))
                seen = (j < problem.N_k)[None, :]
                if CAUSAL:
                    seen = seen & (j[None, :] <= (i + shift)[:, None])
                p = gl.where(seen, p, 0.0)
        dp = wgmma_wait(1, [dp_token])
        release(walk.v, vi)
        ds = (p * (dp - delta[:, None])).to(dtype)
        dq = wgmma_wait(0, [dq_token])
        mbarrier.arrive(walk.k.empty.index(before), count=1, pred=block > 0)
        before = ki
        ki, k_phase = after(walk.k.slots, ki, k_phase)
        vi, v_phase = after(walk.v.slots, vi, v_phase)
    dq_token = wgmma(gl.convert_layout(ds, operand), tile_in(walk.k, before), dq, is_async=True)
    dq = gl.where(blocks > 0, wgmma_wait(0, [dq_token]), 0.0)  # without a block, K was whatever lay there
    tile_in(walk.q, W).store((dq * problem.scale).to(dtype))
    fence_async_shared()
    tma_store(dq_desc, [batch, head, first, 0], walk.q.slots.index(W))
    tma_store_wait(0)


@gluon.jit(do_not_specialize=["heads", "group", "tiles", "N_q", "N_k"])
def queries_walk(
    q_desc, do_desc, k_desc, v_desc, dq_desc, statistics,
    heads, group, tiles, N_q, N_k, scale, scale_log2,
    CAUSAL: gl.constexpr, RAGGED: gl.constexpr,
):  # fmt: skip
    q = ring_for(q_desc, 2, 1)
    do = ring_for(do_desc, 2, 1)
    # What stays takes 128 KiB, so of what passes there is room for three tiles. A K is wanted twice.
    walk = Walk(q, do, ring_for(k_desc, 2, 2), ring_for(v_desc, 1, 2), statistics)
    fence_async_shared()
    problem = Problem(heads, group, tiles, N_q, N_k, scale, scale_log2)
    gl.warp_specialize(
        [
            (_sum_dq, (walk, problem, dq_desc, CAUSAL, RAGGED, 0)),
            (_sum_dq, (walk, problem, dq_desc, CAUSAL, RAGGED, 1)),
            (_produce, (walk, problem, q_desc, do_desc, k_desc, v_desc, CAUSAL)),
        ],
        [4, 1],
        [240, 24],
    )
