"""Before the walks, two numbers for each query; after one walk, the sums of dQ put in order. Plain Triton."""

# The bodies of jitted functions are Triton's language: its loops and tuples are not Python's.
# pyright: reportGeneralTypeIssues=false

# ruff: noqa: E741 - L is what the papers call it

from __future__ import annotations

import triton
import triton.language as tl

from kernels import tiles


@triton.jit
def prepare(
    O, dO, L, dL, statistics, sums, o_strides, do_strides, N_q,
    HAS_DL: tl.constexpr, HAS_SUMS: tl.constexpr, D: tl.constexpr, M: tl.constexpr,
):  # fmt: skip
    """For M queries: L in powers of two, then Delta = rowsum(dO ∘ O) - dL; and 0 for the sums of dQ.

    statistics: (batch · heads · tiles, 2, M), sums: (batch · heads · tiles, M · D). Queries that do not exist
    or that saw no key get L = +inf, so that their P comes out as 0.
    """
    tile = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    o = tiles.load(O, o_strides, batch, head, tile * M, N_q, D, D, M, False)
    do = tiles.load(dO, do_strides, batch, head, tile * M, N_q, D, D, M, False)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), 1)
    i = tile * M + tl.arange(0, M)
    row = tl.cast(batch, tl.int64) * tl.num_programs(1) + head
    if HAS_DL:
        delta -= tl.load(dL + row * N_q + i, mask=i < N_q, other=0.0)
    l = tl.load(L + row * N_q + i, mask=i < N_q, other=float("-inf"))
    LOG2_E: tl.constexpr = 1.4426950408889634
    entry = row * tl.num_programs(0) + tile
    place = statistics + entry * (2 * M) + tl.arange(0, M)
    tl.store(place, tl.where(l == float("-inf"), float("inf"), l * LOG2_E))
    tl.store(place + M, delta)
    if HAS_SUMS:
        tl.store(sums + entry * (M * D) + tl.arange(0, M * D), tl.zeros((M * D,), tl.float32))


@triton.jit
def put_in_order(sums, dQ, dq_strides, N_q, scale, D: tl.constexpr, M: tl.constexpr):
    """dQ from its sums: two (64, 64) tiles for M queries, each as `one_walk.add` left it."""
    tile = tl.program_id(0)
    head = tl.program_id(1)
    batch = tl.program_id(2)
    entry = (tl.cast(batch, tl.int64) * tl.num_programs(1) + head) * tl.num_programs(0) + tile
    x = tl.load(sums + entry * (M * D) + tl.arange(0, M * D))
    # Which of the two; eight columns, warp, row, two columns, half of the warp's rows, column.
    x = tl.reshape(x, (2, 8, 4, 8, 4, 2, 2))
    # They lie side by side if a tile has 64 rows, else one above the other.
    x = tl.permute(x, (2, 5, 3, 0, 1, 4, 6)) if M == 64 else tl.permute(x, (0, 2, 5, 3, 1, 4, 6))
    dq = tl.reshape(x, (M, D)) * scale
    tiles.store(dQ, dq, dq_strides, batch, head, tile * M, N_q, D, D, M, False)
