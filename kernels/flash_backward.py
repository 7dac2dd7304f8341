"""FlashAttention-2's backward pass in Triton: P is computed again from one number a query, never stored.

Forward, with s the scores of one query and L their logsumexp:

    s = scale · q kᵀ        P = exp(s - L)        o = P v

P comes out normalised at once: L holds both the maximum and the sum of the forward pass, so neither is
looked for again. With dO the gradient of the output, the chain rule gives, step by step:

    dV = Pᵀ dO              o is linear in v
    dP = dO vᵀ              and linear in P
    dS = P ∘ (dP - D)       the softmax's Jacobian is diag(P) - P Pᵀ for each row, and D_i = Σ_j P_ij dP_ij
    dQ = scale · dS k       s is linear in q
    dK = scale · dSᵀ q      and in k

D_i sums over all keys, which a tile does not have. But dP_ij = dO_i · v_j, so D_i = dO_i · Σ_j P_ij v_j,
which is dO_i · o_i: a dot product of two rows that are there already. That is why o is kept from the forward
pass. If the logsumexp has a gradient of its own, dL_i, then since ∂L_i / ∂s_ij = P_ij it enters as D - dL.

A tile of dQ sums over keys, a tile of dK and dV over queries. So there are two walks over the tiles, each of
which keeps its sums on chip and computes P and dP for itself: seven products where one walk would need five,
but no two programs ever add to one number, and the result is the same to the last bit every time. The walk
for dQ goes first: a program has the rows of O and dO there, so it writes D and L down for the other walk.

For one head, with e bytes an element, T_q tiles of queries in the walk for dQ and T_k tiles of keys in that
for dK and dV, the kernels ask memory for

    dQ         e · (4 N_q d + 2 N_k d T_q)  +  4 · 3 N_q        Q, O, dO, dQ once; K, V for a tile of queries;
                                                                L read, and two numbers a query written
    dK, dV     e · (4 N_k d + 2 N_q d T_k)  +  4 · 2 N_q T_k    K, V, dK, dV once; Q, dO for a tile of keys

and with grouped heads K, V, dK and dV of the last line count once for each head of K and V. Where registers
do not hold both its sums, the second walk is taken twice, once for each: see `Tiles`.
"""

# ruff: noqa: E741 - L is what the papers call it

# The bodies of jitted functions are Triton's language: its loops and tuples are not Python's.
# pyright: reportGeneralTypeIssues=false

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
import triton
import triton.language as tl
from torch import Tensor

from kernels import interpreter, tiles
from kernels.tiles import Band, Tile, padded


# A length of 1 would be compiled in as a constant, and with one query and one key ptxas 12.8 then crashes.
@triton.jit(do_not_specialize=["N_k"])
def _gradients_of_queries(
    Q, K, V, O, dO, L, dL, L2, Delta, dQ,
    q_strides, k_strides, v_strides, o_strides, do_strides, dq_strides,
    scale, scale_log2, N_q, N_k, group, low, high,
    HAS_DL: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr, DESCRIBED: tl.constexpr,
    D: tl.constexpr, TILE_D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """One tile of dQ: the walk of the forward pass, with the maximum and the sum known beforehand."""
    first = (tl.num_programs(0) - 1 - tl.program_id(0)) * TILE_M  # the longest first, as in the forward pass
    head = tl.program_id(1)
    batch = tl.program_id(2)
    kv_head = head // group
    q = tiles.load(Q, q_strides, batch, head, first, N_q, D, TILE_D, TILE_M, False)
    do = tiles.load(dO, do_strides, batch, head, first, N_q, D, TILE_D, TILE_M, False)
    i = first + tl.arange(0, TILE_M)
    key = tl.arange(0, TILE_N)
    entry = (tl.cast(batch, tl.int64) * tl.num_programs(1) + head) * N_q + i

    # Delta = rowsum(dO ∘ O) - dL, and L in powers of two: for this walk and the other.
    o = tiles.load(O, o_strides, batch, head, first, N_q, D, TILE_D, TILE_M, False)
    delta = tl.sum(o.to(tl.float32) * do.to(tl.float32), 1)
    if HAS_DL:
        delta -= tl.load(dL + entry, mask=i < N_q, other=0.0)
    # A query that saw no key has L = -inf, and exp2(s + inf) would be infinite. With +inf its P is 0.
    l = tl.load(L + entry, mask=i < N_q, other=float("-inf"))
    LOG2_E: tl.constexpr = 1.4426950408889634
    l2 = tl.where(l == float("-inf"), float("inf"), l * LOG2_E)
    tl.store(L2 + entry, l2, mask=i < N_q)
    tl.store(Delta + entry, delta, mask=i < N_q)

    dq = tl.zeros((TILE_M, TILE_D), tl.float32)

    edges = tiles.edges(first, low, high, N_k, TILE_M, TILE_N, LOW, HIGH)
    for STRETCH in tl.static_range(0 if LOW else 1, 3):
        for start in range(edges[STRETCH], edges[STRETCH + 1], TILE_N):
            k = tiles.load(K, k_strides, batch, kv_head, start, N_k, D, TILE_D, TILE_N, DESCRIBED)
            p = tl.exp2(tl.dot(q, tl.trans(k), input_precision="ieee") * scale_log2 - l2[:, None])
            if STRETCH != 1:
                j = (start + key)[None, :]
                p = tl.where(j < N_k, p, 0.0)
                p = tiles.in_band(p, i[:, None], j, low, high, 0.0, LOW, HIGH)
            v = tiles.load(V, v_strides, batch, kv_head, start, N_k, D, TILE_D, TILE_N, DESCRIBED)
            dp = tl.dot(do, tl.trans(v), input_precision="ieee")
            ds = p * (dp - delta[:, None])
            dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")  # dS k

    tiles.store(dQ, dq * scale, dq_strides, batch, head, first, N_q, D, TILE_D, TILE_M, False)


@triton.jit(do_not_specialize=["N_k"])
def _gradients_of_keys(
    Q, K, V, dO, L2, Delta, dK, dV,
    q_strides, k_strides, v_strides, do_strides, dk_strides, dv_strides,
    scale, scale_log2, N_q, N_k, group, low, high,
    SUM_DK: tl.constexpr, SUM_DV: tl.constexpr,  # which of the two sums this walk keeps
    LOW: tl.constexpr, HIGH: tl.constexpr, DESCRIBED: tl.constexpr,
    D: tl.constexpr, TILE_D: tl.constexpr, TILE_M: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """One tile of dK and dV. Every tile is held transposed, keys down and queries across."""
    first = tl.program_id(0) * TILE_N  # the tile's first key; under a causal mask the first have most to do
    kv_head = tl.program_id(1)
    batch = tl.program_id(2)
    k = tiles.load(K, k_strides, batch, kv_head, first, N_k, D, TILE_D, TILE_N, DESCRIBED)
    if SUM_DK:
        v = tiles.load(V, v_strides, batch, kv_head, first, N_k, D, TILE_D, TILE_N, DESCRIBED)
        dk = tl.zeros((TILE_N, TILE_D), tl.float32)
    if SUM_DV:
        dv = tl.zeros((TILE_N, TILE_D), tl.float32)
    j = first + tl.arange(0, TILE_N)
    query = tl.arange(0, TILE_M)

    # Key j is seen by the queries from j - high to j - low: the same band, read the other way round. Behind
    # the last query P comes out as 0, so the last tile counts as whole.
    edges = tiles.edges(first, -high, -low, tl.cdiv(N_q, TILE_M) * TILE_M, TILE_N, TILE_M, HIGH, LOW)
    # All the query heads that share this head of K and V add to its gradient, in turn.
    for member in range(group):
        head = kv_head * group + member
        rows = (tl.cast(batch, tl.int64) * tl.num_programs(1) * group + head) * N_q
        for STRETCH in tl.static_range(0 if HIGH else 1, 3 if LOW else 2):
            for start in range(edges[STRETCH], edges[STRETCH + 1], TILE_M):
                q = tiles.load(Q, q_strides, batch, head, start, N_q, D, TILE_D, TILE_M, DESCRIBED)
                i = start + query
                l2 = tl.load(L2 + rows + i, mask=i < N_q, other=float("inf"))
                p = tl.exp2(tl.dot(k, tl.trans(q), input_precision="ieee") * scale_log2 - l2[None, :])
                if STRETCH != 1:
                    p = tiles.in_band(p, i[None, :], j[:, None], low, high, 0.0, LOW, HIGH)
                do = tiles.load(dO, do_strides, batch, head, start, N_q, D, TILE_D, TILE_M, DESCRIBED)
                if SUM_DV:
                    dv = tl.dot(p.to(do.dtype), do, dv, input_precision="ieee")  # Pᵀ dO
                if SUM_DK:
                    dp = tl.dot(v, tl.trans(do), input_precision="ieee")
                    delta = tl.load(Delta + rows + i, mask=i < N_q, other=0.0)
                    ds = p * (dp - delta[None, :])
                    dk = tl.dot(ds.to(q.dtype), q, dk, input_precision="ieee")  # dSᵀ q

    if SUM_DK:
        tiles.store(dK, dk * scale, dk_strides, batch, kv_head, first, N_k, D, TILE_D, TILE_N, False)
    if SUM_DV:
        tiles.store(dV, dv, dv_strides, batch, kv_head, first, N_k, D, TILE_D, TILE_N, False)


@dataclass(frozen=True, slots=True)
class Tiles:
    """How each of the two walks is cut. With `of_values` that for dK and dV is taken twice, once for each."""

    of_keys: Tile  # for dK and dV, or dK alone: a tile of keys stays, tiles of queries pass by
    of_queries: Tile  # for dQ: a tile of queries stays, tiles of keys pass by
    of_values: Tile | None = None  # for dV alone

    def walks_of_keys(self) -> list[tuple[Tile, bool, bool]]:
        """Each with its tile, and whether it sums dK and dV."""
        if self.of_values is None:
            return [(self.of_keys, True, True)]
        return [(self.of_keys, True, False), (self.of_values, False, True)]


# By bytes an element and the largest head dimension, as in `flash.TILES`. Hopper's are the fastest of 4 to 11
# on an H200 at N = 4096. At 256 two sums of 64 keys would take all registers of two warpgroups, which would
# then compute the same scores twice, since one multiplies 64 rows. A walk for each sum, over tiles of 128
# keys, computes one product more and, with three stages, is 1.3 to 1.45 times as fast.
HOPPER_TILES = {
    (2, 64): Tiles(Tile(128, 64, warps=4, stages=2), Tile(64, 64, warps=4, stages=2)),
    (2, 128): Tiles(Tile(64, 64, warps=4, stages=2), Tile(64, 64, warps=4, stages=2)),
    (2, 256): Tiles(
        of_keys=Tile(32, 128, warps=8, stages=3),
        of_queries=Tile(128, 32, warps=8, stages=3),
        of_values=Tile(64, 128, warps=8, stages=2),
    ),
}
# Data-centre Blackwell keeps its sums in a memory of the matrix unit; compiled, not measured.
BLACKWELL_TILES = {
    (2, 64): Tiles(Tile(64, 128, warps=8, stages=2), Tile(128, 64, warps=8, stages=2)),
    (2, 128): Tiles(Tile(64, 64, warps=8, stages=2), Tile(128, 64, warps=8, stages=2)),
    (2, 256): Tiles(Tile(32, 64, warps=8, stages=2), Tile(64, 32, warps=8, stages=2)),
}
TILES = {
    (2, 64): Tiles(Tile(32, 128, warps=8, stages=2), Tile(128, 32, warps=8, stages=2)),
    (2, 128): Tiles(Tile(32, 64, warps=8, stages=2), Tile(64, 32, warps=8, stages=2)),
    (2, 256): Tiles(Tile(16, 32, warps=8, stages=1), Tile(32, 16, warps=8, stages=1)),
    # Without tensor cores; the widest spill, and are there to be right.
    (4, 64): Tiles(Tile(32, 32, warps=8, stages=1), Tile(32, 32, warps=8, stages=1)),
    (4, 128): Tiles(Tile(16, 16, warps=8, stages=1), Tile(16, 16, warps=8, stages=1)),
    (4, 256): Tiles(Tile(16, 16, warps=8, stages=1), Tile(16, 16, warps=8, stages=1)),
}


def tiles_for(head_dim: int, itemsize: int, capability: tuple[int, int] = (0, 0)) -> Tiles:
    """The table's tiles for a head dimension up to 256, a 2- or 4-byte type and a CUDA compute capability."""
    key = (itemsize, next(limit for limit in (64, 128, 256) if head_dim <= limit))
    return {9: HOPPER_TILES, 10: BLACKWELL_TILES}.get(capability[0], TILES).get(key) or TILES[key]


def backward(
    do: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    *,
    causal: bool,
    scale: float,
    window: int | None = None,
    dlse: Tensor | None = None,
    cut: Tiles | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients dq, dk and dv, each of its input's shape and type.

    do, o: of q's shape; lse (batch, heads, N_q): what the forward pass returned for the same arguments.
    dlse: the gradient of the logsumexp, if it was used. A query that sees no key gets and gives no gradient.
    """
    if interpreter.enabled() and q.dtype == torch.bfloat16:
        found = backward(
            do.float(), q.float(), k.float(), v.float(), o.float(), lse,
            causal=causal, scale=scale, window=window, dlse=dlse, cut=cut,
        )  # fmt: skip
        return found[0].to(q.dtype), found[1].to(q.dtype), found[2].to(q.dtype)
    blind = Band.of(q.shape[2], k.shape[2], causal=causal, window=window).blind
    # P is 0 there, but 0 times a gradient that is not a number is none either.
    do = tiles.without(do, blind)
    dlse = None if dlse is None else tiles.without(dlse, blind).contiguous()
    do, q, k, v, o = (tiles.lined_up(x) for x in (do, q, k, v, o))
    dq, dk, dv = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
    launch(
        do, q, k, v, o, lse.contiguous(), dq, dk, dv,
        causal=causal, scale=scale, window=window, dlse=dlse, cut=cut,
    )  # fmt: skip
    return dq, dk, dv


def launch(
    do: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    dq: Tensor,
    dk: Tensor,
    dv: Tensor,
    *,
    causal: bool,
    scale: float,
    window: int | None = None,
    dlse: Tensor | None = None,
    cut: Tiles | None = None,
    workspace: Tensor | None = None,
) -> None:
    """Fill dq, dk and dv. Every last dimension must be contiguous, lse and dlse throughout.

    workspace: (2, batch, heads, N_q) in float32; made here unless given, and given only to be counted.
    """
    batch, heads, N_q, d = q.shape
    kv_heads, N_k = k.shape[1:3]
    if workspace is None:
        workspace = torch.empty(2, batch, heads, N_q, dtype=torch.float32, device=q.device)
    l2, delta = workspace
    capability = tiles.capability(q)
    cut = cut or tiles_for(d, q.element_size(), capability)
    described = tiles.has_copy_engine(capability) and q.element_size() == 2 and tiles.describable(do, q, k, v)
    columns = {"D": d, "TILE_D": padded(d)}
    problem = (scale, scale * math.log2(math.e), N_q, N_k, heads // kv_heads)
    band = Band.of(N_q, N_k, causal=causal, window=window).arguments()

    def strides(*tensors: Tensor) -> list[tuple[int, ...]]:
        return [x.stride()[:3] for x in tensors]

    def by_tiles(x: Tensor, rows: int) -> Any:
        """For what passes by. A descriptor costs the host microseconds, so what is handled once has none,
        but for K and V in the walk for their gradients, which needs the registers."""
        return tiles.descriptor(x, rows) if described else x

    with torch.cuda.device_of(q):
        if dq.numel():
            tile = cut.of_queries
            _on(_gradients_of_queries, triton.cdiv(N_q, tile.queries), heads, batch)(
                q, by_tiles(k, tile.keys), by_tiles(v, tile.keys), o, do, lse, lse if dlse is None else dlse,
                l2, delta, dq, *strides(q, k, v, o, do, dq), *problem,
                HAS_DL=dlse is not None, **band, DESCRIBED=described, **columns, **_shape(tile),
            )  # fmt: skip
        for tile, sum_dk, sum_dv in cut.walks_of_keys() if dk.numel() else ():
            _on(_gradients_of_keys, triton.cdiv(N_k, tile.keys), kv_heads, batch)(
                by_tiles(q, tile.queries), by_tiles(k, tile.keys), by_tiles(v, tile.keys),
                by_tiles(do, tile.queries), l2, delta, dk, dv,
                *strides(q, k, v, do, dk, dv), *problem, SUM_DK=sum_dk, SUM_DV=sum_dv, **band,
                DESCRIBED=described, **columns, **_shape(tile),
            )  # fmt: skip


def _shape(tile: Tile) -> dict[str, int]:
    return {
        "TILE_M": tile.queries,
        "TILE_N": tile.keys,
        "num_warps": tile.warps,
        "num_stages": tile.stages,
    }


def _on(kernel: Any, *grid: Any) -> Any:
    return kernel[grid]
