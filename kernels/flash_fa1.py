"""FlashAttention-1's order of loops in Triton: keys outside, queries inside.

The same step as in `flash.py`, the other way round. A tile of K and V is read once and stays, all queries
pass by it. But then (m, l, o) of a query cannot stay on chip from one tile of keys to the next: they are
read, rescaled and written back at every step, o divided by l each time, so that what lies in memory is always
the answer for the keys so far. And one head is one program, since its steps must come one after another.

With e bytes an element and T_k tiles of keys, each head asks memory for

    e · (2 N_k d  +  3 N_q d T_k)  +  16 N_q T_k
    K and V once; Q read, O read and written for each tile of keys; m and l read and written likewise

FlashAttention-2 swapped the loops: `flash.py` reads Q once and K and V for each tile of queries, and o, m
and l never leave the chip. Here to be counted, not to be fast.

Dao et al. 2022 (arXiv 2205.14135), algorithm 1.
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
from kernels.tiles import Tile, padded

TILES = {
    2: Tile(queries=64, keys=64, warps=8, stages=1),
    4: Tile(queries=16, keys=16, warps=8, stages=1),
}
"""By bytes an element."""


@triton.jit
def _fa1_forward(
    Q, K, V, O, M, L,
    q_strides, k_strides, v_strides, o_strides,  # elements from one (batch, head, row) to the next
    scale_log2, N_q, N_k, group,
    CAUSAL: tl.constexpr, D: tl.constexpr, TILE_D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(0)
    batch = tl.program_id(1)
    kv_head = head // group
    shift = N_k - N_q  # the last query stands on the last key
    rows = (tl.cast(batch, tl.int64) * tl.num_programs(0) + head) * N_q

    for start in range(0, N_k, TILE_N):
        k = tiles.load(K, k_strides, batch, kv_head, start, N_k, D, TILE_D, TILE_N, False)
        v = tiles.load(V, v_strides, batch, kv_head, start, N_k, D, TILE_D, TILE_N, False)
        j = (start + tl.arange(0, TILE_N))[None, :]
        begin = 0
        if CAUSAL:
            begin = (
                tl.maximum(start - shift, 0) // TILE_M * TILE_M
            )  # queries before this see none of the keys
        for first in range(begin, N_q, TILE_M):
            i = first + tl.arange(0, TILE_M)
            q = tiles.load(Q, q_strides, batch, head, first, N_q, D, TILE_D, TILE_M, False)
            o = tiles.load(O, o_strides, batch, head, first, N_q, D, TILE_D, TILE_M, False).to(tl.float32)
            m = tl.load(M + rows + i, mask=i < N_q, other=float("-inf"))
            l = tl.load(L + rows + i, mask=i < N_q, other=0.0)

            s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale_log2
            seen = j < N_k
            if CAUSAL:
                seen = seen & (j <= (i + shift)[:, None])
            s = tl.where(seen, s, float("-inf"))
            m_new = tl.maximum(m, tl.max(s, 1))
            reference = tl.where(m_new == float("-inf"), 0.0, m_new)
            alpha = tl.exp2(m - reference)
            p = tl.exp2(s - reference[:, None])
            l_new = alpha * l + tl.sum(p, 1)
            # o was divided by l before it was written: undo that, take in the tile, divide by the new l.
            o = tl.dot(p.to(v.dtype), v, (alpha * l)[:, None] * o, input_precision="ieee")
            o = o / tl.where(l_new == 0.0, 1.0, l_new)[:, None]

            tiles.store(O, o, o_strides, batch, head, first, N_q, D, TILE_D, TILE_M, False)
            tl.store(M + rows + i, m_new, mask=i < N_q)
            tl.store(L + rows + i, l_new, mask=i < N_q)
        tl.debug_barrier()  # what a thread has written, others read for the next tile of keys


def forward(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float, tile: Tile | None = None
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp, as `flash.forward` computes them, but o is rounded once for each tile of keys."""
    if interpreter.enabled() and q.dtype == torch.bfloat16:
        o, lse = forward(q.float(), k.float(), v.float(), causal=causal, scale=scale, tile=tile)
        return o.to(q.dtype), lse
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    o = tiles.output_for(q).zero_()
    m = torch.full(q.shape[:3], -math.inf, dtype=torch.float32, device=q.device)
    l = torch.zeros_like(m)
    launch(q, k, v, o, m, l, causal=causal, scale=scale, tile=tile)
    return o, m * math.log(2) + l.log().nan_to_num(neginf=0.0)


def launch(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    m: Tensor,
    l: Tensor,
    *,
    causal: bool,
    scale: float,
    tile: Tile | None = None,
) -> None:
    """Fold all keys into (m, l, o), which say what is known before: at first (-inf, 0, 0).

    m counts in powers of 2. Every last dimension must be contiguous, m and l (batch, heads, N_q) throughout.
    """
    batch, heads, N_q, d = q.shape
    if q.numel() == 0 or k.numel() == 0:
        return
    tile = tile or TILES[q.element_size()]
    kernel: Any = _fa1_forward[heads, batch]
    with torch.cuda.device_of(q):
        kernel(
            q, k, v, o, m, l, *[x.stride()[:3] for x in (q, k, v, o)],
            scale * math.log2(math.e), N_q, k.shape[2], heads // k.shape[1],
            CAUSAL=causal, D=d, TILE_D=padded(d), TILE_M=tile.queries, TILE_N=tile.keys,
            num_warps=tile.warps, num_stages=tile.stages,
        )  # fmt: skip
