"""dK and dV in a walk of their own, for head dimension 256: together they would take 256 registers a thread.

A program keeps 64 keys and walks over the queries. One consumer sums dV and the other dK, each 64 × 256
numbers, and each computes one of the two tiles that take part in a step:

    sums dV:   Sᵀ  = K Qᵀ,   Pᵀ  = exp2(scale_log2 · Sᵀ - L2), handed over;    dV += Pᵀ dO
    sums dK:   dPᵀ = V dOᵀ,  dSᵀ = Pᵀ ∘ (dPᵀ - Delta);                         dK += dSᵀ Q

where L2 is the logsumexp in powers of two and Delta = rowsum(dO ∘ O). P is handed over in 16 bits, so here dS
is made of the rounded P.

The product that feeds a sum is started one step late, behind the next scores, so that the exponentials run
beside it. The first one multiplies zeros.
"""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

from kernels.hopper.gluon_names import (
    aggregate,
    fence_async_shared,
    gl,
    gluon,
    mbarrier,
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
    steps: Steps  # P is handed over
    k: Ring  # of one tile, through which a gradient leaves at the end
    v: Ring

    @gluon.constexpr_function
    def __init__(self, steps, k, v):
        self.steps = steps
        self.k = k
        self.v = v


@gluon.jit
def _produce(walk, problem, q_desc, do_desc, statistics_desc, k_desc, v_desc, CAUSAL: gl.constexpr):
    M: gl.constexpr = q_desc.block_type.shape[2]
    KEYS: gl.constexpr = k_desc.block_type.shape[2]
    first_key, kv_head, batch = keys_of_program(problem, KEYS)
    fill(walk.k, 0, 0, k_desc, batch, kv_head, first_key)
    fill(walk.v, 0, 0, v_desc, batch, kv_head, first_key)
    at = 0
    phase = 0
    for member in range(problem.group):
        head = kv_head * problem.group + member
        for tile in range(first_tile(problem, first_key, M, CAUSAL), problem.tiles):
            bring(walk.steps, at, phase, q_desc, do_desc, statistics_desc, problem, batch, head, tile)
            at, phase = after(walk.steps.q, at, phase)


@gluon.jit
def _sum_dv(walk, problem, dv_desc, CAUSAL: gl.constexpr, RAGGED: gl.constexpr):
    steps = walk.steps
    M: gl.constexpr = steps.q.shape[3]
    D: gl.constexpr = steps.q.shape[4]
    KEYS: gl.constexpr = walk.k.slots.shape[3]
    dtype: gl.constexpr = dv_desc.dtype
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, M, 16])
    sum_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, sum_layout, 2)
    first_key, kv_head, batch = keys_of_program(problem, KEYS)
    first = first_tile(problem, first_key, M, CAUSAL)
    zero = gl.zeros([KEYS, M], gl.float32, s_layout)
    p = gl.zeros([KEYS, M], dtype, s_layout)
    dv = gl.zeros([KEYS, D], gl.float32, sum_layout)
    k = tile_in(walk.k, 0)
    at = 0
    phase = 0
    before = 0
    await_full(walk.k, 0, 0)
    mbarrier.wait(steps.do_full.index(0), 0)
    for member in range(problem.group):
        for tile in range(first, problem.tiles):
            mbarrier.wait(steps.q_full.index(at), phase)
            q = steps.q.index(at).reshape([M, D])
            s_token = start(k, q, zero)
            do = steps.do.index(before).reshape([M, D])
            dv_token = wgmma(gl.convert_layout(p, operand), do, dv, is_async=True)
            l2 = steps.statistics.index(at).slice(0, M).load(gl.SliceLayout(0, s_layout))
            s = wgmma_wait(1, [s_token])
            p = gl.exp2(s * problem.scale_log2 - l2[None, :])
            p = hide(p, first_key, tile * M, problem, CAUSAL, RAGGED).to(dtype)
            steps.handed.index(at).store(p)  # for threads to load, so no fence is needed
            mbarrier.arrive(steps.handed_full.index(at), count=1)
            dv = wgmma_wait(0, [dv_token])
            mbarrier.arrive(steps.done.index(before), count=1, pred=(member > 0) | (tile > first))
            mbarrier.wait(steps.do_full.index(at), phase)
            before = at
            at, phase = after(steps.q, at, phase)
    do = steps.do.index(before).reshape([M, D])
    dv_token = wgmma(gl.convert_layout(p, operand), do, dv, is_async=True)
    dv = wgmma_wait(0, [dv_token])
    k.store(dv.to(dtype))
    fence_async_shared()
    tma_store(dv_desc, [batch, kv_head, first_key, 0], walk.k.slots.index(0))
    tma_store_wait(0)


@gluon.jit
def _sum_dk(walk, problem, dk_desc, CAUSAL: gl.constexpr):
    steps = walk.steps
    M: gl.constexpr = steps.q.shape[3]
    D: gl.constexpr = steps.q.shape[4]
    KEYS: gl.constexpr = walk.k.slots.shape[3]
    dtype: gl.constexpr = dk_desc.dtype
    s_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, M, 16])
    sum_layout: gl.constexpr = gl.NVMMADistributedLayout([3, 0], [4, 1], [16, D, 16])
    operand: gl.constexpr = gl.DotOperandLayout(0, sum_layout, 2)
    first_key, kv_head, batch = keys_of_program(problem, KEYS)
    first = first_tile(problem, first_key, M, CAUSAL)
    zero = gl.zeros([KEYS, M], gl.float32, s_layout)
    ds = gl.zeros([KEYS, M], dtype, s_layout)
    dk = gl.zeros([KEYS, D], gl.float32, sum_layout)
    v = tile_in(walk.v, 0)
    at = 0
    phase = 0
    before = 0
    await_full(walk.v, 0, 0)
    mbarrier.wait(steps.q_full.index(0), 0)
    for member in range(problem.group):
        for tile in range(first, problem.tiles):
            mbarrier.wait(steps.do_full.index(at), phase)
            do = steps.do.index(at).reshape([M, D])
            dp_token = start(v, do, zero)
            q = steps.q.index(before).reshape([M, D])
            dk_token = wgmma(gl.convert_layout(ds, operand), q, dk, is_async=True)
            mbarrier.wait(steps.q_full.index(at), phase)
            delta = steps.statistics.index(at).slice(M, M).load(gl.SliceLayout(0, s_layout))
            dp = wgmma_wait(1, [dp_token])
            mbarrier.wait(steps.handed_full.index(at), phase)
            p = steps.handed.index(at).load(s_layout)
            ds = (p.to(gl.float32) * (dp - delta[None, :])).to(dtype)
            dk = wgmma_wait(0, [dk_token])
            mbarrier.arrive(steps.done.index(before), count=1, pred=(member > 0) | (tile > first))
            before = at
            at, phase = after(steps.q, at, phase)
    q = steps.q.index(before).reshape([M, D])
    dk_token = wgmma(gl.convert_layout(ds, operand), q, dk, is_async=True)
    dk = wgmma_wait(0, [dk_token])
    v.store((dk * problem.scale).to(dtype))
    fence_async_shared()
    tma_store(dk_desc, [batch, kv_head, first_key, 0], walk.v.slots.index(0))
    tma_store_wait(0)


@gluon.jit(do_not_specialize=["heads", "group", "tiles", "N_q", "N_k"])
def keys_walk(
    q_desc, do_desc, statistics_desc, k_desc, v_desc, dk_desc, dv_desc,
    heads, group, tiles, N_q, N_k, scale, scale_log2,
    CAUSAL: gl.constexpr, RAGGED: gl.constexpr, STEPS: gl.constexpr,
):  # fmt: skip
    KEYS: gl.constexpr = k_desc.block_type.shape[2]
    steps = steps_for(q_desc, do_desc, statistics_desc, KEYS, STEPS, 1)
    walk = Walk(steps, ring_for(k_desc, 1, 1), ring_for(v_desc, 1, 1))
    fence_async_shared()
    problem = Problem(heads, group, tiles, N_q, N_k, scale, scale_log2)
    gl.warp_specialize(
        [
            (_sum_dv, (walk, problem, dv_desc, CAUSAL, RAGGED)),
            (_sum_dk, (walk, problem, dk_desc, CAUSAL)),
            (_produce, (walk, problem, q_desc, do_desc, statistics_desc, k_desc, v_desc, CAUSAL)),
        ],
        [4, 1],
        [240, 24],
    )
