"""FlashAttention-2's forward pass in Triton: `online_softmax.fold`, one tile of queries for each program.

Read `_flash_forward` from top to bottom; m, l, o and alpha are those of `online_softmax.py`. Nothing of size
N × N is ever stored. A program reads its queries once, walks over K and V in tiles while (m, l, o) stay on
chip, divides once at the end, and writes its tile of O and one logsumexp for each query.

Dao 2023 (arXiv 2307.08691), after Dao et al. 2022 (2205.14135).
"""

# ruff: noqa: E741 - l is what the papers call it

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels import interpreter


@triton.jit
def _flash_forward(
    Q, K, V, O, L,
    q_strides, k_strides, v_strides, o_strides,  # elements from one (batch, head, row) to the next
    scale_log2, N_q, N_k, group,
    CAUSAL: tl.constexpr, D: tl.constexpr, TILE_D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    first = tl.program_id(0) * TILE_M  # the tile's first query
    # A tensor may have more than 2³¹ elements: where a head begins is counted in 64 bits.
    head = tl.program_id(1).to(tl.int64)
    batch = tl.program_id(2).to(tl.int64)
    Q += batch * q_strides[0] + head * q_strides[1] + first.to(tl.int64) * q_strides[2]
    O += batch * o_strides[0] + head * o_strides[1] + first.to(tl.int64) * o_strides[2]
    L += (batch * tl.num_programs(1) + head) * N_q + first
    # Grouped heads: `group` query heads in a row share one head of K and V.
    K += batch * k_strides[0] + (head // group) * k_strides[1]
    V += batch * v_strides[0] + (head // group) * v_strides[1]

    i = first + tl.arange(0, TILE_M)
    row = tl.arange(0, TILE_M)[:, None]
    key = tl.arange(0, TILE_N)[:, None]
    column = tl.arange(0, TILE_D)[None, :]  # a tile's sides are powers of two; what juts out is read as 0
    in_q = (i < N_q)[:, None] & (column < D)
    q = tl.load(Q + row * q_strides[2] + column, mask=in_q, other=0.0)

    # The tile needs the keys before `stop`: all, or if causal those up to the diagonal, which ends where the
    # last query meets the last key. Tiles of keys before `whole` are seen in full by each of its queries.
    shift = N_k - N_q
    stop = N_k
    whole = N_k
    if CAUSAL:
        stop = tl.maximum(tl.minimum(first + TILE_M + shift, N_k), 0)
        whole = tl.maximum(tl.minimum(first + 1 + shift, N_k), 0)
    whole = whole // TILE_N * TILE_N

    m = tl.full((TILE_M,), float("-inf"), tl.float32)
    l = tl.zeros((TILE_M,), tl.float32)
    o = tl.zeros((TILE_M, TILE_D), tl.float32)  # sums are kept in 32 bits whatever the inputs are

    # For speed alone: the loop is compiled twice, without a mask for whole tiles, with it for the rest.
    for MASKED in tl.static_range(2):
        for start in range(whole * MASKED, stop if MASKED else whole, TILE_N):
            j = start + tl.arange(0, TILE_N)
            in_k = (j < N_k)[:, None] & (column < D)
            k = tl.load(K + key * k_strides[2] + column, mask=in_k, other=0.0)
            # scale_log2 is scale · log2(e), so exp(scale · x) = exp2(scale_log2 · x): chips have only exp2.
            # "ieee": float32 inputs would otherwise be cut to the 10 bits of mantissa of TF32.
            s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale_log2
            if MASKED:
                seen = (j < N_k)[None, :]
                if CAUSAL:
                    seen = seen & (j[None, :] <= (i + shift)[:, None])
                s = tl.where(seen, s, float("-inf"))

            m_new = tl.maximum(m, tl.max(s, 1))
            # A query that has seen no key has m = -inf, and (-inf) - (-inf) is NaN: its reference is 0.
            reference = tl.where(m_new == float("-inf"), 0.0, m_new)
            alpha = tl.exp2(m - reference)
            p = tl.exp2(s - reference[:, None])
            l = alpha * l + tl.sum(p, 1)
            # Beyond the last key p is 0, but 0 · NaN is NaN: so V has to be read as 0 there.
            v = tl.load(V + key * v_strides[2] + column, mask=in_k, other=0.0)
            # Tensor cores take both factors in one type, so p is rounded to that of V; sums stay in 32 bits.
            o = tl.dot(p.to(v.dtype), v, alpha[:, None] * o, input_precision="ieee")
            m = m_new
            K += TILE_N * k_strides[2]
            V += TILE_N * v_strides[2]

    l = tl.where(l == 0.0, 1.0, l)  # no key at all: 0 / 1 = 0, and L = -inf below
    o = o / l[:, None]
    tl.store(O + row * o_strides[2] + column, o.to(O.dtype.element_ty), mask=in_q)
    LN_2: tl.constexpr = 0.6931471805599453  # m counts in powers of two, L in powers of e
    tl.store(L + tl.arange(0, TILE_M), (m + tl.log2(l)) * LN_2, mask=i < N_q)


@dataclass(frozen=True, slots=True)
class Tile:
    """How the work is cut: queries and keys a tile, warps a program, tiles of K and V in flight."""

    queries: int
    keys: int
    warps: int = 4
    stages: int = 2


# By bytes an element and the largest head dimension. Chosen so that no register spills; a test compiles each.
# A warpgroup's matrix unit (Hopper, data-centre Blackwell) wants tall tiles and has 227 KB of shared memory.
WARPGROUP_TILES = {
    (2, 64): Tile(128, 64, warps=4, stages=3),
    (2, 128): Tile(128, 128, warps=8, stages=2),
    (2, 256): Tile(64, 64, warps=8, stages=2),
}
# Every other chip, down to the 99 KB of the desktop cards.
TILES = {
    (2, 64): Tile(128, 64, warps=8, stages=3),
    (2, 128): Tile(128, 64, warps=8, stages=2),
    (2, 256): Tile(64, 32, warps=8, stages=2),
    # Without tensor cores, since they have no float32: registers hold the operands, so tiles are small.
    (4, 64): Tile(32, 32, warps=4, stages=2),
    (4, 128): Tile(32, 32, warps=8, stages=1),
    (4, 256): Tile(16, 16, warps=8, stages=1),
}


def tile_for(head_dim: int, itemsize: int, capability: tuple[int, int] = (0, 0)) -> Tile:
    """The table's tile for a head dimension up to 256, a 2- or 4-byte type and a CUDA compute capability."""
    key = (itemsize, next(limit for limit in (64, 128, 256) if head_dim <= limit))
    return (WARPGROUP_TILES if capability[0] in (9, 10) else {}).get(key) or TILES[key]


def forward(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float, tile: Tile | None = None
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp. Shapes as in `standard.attention`; arguments are checked in `attention.py`.

    Inputs with a strided last dimension are copied first. In the interpreter bfloat16 is computed in float32.
    """
    if interpreter.enabled() and q.dtype == torch.bfloat16:
        o, L = forward(q.float(), k.float(), v.float(), causal=causal, scale=scale, tile=tile)
        return o.to(q.dtype), L
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    o = torch.empty_like(q)
    L = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    launch(q, k, v, o, L, causal=causal, scale=scale, tile=tile)
    return o, L


def launch(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    L: Tensor,
    *,
    causal: bool,
    scale: float,
    tile: Tile | None = None,
) -> None:
    """Fill o and L. Every last dimension must be contiguous, L (batch, heads, N_q) throughout."""
    batch, heads, N_q, d = q.shape
    if o.numel() == 0:
        return
    if tile is None:
        capability = torch.cuda.get_device_capability(q.device) if q.is_cuda else (0, 0)
        tile = tile_for(d, q.element_size(), capability)
    kernel: Any = _flash_forward[triton.cdiv(N_q, tile.queries), heads, batch]
    with torch.cuda.device_of(q):
        kernel(
            q, k, v, o, L,
            q.stride()[:3], k.stride()[:3], v.stride()[:3], o.stride()[:3],
            scale * math.log2(math.e), N_q, k.shape[2], heads // k.shape[1],
            CAUSAL=causal, D=d, TILE_D=padded(d), TILE_M=tile.queries, TILE_N=tile.keys,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip


def padded(head_dim: int) -> int:
    """Columns of a tile: the next power of two, and at least the 16 that a matrix product takes."""
    return max(16, 1 << (head_dim - 1).bit_length())
