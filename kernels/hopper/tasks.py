"""What every role is handed: where they meet, and the numbers of the problem."""

# ruff: noqa: E741 - O is what the papers call it

from kernels.hopper.gluon_names import aggregate, gl, gluon
from kernels.hopper.rings import Ring


@aggregate
class Rings:
    q: Ring
    k: Ring
    v: Ring
    box: Ring

    @gluon.constexpr_function
    def __init__(self, q, k, v, box):
        self.q = q
        self.k = k
        self.v = v
        self.box = box


@aggregate
class Task:
    O: gl.tensor  # pointer to the output
    o_batch: gl.tensor  # eights of elements from one batch entry, head and row of it to the next
    o_head: gl.tensor
    o_row: gl.tensor
    L: gl.tensor  # pointer to the logsumexp, (batch, heads, N_q)
    heads: gl.tensor
    group: gl.tensor  # query heads in a row that share a head of K and V
    scale_log2: gl.tensor  # scale · log2(e): chips have exp2 only
    N_q: gl.tensor
    N_k: gl.tensor
    lead: gl.tensor  # see tiles.py

    @gluon.constexpr_function
    def __init__(self, O, o_batch, o_head, o_row, L, heads, group, scale_log2, N_q, N_k, lead):
        self.O = O
        self.o_batch = o_batch
        self.o_head = o_head
        self.o_row = o_row
        self.L = L
        self.heads = heads
        self.group = group
        self.scale_log2 = scale_log2
        self.N_q = N_q
        self.N_k = N_k
        self.lead = lead
