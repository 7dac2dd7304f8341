"""The bytes that attention asks memory for, by formula. `measure.bytes` counts them; the two agree exactly.

With e bytes an element, T_q = ⌈N_q / tile rows⌉ tiles of queries and T_k = ⌈N_k / tile columns⌉ tiles of
keys, each head asks for

    standard   e · (N_q d T_k + N_k d T_q)  +  e · 6 N_q N_k  +  e · (N_k d T_q + N_q d)
               Q and K, for S                  S and P           V and O
    tiled      e · (2 N_q d  +  2 N_k d T_q)  +  4 N_q
               Q and O once, K and V once for each tile of queries, one float32 logsumexp for each query
    floor      e · (2 N_q d  +  2 N_k d)  +  4 N_q
               everything once, which no exact implementation can avoid

Both N_q N_k and N_k d T_q are quadratic in N: tiling divides the quadratic part, it does not remove it.
A causal tile of queries reads K and V up to the tile of keys that holds its diagonal, and no further.
"""

from __future__ import annotations

from dataclasses import dataclass

from kernels.measure.ledger import Ledger

LOGSUMEXP_BYTES = 4


@dataclass(frozen=True, slots=True)
class Problem:
    """One attention: its shape, its type's bytes an element, and whether it is causal (bottom right)."""

    queries: int
    keys: int
    head_dim: int
    itemsize: int
    batch: int = 1
    heads: int = 1
    causal: bool = False


def standard(problem: Problem, *, tile_rows: int, tile_columns: int) -> Ledger:
    """Four kernels through memory, as in `four_kernels.py`. A mask saves them nothing."""
    row, scores = problem.head_dim, problem.queries * problem.keys
    q_tiles, k_tiles = _tiles(problem.queries, tile_rows), _tiles(problem.keys, tile_columns)
    read = {
        "Q": problem.queries * row * k_tiles,
        "K": problem.keys * row * q_tiles,
        "S": 2 * scores,
        "P": scores,
        "V": problem.keys * row * q_tiles,
    }
    written = {"S": 2 * scores, "P": scores, "O": problem.queries * row}
    return _ledger(problem, read, written)


def tiled(problem: Problem, *, tile_rows: int, tile_columns: int) -> Ledger:
    """FlashAttention-2's loops, as in `flash.py`: a tile of queries stays, K and V pass by."""
    rows_of_k = 0
    for first in range(0, problem.queries, tile_rows):
        stop = problem.keys
        if problem.causal:
            stop = min(stop, max(0, first + tile_rows + problem.keys - problem.queries))
        rows_of_k += min(problem.keys, _tiles(stop, tile_columns) * tile_columns)
    return _once(problem, rows_of_k)


def keys_outside(problem: Problem, *, tile_columns: int) -> Ledger:
    """FlashAttention-1's loops, as in `flash_fa1.py` without a mask: queries pass by each tile of keys."""
    q, k = problem.queries * problem.head_dim, problem.keys * problem.head_dim
    k_tiles = _tiles(problem.keys, tile_columns)
    ledger = _ledger(problem, {"Q": q * k_tiles, "K": k, "V": k, "O": q * k_tiles}, {"O": q * k_tiles})
    statistics = 2 * problem.batch * problem.heads * problem.queries * LOGSUMEXP_BYTES * k_tiles
    return Ledger({**ledger.read, "ML": statistics}, {**ledger.written, "ML": statistics})


def backward(problem: Problem, *, keys_a_tile: int, queries_a_tile: int) -> Ledger:
    """The two walks of `flash_backward.py` without a mask; that for dQ leaves W for the other.

    keys_a_tile: of the walk for dK and dV; queries_a_tile: of that for dQ. W is the workspace, two float32
    numbers a query.
    """
    q, k = problem.queries * problem.head_dim, problem.keys * problem.head_dim
    walks_of_queries = _tiles(problem.keys, keys_a_tile)
    walks_of_keys = _tiles(problem.queries, queries_a_tile)
    read = {
        "O": q,
        "dO": q * (walks_of_queries + 1),
        "Q": q * (walks_of_queries + 1),
        "K": k * (walks_of_keys + 1),
        "V": k * (walks_of_keys + 1),
    }
    ledger = _ledger(problem, read, {"dQ": q, "dK": k, "dV": k})
    numbers = problem.batch * problem.heads * problem.queries * LOGSUMEXP_BYTES
    return Ledger(
        {**ledger.read, "L": numbers, "W": 2 * numbers * walks_of_queries},
        {**ledger.written, "W": 2 * numbers},
    )


def decoding(problem: Problem, *, kv_heads: int, splits: int) -> int:
    """All bytes of `decode.py`; if there are several parts, in float32, a second kernel merges them.

    problem.heads are query heads, problem.queries the new ones: a handful.
    """
    rows = problem.batch * problem.heads * problem.queries
    cache = 2 * problem.batch * kv_heads * problem.keys * problem.head_dim
    elements = cache + (splits + 1) * rows * problem.head_dim
    # A part's output and its logsumexp are written and read.
    parts = splits * rows * (2 * problem.head_dim + 2) if splits > 1 else 0
    return elements * problem.itemsize + (parts + rows) * LOGSUMEXP_BYTES


def floor(problem: Problem) -> Ledger:
    """Every input and output once."""
    return _once(problem, problem.keys)


def _once(problem: Problem, rows_of_k: int) -> Ledger:
    q, k = problem.queries * problem.head_dim, rows_of_k * problem.head_dim
    ledger = _ledger(problem, {"Q": q, "K": k, "V": k}, {"O": q})
    logsumexp = problem.batch * problem.heads * problem.queries * LOGSUMEXP_BYTES
    return Ledger(ledger.read, {**ledger.written, "L": logsumexp})


def _ledger(problem: Problem, read: dict[str, int], written: dict[str, int]) -> Ledger:
    """From elements of one head to bytes of them all."""
    each = problem.batch * problem.heads * problem.itemsize
    return Ledger({x: n * each for x, n in read.items()}, {x: n * each for x, n in written.items()})


def _tiles(length: int, tile: int) -> int:
    return -(-length // tile)
