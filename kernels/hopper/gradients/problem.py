"""The numbers of the problem, as every role gets them."""

from kernels.hopper.gluon_names import aggregate, gl, gluon


@aggregate
class Problem:
    heads: gl.tensor  # query heads a batch entry
    group: gl.tensor  # query heads in a row that share a head of K and V
    tiles: gl.tensor  # of M queries, a head
    N_q: gl.tensor
    N_k: gl.tensor
    scale: gl.tensor
    scale_log2: gl.tensor  # scale · log2(e): chips have exp2 only

    @gluon.constexpr_function
    def __init__(self, heads, group, tiles, N_q, N_k, scale, scale_log2):
        self.heads = heads
        self.group = group
        self.tiles = tiles
        self.N_q = N_q
        self.N_k = N_k
        self.scale = scale
        self.scale_log2 = scale_log2
