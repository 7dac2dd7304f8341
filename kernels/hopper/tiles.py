"""Which tile comes next, and which keys it sees.

There is one program a multiprocessor, and each works through many tiles. A tile is TILE_M query rows of one
head, 64 for each consumer. Rows are counted so that the causal diagonal meets the key blocks at a corner:

    tile t has the rows  t · TILE_M - lead, …,  lead = (N_k - N_q) mod TILE_M

Query i sees the keys up to i + N_k - N_q. With that lead, only the last key block of 64 rows needs a mask,
and of 64 rows either all see a key or none does, so no softmax step meets a row that has seen nothing. Rows
before 0 are read as zeros and not written. Without a causal mask, or with N_q = N_k, lead is 0.
"""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

from kernels.hopper.gluon_names import aggregate, gl, gluon, mbarrier
from kernels.hopper.rings import Ring, barriers, release


@aggregate
class Order:
    """Passes of `together` heads each. A pass takes the last tiles of all its heads, then those before them.

    The last tiles are the longest if causal, so the programs finish a pass evenly. Heads that fit into the L2
    cache together share it; with all heads in one pass K and V would be read from memory again and again.
    """

    tiles: gl.tensor  # a head
    heads: gl.tensor  # a batch entry
    all_heads: gl.tensor  # heads · batch
    together: gl.tensor
    counters: gl.tensor  # pointer to two: tiles drawn, programs that have finished

    @gluon.constexpr_function
    def __init__(self, tiles, heads, all_heads, together, counters):
        self.tiles = tiles
        self.heads = heads
        self.all_heads = all_heads
        self.together = together
        self.counters = counters


@gluon.jit
def draw(order):
    """The number of the next tile, from a counter that all programs share: who is free takes the next.

    A program's first tile has its own number, which saves it a journey to memory.
    """
    return gl.num_programs(0) + gl.atomic_add(order.counters, 1, sem="relaxed")


@gluon.jit
def finish(order):
    """The last program to finish leaves both counters at 0, as it found them."""
    if gl.atomic_add(order.counters + 1, 1) == gl.num_programs(0) - 1:
        gl.store(order.counters, 0)
        gl.store(order.counters + 1, 0)


@gluon.jit
def _located(order, number):
    """(batch, head, tile) in 16, 16 and 32 bits of one integer; -1 after the last tile."""
    last = order.all_heads * order.tiles - 1
    n = gl.minimum(number, last).to(gl.uint32)  # divisions without a sign are cheaper
    tiles = order.tiles.to(gl.uint32)
    heads = order.heads.to(gl.uint32)
    together = order.together.to(gl.uint32)
    first = n // (together * tiles) * together
    n -= first * tiles
    together = gl.minimum(together, order.all_heads.to(gl.uint32) - first)  # the last pass may be smaller
    before = n // together
    head = first + n - before * together
    batch = head // heads
    place = (batch.to(gl.int64) << 48) + ((head - batch * heads).to(gl.int64) << 32)
    return gl.where(number > last, -1, place + (tiles - 1 - before).to(gl.int64))


@gluon.jit
def parts(tile):
    """(batch, head, tile)"""
    return (tile >> 48).to(gl.int32), (tile >> 32).to(gl.int32) & 0xFFFF, tile.to(gl.int32)


@gluon.jit
def mailbox(READERS: gl.constexpr):
    """A ring of two slots, in which the producer tells the consumers the tile of each turn."""
    slots = gl.allocate_shared_memory(gl.int64, [2, 1], gl.SwizzledSharedLayout(1, 1, 1, [0]))
    return Ring(slots, barriers(2, 1), barriers(2, READERS))


@gluon.jit
def post(order, box, turn, number):
    """Tell the consumers. Run by the producer's one warp."""
    tile = _located(order, number)
    mbarrier.wait(box.empty.index(turn & 1), ((turn >> 1) & 1) ^ 1)
    box.slots.index(turn & 1).store(gl.full([1], tile, gl.int64, gl.BlockedLayout([1], [32], [1], [0])))
    mbarrier.arrive(box.full.index(turn & 1), count=1)
    return tile


@gluon.jit
def read(box, turn):
    """The tile of this turn. Run by each consumer."""
    mbarrier.wait(box.full.index(turn & 1), (turn >> 1) & 1)
    tile = gl.max(box.slots.index(turn & 1).load(gl.BlockedLayout([1], [32], [4], [0])), 0)
    release(box, turn & 1)
    return tile


@gluon.jit
def blocks_seen(stop, shift, N_k, BLOCK: gl.constexpr, CAUSAL: gl.constexpr):
    """How many key blocks the query rows before `stop` see; shift = N_k - N_q."""
    keys = N_k
    if CAUSAL:
        keys = gl.maximum(gl.minimum(stop + shift, N_k), 0)
    return gl.cdiv(keys, BLOCK)
