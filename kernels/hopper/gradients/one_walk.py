"""All three gradients in one walk, for head dimensions 64 and 128.

A program keeps 128 keys and walks over the queries that see them. Two consumers own 64 of the keys each, and
hold everything with keys down and queries across, so that P and dS leave one product as the next one wants
them, in registers. A step brings one part of 64 queries at d = 128, two at d = 64. Where L2 is the logsumexp
in powers of two and Delta = rowsum(dO ∘ O), a step is:

    start  Sᵀ  = K Qᵀ
    start  dPᵀ = V dOᵀ
    for each part:
        wait for S;   Pᵀ = exp2(scale_log2 · Sᵀ - L2)
        start         the next part's S
        wait for dP;  dSᵀ = Pᵀ ∘ (dPᵀ - Delta)
        start         the next part's dP
        start         dV += Pᵀ dO
        hand          dSᵀ to the other consumer, through shared memory
        start         dK += dSᵀ Q
    wait for the other's dS
    start  dQ  = dS K                                    over all 128 keys; each consumer does half of it
    wait for all;  add dQ to its sum in memory

In two parts at d = 64, since one part's products run beside the other's exponentials, and S and dP of 64
queries leave registers for that: 8 to 20 % over one part of 128 queries.

Five products, where two walks need seven. In return the programs of a head add to the same dQ, in whatever
order they come: its last bits can differ from run to run, those of dK and dV cannot. Sums are in float32.
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
from kernels.hopper.gradients.steps import Steps, bring, first_tile, hide, keys_of_program, steps_for
from kernels.hopper.products import start
from kernels.hopper.rings import Ring, after, await_full, fill, ring_for, tile_in


@aggregate
class Walk:
    steps: Steps
    k: Ring  # one tile of 128 keys: dQ sums over all of them
    v: Ring  # one of 64 for each consumer, through which its gradients leave
    sums: gl.tensor  # pointer to those of dQ, in the order of `add`

    @gluon.constexpr_function
    def __init__(self, steps, k, v, sums):
        self.steps = steps
        self.k = k
        self.v = v
        self.sums = sums


@gluon.jit
def _produce(walk, problem, q_desc, do_desc, statistics_desc, k_desc, v_desc, CAUSAL: gl.constexpr):
    M: gl.constexpr = q_desc.block_type.shape[2]
    BLOCK: gl.constexpr = k_desc.block_type.shape[2]
    first_key, kv_head, batch = keys_of_program(problem, BLOCK)
    fill(walk.k, 0, 0, k_desc, batch, kv_head, first_key)
    first = first_tile(problem, first_key, M, CAUSAL)
    at = 0
    phase = 0
    for w in static_range(2):
        fill(walk.v, w, 0, v_desc, batch, kv_head, first_key + w * BLOCK // 2)
    for member in range(problem.group):
        for tile in range(first, problem.tiles):
            head = kv_head * problem.group + member
            bring(walk.steps, at, phase, q_desc, do_desc, statistics_desc, problem, batch, head, tile)
            at, phase = after(walk.steps.q, at, phase)


@gluon.jit
def add(sums, dq):
    """Add a (64, 64) tile to its sum.

    A sum lies as a warpgroup's registers hold it, so that each thread adds four neighbours at a time and a
    warp 512 bytes in a row. `statistics.put_in_order` puts the rows back in order.
    """
    x = gl.reshape(dq, [4, 2, 8, 8, 4, 2])  # warp, half of its rows, row; eight columns, two of them, column
    x = gl.reshape(gl.permute(x, (3, 0, 2, 4, 1, 5)), [dq.shape[0] * dq.shape[1]])
    gl.atomic_add(sums + gl.arange(0, x.shape[0], x.type.layout), x, sem="relaxed")


@gluon.jit
def _part(rows, i: gl.constexpr):
    """Rows 64 · i to 64 · i + 63."""
    return rows.slice(i * 64, 64, dim=0)


@gluon.jit
def _consume(walk, problem, dk_desc, dv_desc, CAUSAL: gl.constexpr, RAGGED: gl.constexpr, W: gl.constexpr):
    steps = walk.steps
    M: gl.constexpr = steps.q.shape[3]
    D: gl.constexpr = steps.q.shape[4]
    PARTS: gl.constexpr = M // 64
    ROWS: gl.constexpr = dk_desc.block_type.shape[2]
    dtype: gl.constexpr = dk_desc.dtype
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, 64, 16])
    sum_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, sum_layout, 2)
    s_operand: gl.constexpr = gl.DotOperandLayout(0, s_layout, 2)
    queries: gl.constexpr = gl.SliceLayout(0, s_layout)
    block_key, kv_head, batch = keys_of_program(problem, 2 * ROWS)
    first_key = block_key + W * ROWS
    first = first_tile(problem, block_key, M, CAUSAL)
    zero = gl.zeros([ROWS, 64], gl.float32, s_layout)
    dk = gl.zeros([ROWS, D], gl.float32, sum_layout)
    dv = gl.zeros([ROWS, D], gl.float32, sum_layout)
    all_k = tile_in(walk.k, 0)
    k = _part(all_k, W)
    own_v = tile_in(walk.v, W)
    v = own_v
    at = 0
    phase = 0
    await_full(walk.k, 0, 0)
    await_full(walk.v, W, 0)
    if D == 64:
        # They fit into registers: a quarter less for the tensor cores to read from shared memory, up to 5 %.
        k = k.load(s_operand)
        v = v.load(s_operand)
    for member in range(problem.group):
        entry = (batch * problem.heads + kv_head * problem.group + member) * problem.tiles
        for tile in range(first, problem.tiles):
            q = steps.q.index(at).reshape([M, D])
            do = steps.do.index(at).reshape([M, D])
            statistics = steps.statistics.index(at)
            handed = steps.handed.index(at)
            mbarrier.wait(steps.q_full.index(at), phase)
            s_token = start(k, _part(q, 0), zero)
            mbarrier.wait(steps.do_full.index(at), phase)
            dp_token = start(v, _part(do, 0), zero)
            dv_token = dv
            dk_token = dk
            # A wait says how many of the youngest products may go on. In flight, the oldest first, are
            #     S, dP, and for the second part the first one's dV and dK       where a part waits for S
            #     dP, for the second part dV and dK, for the first the next S    where it waits for dP
            for part in static_range(PARTS):
                l2 = _part(statistics, part).load(queries)
                s = wgmma_wait(1 + 2 * (part > 0), [s_token])
                p = gl.exp2(s * problem.scale_log2 - l2[None, :])
                p = hide(p, first_key, tile * M + part * 64, problem, CAUSAL, RAGGED)
                if part + 1 < PARTS:
                    s_token = start(k, _part(q, part + 1), zero)
                dp = wgmma_wait((part + 1 < PARTS) + 2 * (part > 0), [dp_token])
                delta = _part(statistics, PARTS + part).load(queries)
                ds = (p * (dp - delta[None, :])).to(dtype)
                if part + 1 < PARTS:
                    dp_token = start(v, _part(do, part + 1), zero)
                # Started only now: beside P and dP there are no registers for P once more as an operand.
                p = gl.convert_layout(p.to(dtype), operand)
                dv_token = wgmma(p, _part(do, part), dv_token, is_async=True)
                _part(handed, W).slice(part * 64, 64, dim=1).store(ds)
                if part + 1 == PARTS:
                    fence_async_shared()
                    mbarrier.arrive(steps.handed_full.index(at), count=1)
                dk_token = wgmma(gl.convert_layout(ds, operand), _part(q, part), dk_token, is_async=True)
            mbarrier.wait(steps.handed_full.index(at), phase)
            # Half of dQ: of its columns at d = 128, of its rows at 64.
            all_ds = handed if D == 128 else handed.slice(W * 64, 64, dim=1)
            columns = all_k.slice(W * 64, 64, dim=1) if D == 128 else all_k
            dq_token = wgmma(all_ds.permute((1, 0)), columns, zero, use_acc=False, is_async=True)
            dv, dk, dq = wgmma_wait(0, [dv_token, dk_token, dq_token])
            mbarrier.arrive(steps.done.index(at), count=1)
            add(walk.sums + ((entry + tile).to(gl.int64) * (M * D) + W * 64 * 64), dq)
            at, phase = after(steps.q, at, phase)

    # The consumer alone reads its part of V, and is done with it.
    own_v.store(dv.to(dtype))
    fence_async_shared()
    tma_store(dv_desc, [batch, kv_head, first_key, 0], walk.v.slots.index(W))
    tma_store_wait(0)
    own_v.store((dk * problem.scale).to(dtype))
    fence_async_shared()
    tma_store(dk_desc, [batch, kv_head, first_key, 0], walk.v.slots.index(W))
    tma_store_wait(0)


@gluon.jit(do_not_specialize=["heads", "group", "tiles", "N_q", "N_k"])
def one_walk(
    q_desc, do_desc, statistics_desc, k_desc, v_desc, dk_desc, dv_desc, sums,
    heads, group, tiles, N_q, N_k, scale, scale_log2,
    CAUSAL: gl.constexpr, RAGGED: gl.constexpr, STEPS: gl.constexpr,
):  # fmt: skip
    BLOCK: gl.constexpr = k_desc.block_type.shape[2]
    steps = steps_for(q_desc, do_desc, statistics_desc, BLOCK, STEPS, 2)
    walk = Walk(steps, ring_for(k_desc, 1, 2), ring_for(v_desc, 2, 1), sums)
    fence_async_shared()
    problem = Problem(heads, group, tiles, N_q, N_k, scale, scale_log2)
    # After the roles come warps, and registers a thread, of all but the first: it has the kernel's own warps.
    gl.warp_specialize(
        [
            (_consume, (walk, problem, dk_desc, dv_desc, CAUSAL, RAGGED, 0)),
            (_consume, (walk, problem, dk_desc, dv_desc, CAUSAL, RAGGED, 1)),
            (_produce, (walk, problem, q_desc, do_desc, statistics_desc, k_desc, v_desc, CAUSAL)),
        ],
        [4, 1],
        [240, 24],
    )
