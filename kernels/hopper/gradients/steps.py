"""A walk over query tiles: where a step's tiles lie, which queries a key block meets, what it must not see.

A walk is a ring of steps. A step brings one tile of queries: Q, dO and two numbers for each query. Its slot
also has room for what one consumer hands another. So a slot has one barrier for each thing that arrives, and
one that says that all consumers are done with the step. What is handed over needs no barrier of its own for
that: who has seen the new Q has seen that the old step was done. An arrival speaks for a whole warpgroup, as
`rings.release` explains.
"""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

from kernels.hopper.gluon_names import aggregate, gl, gluon, mbarrier, tma_load
from kernels.hopper.rings import barriers


@aggregate
class Steps:
    q: gl.shared_memory_descriptor  # (size, 1, 1, M, d)
    do: gl.shared_memory_descriptor
    statistics: gl.shared_memory_descriptor  # (size, 2 · M): L2, then Delta: see `statistics.prepare`
    handed: gl.shared_memory_descriptor  # (size, keys, M): dS or P, keys down and queries across
    q_full: gl.shared_memory_descriptor  # of the statistics too
    do_full: gl.shared_memory_descriptor
    handed_full: gl.shared_memory_descriptor
    done: gl.shared_memory_descriptor

    @gluon.constexpr_function
    def __init__(self, q, do, statistics, handed, q_full, do_full, handed_full, done):
        self.q = q
        self.do = do
        self.statistics = statistics
        self.handed = handed
        self.q_full = q_full
        self.do_full = do_full
        self.handed_full = handed_full
        self.done = done


@gluon.jit
def steps_for(q_desc, do_desc, statistics_desc, KEYS: gl.constexpr, SIZE: gl.constexpr, GIVERS: gl.constexpr):
    """A ring for two consumers, of whom so many hand something over in each step."""
    M: gl.constexpr = q_desc.block_type.shape[2]
    dtype: gl.constexpr = q_desc.dtype
    handed_layout: gl.constexpr = gl.NVMMASharedLayout.get_default_for([KEYS, M], dtype)
    return Steps(
        gl.allocate_shared_memory(dtype, [SIZE] + q_desc.block_type.shape, q_desc.layout),  # noqa: RUF005 - kernels have no *
        gl.allocate_shared_memory(dtype, [SIZE] + do_desc.block_type.shape, do_desc.layout),  # noqa: RUF005
        gl.allocate_shared_memory(gl.float32, [SIZE, 2 * M], statistics_desc.layout),
        gl.allocate_shared_memory(dtype, [SIZE, KEYS, M], handed_layout),
        barriers(SIZE, 1),
        barriers(SIZE, 1),
        barriers(SIZE, GIVERS),
        barriers(SIZE, 2),
    )


@gluon.jit
def bring(steps, at, phase, q_desc, do_desc, statistics_desc, problem, batch, head, tile):
    """Have the copy engine fetch a step. What lies outside the tensors arrives as 0."""
    M: gl.constexpr = q_desc.block_type.shape[2]
    mbarrier.wait(steps.done.index(at), phase ^ 1)
    mbarrier.expect(steps.q_full.index(at), q_desc.block_type.nbytes + statistics_desc.block_type.nbytes)
    tma_load(q_desc, [batch, head, tile * M, 0], steps.q_full.index(at), steps.q.index(at))
    entry = (batch * problem.heads + head) * problem.tiles + tile
    tma_load(statistics_desc, [entry * (2 * M)], steps.q_full.index(at), steps.statistics.index(at))
    mbarrier.expect(steps.do_full.index(at), do_desc.block_type.nbytes)
    tma_load(do_desc, [batch, head, tile * M, 0], steps.do_full.index(at), steps.do.index(at))


@gluon.jit
def keys_of_program(problem, KEYS: gl.constexpr):
    """(first key, kv_head, batch) of this program.

    Programs come in passes of eight heads, and a pass takes the first keys of all its heads first: under a
    causal mask those have most to do. 4 % at N = 4096, over one head after another.
    """
    blocks = gl.cdiv(problem.N_k, KEYS)
    kv_heads = problem.heads // problem.group
    all_heads = gl.num_programs(0) // blocks
    n = gl.program_id(0)
    first_head = n // (8 * blocks) * 8
    n -= first_head * blocks
    together = gl.minimum(all_heads - first_head, 8)
    block = n // together
    head = first_head + n - block * together
    return block * KEYS, head % kv_heads, head // kv_heads


@gluon.jit
def first_tile(problem, first_key, M: gl.constexpr, CAUSAL: gl.constexpr):
    """The first tile with a query that sees this key. Query i sees key j from i = j - N_k + N_q on.

    There is always one, since the last query sees every key.
    """
    tile = 0
    if CAUSAL:
        # So the minimum changes nothing, but with that said fewer registers spill.
        tile = gl.minimum(gl.maximum(first_key + problem.N_q - problem.N_k, 0) // M, problem.tiles)
    return tile


@gluon.jit
def hide(p, first_key, first_query, problem, CAUSAL: gl.constexpr, RAGGED: gl.constexpr):
    """p, keys down and queries across, with 0 where the query does not see the key or there is no key.

    Most tiles are seen in full, and are let through as they are.
    """
    KEYS: gl.constexpr = p.shape[0]
    if CAUSAL or RAGGED:
        shift = problem.N_k - problem.N_q
        cut = first_key + KEYS > problem.N_k
        if CAUSAL:
            cut = cut | (first_key + KEYS - 1 > first_query + shift)
        if cut:
            j = first_key + gl.arange(0, KEYS, gl.SliceLayout(1, p.type.layout))
            seen = (j < problem.N_k)[:, None]
            if CAUSAL:
                i = first_query + gl.arange(0, p.shape[1], gl.SliceLayout(0, p.type.layout))
                seen = seen & (j[:, None] <= (i + shift)[None, :])
            p = gl.where(seen, p, 0.0)
    return p
