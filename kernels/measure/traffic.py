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
