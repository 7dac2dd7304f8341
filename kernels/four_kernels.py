"""Standard attention as four Triton kernels, each of which goes to memory and back.

This is what FlashAttention replaces, written so that its bytes can be counted. S and P are whole N_q × N_k
matrices in the inputs' type, and cross memory six times: S written, read, written, read, P written, read.

    S = Q Kᵀ        S = scale · S, masked        P = softmax of S's rows        O = P V

The two products are tiled, as matrix products always are. Only the softmax sees a whole row at once.
Nothing here is made for speed.
"""

# ruff: noqa: E741 - l and O are what the papers call them

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels import interpreter
from kernels.flash import Tile, padded

TILE = Tile(queries=64, keys=64)


@triton.jit
def _scores(
    Q, K, S, N_q, N_k, group,
    D: tl.constexpr, TILE_D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """One tile of S = Q Kᵀ."""
    head = tl.program_id(2).to(tl.int64)
    i = (tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)).to(tl.int64)
    j = (tl.program_id(1) * TILE_N + tl.arange(0, TILE_N)).to(tl.int64)
    column = tl.arange(0, TILE_D)[None, :]
    q_row = (head * N_q + i)[:, None]
    k_row = (head // group * N_k + j)[:, None]
    q = tl.load(Q + q_row * D + column, mask=(i < N_q)[:, None] & (column < D), other=0.0)
    k = tl.load(K + k_row * D + column, mask=(j < N_k)[:, None] & (column < D), other=0.0)
    s = tl.dot(q, tl.trans(k), input_precision="ieee")
    inside = (i < N_q)[:, None] & (j < N_k)[None, :]
    tl.store(S + q_row * N_k + j[None, :], s.to(S.dtype.element_ty), mask=inside)


@triton.jit
def _scale_and_mask(S, scale, N_q, N_k, CAUSAL: tl.constexpr, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """S = scale · S, and -inf where a query may not look."""
    i = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    j = tl.arange(0, WIDTH)[None, :]
    inside = (i < N_q) & (j < N_k)
    S += tl.program_id(1).to(tl.int64) * N_q * N_k + i * N_k + j
    s = tl.load(S, mask=inside, other=0.0).to(tl.float32) * scale
    if CAUSAL:
        s = tl.where(j <= i + N_k - N_q, s, float("-inf"))
    tl.store(S, s.to(S.dtype.element_ty), mask=inside)


@triton.jit
def _softmax(S, P, N_q, N_k, ROWS: tl.constexpr, WIDTH: tl.constexpr):
    """P = softmax of each row of S. A row of -inf alone becomes 0."""
    i = (tl.program_id(0) * ROWS + tl.arange(0, ROWS)).to(tl.int64)[:, None]
    j = tl.arange(0, WIDTH)[None, :]
    inside = (i < N_q) & (j < N_k)
    entry = tl.program_id(1).to(tl.int64) * N_q * N_k + i * N_k + j
    s = tl.load(S + entry, mask=inside, other=float("-inf")).to(tl.float32)
    m = tl.max(s, 1)[:, None]
    e = tl.exp(s - tl.where(m == float("-inf"), 0.0, m))
    l = tl.sum(e, 1)[:, None]
    p = e / tl.where(l == 0.0, 1.0, l)
    tl.store(P + entry, p.to(P.dtype.element_ty), mask=inside)


@triton.jit
def _weighted_sum(
    P, V, O, N_q, N_k, group,
    D: tl.constexpr, TILE_D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """One tile of O = P V."""
    head = tl.program_id(1).to(tl.int64)
    i = (tl.program_id(0) * TILE_M + tl.arange(0, TILE_M)).to(tl.int64)[:, None]
    key = tl.arange(0, TILE_N)
    column = tl.arange(0, TILE_D)[None, :]
    P += (head * N_q + i) * N_k
    V += head // group * N_k * D
    o = tl.zeros((TILE_M, TILE_D), tl.float32)
    for start in range(0, N_k, TILE_N):
        j = start + key
        p = tl.load(P + j[None, :], mask=(i < N_q) & (j < N_k)[None, :], other=0.0)
        v = tl.load(V + j[:, None] * D + column, mask=(j < N_k)[:, None] & (column < D), other=0.0)
        o = tl.dot(p, v, o, input_precision="ieee")
    tl.store(O + (head * N_q + i) * D + column, o.to(O.dtype.element_ty), mask=(i < N_q) & (column < D))


def launch(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    s: Tensor,
    p: Tensor,
    o: Tensor,
    *,
    causal: bool,
    scale: float,
    tile: Tile = TILE,
) -> None:
    """Fill s and p (batch, heads, N_q, N_k) and o. Shapes as in `standard.attention`, all contiguous.

    Raises ValueError for bfloat16 in the interpreter, which gets its products wrong.
    """
    if interpreter.enabled() and q.dtype == torch.bfloat16:
        raise ValueError("q is bfloat16, which Triton's interpreter gets wrong; use float16 or float32")
    batch, heads, N_q, d = q.shape
    N_k, group = k.shape[2], heads // k.shape[1]
    product = {"D": d, "TILE_D": padded(d), "TILE_M": tile.queries, "TILE_N": tile.keys}
    width = triton.next_power_of_2(N_k)
    # Several rows a program, since the interpreter's time goes by programs; fewer where rows are long.
    row = {"ROWS": max(1, min(16, 16384 // width)), "WIDTH": width}
    q_tiles, k_tiles = triton.cdiv(N_q, tile.queries), triton.cdiv(N_k, tile.keys)
    row_tiles, all_heads = triton.cdiv(N_q, row["ROWS"]), batch * heads
    with torch.cuda.device_of(q):
        _on(_scores, q_tiles, k_tiles, all_heads)(q, k, s, N_q, N_k, group, **product)
        _on(_scale_and_mask, row_tiles, all_heads)(s, scale, N_q, N_k, CAUSAL=causal, **row)
        _on(_softmax, row_tiles, all_heads)(s, p, N_q, N_k, **row)
        _on(_weighted_sum, q_tiles, all_heads)(p, v, o, N_q, N_k, group, **product)


def forward(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float, tile: Tile = TILE) -> Tensor:
    """The output alone. Errors as in `launch`."""
    q, k, v = q.contiguous(), k.contiguous(), v.contiguous()
    s = q.new_empty(*q.shape[:3], k.shape[2])
    p, o = torch.empty_like(s), torch.empty_like(q)
    launch(q, k, v, s, p, o, causal=causal, scale=scale, tile=tile)
    return o


def _on(kernel: Any, *grid: Any) -> Any:
    return kernel[grid]
