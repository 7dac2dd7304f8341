"""The producer: one warp that draws tiles and has the copy engine load Q, K and V for the consumers.

It runs ahead of them as far as the rings have room, across the border of a tile too: the next tile's first
loads travel while the last products of this one are computed. With one program a tile instead, d = 128 and
N = 512 gave 440 TFLOP/s, not 550.
"""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

from kernels.hopper.gluon_names import gl, gluon, static_range
from kernels.hopper.rings import after, fill
from kernels.hopper.tiles import blocks_seen, draw, finish, parts, post


@gluon.jit
def produce(
    rings, task, q_desc, k_desc, v_desc, order, CONSUMERS: gl.constexpr, CAUSAL: gl.constexpr
):  # fmt: skip
    ROWS: gl.constexpr = q_desc.block_type.shape[2]
    BLOCK: gl.constexpr = k_desc.block_type.shape[2]
    Q_SETS: gl.constexpr = rings.q.slots.shape[0] // CONSUMERS
    TOP: gl.constexpr = 4 if CONSUMERS == 4 else 2
    ki = 0
    k_phase = 0
    vi = 0
    v_phase = 0
    turn = 0
    tile = post(order, rings.box, turn, gl.program_id(0))
    while tile >= 0:
        batch, head, t = parts(tile)
        row = (t * CONSUMERS) * ROWS - task.lead
        kv_head = head // task.group  # a run of `group` query heads shares one head of K and V
        n = blocks_seen(row + CONSUMERS * ROWS, task.N_k - task.N_q, task.N_k, BLOCK, CAUSAL)
        # In the order in which the consumers ask for them: K is a block ahead of V.
        if n > 0:
            fill(rings.k, ki, k_phase, k_desc, batch, kv_head, (n - 1) * BLOCK)
            ki, k_phase = after(rings.k.slots, ki, k_phase)
        for w in static_range(CONSUMERS):
            slot = turn % Q_SETS * CONSUMERS + w
            fill(rings.q, slot, turn // Q_SETS & 1, q_desc, batch, head, row + w * ROWS)
        for j in range(1, n):
            fill(rings.k, ki, k_phase, k_desc, batch, kv_head, _row_of(j, n, TOP, BLOCK))
            ki, k_phase = after(rings.k.slots, ki, k_phase)
            fill(rings.v, vi, v_phase, v_desc, batch, kv_head, _row_of(j - 1, n, TOP, BLOCK))
            vi, v_phase = after(rings.v.slots, vi, v_phase)
        if n > 0:
            fill(rings.v, vi, v_phase, v_desc, batch, kv_head, _row_of(n - 1, n, TOP, BLOCK))
            vi, v_phase = after(rings.v.slots, vi, v_phase)
        turn += 1
        tile = post(order, rings.box, turn, draw(order))
    finish(order)


@gluon.jit
def _row_of(j, n, TOP: gl.constexpr, BLOCK: gl.constexpr):
    """Where the j-th of n key blocks starts.

    The last TOP come first: they hold the diagonal of every consumer, and what needs a mask comes before the
    loop. Then from the front, so that programs on one head read the same block at about the same time: 2-4 %
    in causal attention from N = 4096. (Two at the top where one would do, at d = 128: 1 %.)
    """
    return gl.where(j < TOP, n - 1 - j, j - TOP) * BLOCK
