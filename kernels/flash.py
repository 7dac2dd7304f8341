"""FlashAttention-2's forward pass in Triton: `online_softmax.fold`, one tile of queries for each program.

Read `_flash_forward` from top to bottom. l, o and alpha are those of `online_softmax.py`, and m is log2(e)
times the m there, for the sake of exp2. Nothing of size N × N is ever stored. A program reads its queries
once, walks over K and V in tiles while (m, l, o) stay on chip, divides once at the end, and writes its tile
of O and one logsumexp for each query, from which the backward pass computes P again. Tiles of keys that none
of its queries sees are not visited.

Dao 2023 (arXiv 2307.08691), after Dao et al. 2022 (2205.14135).
"""

# ruff: noqa: E741 - l is what the papers call it

from __future__ import annotations

import math
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels import interpreter, tiles
from kernels.tiles import Band, Tile, padded


@triton.jit
def _flash_forward(
    Q, K, V, O, L,
    q_strides, k_strides, v_strides, o_strides,  # elements from one (batch, head, row) to the next
    scale_log2, N_q, N_k, group,
    low, high,  # query i sees the keys from i + low to i + high; see `tiles.py`
    LOW: tl.constexpr, HIGH: tl.constexpr,  # whether there is such a bound: if not, that side is open
    DESCRIBED: tl.constexpr,  # Q, K, V and O come as descriptors, with strides of their own; see `tiles.load`
    D: tl.constexpr, TILE_D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    # Programs start in order, and a causal mask gives the last queries the most to do: so they go first.
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * TILE_M  # the tile's first query
    head = tl.program_id(1)
    batch = tl.program_id(2)
    kv_head = head // group  # `group` consecutive query heads share one head of K and V
    q = tiles.load(Q, q_strides, batch, head, first, N_q, D, TILE_D, TILE_M, DESCRIBED)
    i = first + tl.arange(0, TILE_M)
    key = tl.arange(0, TILE_N)

    # What has been learnt so far from the keys. Chips have only exp2, so m is kept times log2(e), and s stays
    # without its scale: exp(scale · s - m) is exp2(scale_log2 · s - m · log2(e)), scale_log2 being scale ·
    # log2(e). Sums are kept in 32 bits whatever the inputs are.
    m = tl.full((TILE_M,), float("-inf"), tl.float32)
    l = tl.zeros((TILE_M,), tl.float32)
    o = tl.zeros((TILE_M, TILE_D), tl.float32)

    # For speed alone the loop is compiled up to three times: with a mask for the tiles of keys at either end
    # of what the queries see, and without one for those between, which all of them see in full. Without LOW
    # there is nothing before those between.
    edges = tiles.edges(first, low, high, N_k, TILE_M, TILE_N, LOW, HIGH)
    for STRETCH in tl.static_range(0 if LOW else 1, 3):
        for start in range(edges[STRETCH], edges[STRETCH + 1], TILE_N):
            k = tiles.load(K, k_strides, batch, kv_head, start, N_k, D, TILE_D, TILE_N, DESCRIBED)
            # "ieee": float32 inputs would otherwise be cut to the 10 bits of mantissa of TF32.
            s = tl.dot(q, tl.trans(k), input_precision="ieee")
            if STRETCH != 1:
                j = (start + key)[None, :]
                s = tl.where(j < N_k, s, float("-inf"))
                s = tiles.in_band(s, i[:, None], j, low, high, float("-inf"), LOW, HIGH)

            # The scale is positive, so the largest score is the largest after scaling too. Only that one is
            # scaled here; the others below, by the multiply-add that also takes the reference away.
            m_new = tl.maximum(m, tl.max(s, 1) * scale_log2)
            reference = m_new
            if STRETCH != 1:
                # A query that has seen no key has m = -inf, and (-inf) - (-inf) is NaN: its reference is 0.
                # In stretch 1 every query sees a key.
                reference = tl.where(m_new == float("-inf"), 0.0, m_new)
            # The identity: exp2(x - m) · alpha = exp2(x - m_new) for each scaled score x, so alpha moves the
            # old sums to the new reference. p stands on it from the start: the beta of `merge` is 1 here.
            alpha = tl.exp2(m - reference)
            p = tl.exp2(s * scale_log2 - reference[:, None])
            # Beyond the last key p is 0, but 0 · NaN is NaN: so V has to be read as 0 there.
            v = tiles.load(V, v_strides, batch, kv_head, start, N_k, D, TILE_D, TILE_N, DESCRIBED)
            # o = alpha · o + p v: dot adds to its third argument. Tensor cores take both factors in one type,
            # so p is rounded to that of V; sums stay in 32 bits.
            o = tl.dot(p.to(v.dtype), v, alpha[:, None] * o, input_precision="ieee")
            l = alpha * l + tl.sum(p, 1)
            m = m_new

    l = tl.where(l == 0.0, 1.0, l)  # no key at all: 0 / 1 = 0, and L = -inf below
    o = o / l[:, None]
    tiles.store(O, o, o_strides, batch, head, first, N_q, D, TILE_D, TILE_M, DESCRIBED)
    LN_2: tl.constexpr = 0.6931471805599453  # m + log2(l) is a logarithm to base 2, L a natural one
    # In 64 bits: a tensor may have more than 2³¹ entries.
    L += (tl.cast(batch, tl.int64) * tl.num_programs(1) + head) * N_q
    tl.store(L + i, (m + tl.log2(l)) * LN_2, mask=i < N_q)


# By bytes an element and the largest head dimension served. No register spills; a test compiles each. Hopper:
# a warpgroup multiplies 64 rows, and up to d = 128 two or three programs share a multiprocessor's 227 KB of
# shared memory, so that one computes exponentials while another multiplies. At 256 there is room for one, of
# two warpgroups. The fastest of 6 to 14 tiles on an H200 at N = 4096. Data-centre Blackwell takes the same
# ones, not measured there.
WARPGROUP_TILES = {
    (2, 64): Tile(64, 128, warps=4, stages=2),
    (2, 128): Tile(64, 64, warps=4, stages=3),
    (2, 256): Tile(128, 64, warps=8, stages=2),
}
# Every other chip, down to the 99 KB of shared memory of the desktop cards; and float32 on every chip.
TILES = {
    (2, 64): Tile(128, 32, warps=8, stages=3),
    (2, 128): Tile(128, 32, warps=8, stages=3),
    (2, 256): Tile(64, 32, warps=8, stages=2),
    # Without tensor cores, since they have no float32: registers hold the operands, so tiles are small.
    (4, 64): Tile(32, 32, warps=4, stages=2),
    (4, 128): Tile(32, 32, warps=8, stages=1),
    (4, 256): Tile(16, 16, warps=4, stages=1),
}


def tile_for(head_dim: int, itemsize: int, capability: tuple[int, int] = (0, 0)) -> Tile:
    """The table's tile for a head dimension up to 256, a 2- or 4-byte type and a CUDA compute capability."""
    key = (itemsize, next(limit for limit in (64, 128, 256) if head_dim <= limit))
    return (WARPGROUP_TILES if capability[0] in (9, 10) else {}).get(key) or TILES[key]


def forward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    causal: bool,
    scale: float,
    window: int | None = None,
    tile: Tile | None = None,
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp. Shapes as in `standard.attention`; arguments are checked in `attention.py`.

    Copied first are inputs with a strided last dimension and, where rows are a multiple of 16 bytes long,
    those whose rows do not all begin at one. In the interpreter bfloat16 is computed in float32: NumPy has no
    such type.
    """
    if interpreter.enabled() and q.dtype == torch.bfloat16:
        o, L = forward(q.float(), k.float(), v.float(), causal=causal, scale=scale, window=window, tile=tile)
        return o.to(q.dtype), L
    o = tiles.output_for(q)
    q, k, v = (tiles.lined_up(x) for x in (q, k, v))
    L = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    launch(q, k, v, o, L, causal=causal, scale=scale, window=window, tile=tile)
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
    window: int | None = None,
    tile: Tile | None = None,
) -> None:
    """Fill o and L. Every last dimension must be contiguous, L (batch, heads, N_q) throughout.

    A scale that is not positive costs a copy of q: the kernel looks for the largest score before it scales.
    """
    batch, heads, N_q, d = q.shape
    kv_heads, N_k = k.shape[1:3]
    if o.numel() == 0:
        return
    q, scale = tiles.with_positive_scale(q, scale)
    capability = tiles.capability(q)
    tile = tile or tile_for(d, q.element_size(), capability)
    strides = [x.stride()[:3] for x in (q, k, v, o)]
    described = tiles.has_copy_engine(capability) and q.element_size() == 2 and tiles.describable(q, k, v, o)
    if described:
        q, o = (tiles.descriptor(x, tile.queries) for x in (q, o))
        k, v = (tiles.descriptor(x, tile.keys) for x in (k, v))
    kernel: Any = _flash_forward[triton.cdiv(N_q, tile.queries), heads, batch]
    with torch.cuda.device_of(L):
        kernel(
            q, k, v, o, L, *strides, scale * math.log2(math.e), N_q, N_k, heads // kv_heads,
            **Band.of(N_q, N_k, causal=causal, window=window).arguments(),
            DESCRIBED=described, D=d, TILE_D=padded(d), TILE_M=tile.queries, TILE_N=tile.keys,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
