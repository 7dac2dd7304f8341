"""Split-KV decoding in Triton: few queries, many keys, and every multiprocessor busy.

A step of decoding asks one new query of each head for all the keys of a cache. The arithmetic is nothing, the
time is that of reading K and V once. `flash.py` gives a program a tile of queries, so here it would start one
program a head: a handful, on a chip that needs hundreds to draw its full bandwidth. So the keys are split
instead. Each program takes some of the keys of one head and leaves what it has learnt, its output o and
logsumexp L; a second kernel merges them. That is `online_softmax.merge` with (m, l, o) = (L, 1, o): a
finished output is a summary whose sum is 1 on the reference L.

    L = max over the parts        l = Σ exp(L_part - L)        o = Σ exp(L_part - L) o_part / l

Query heads that share a head of K and V are packed as the rows of one tile, so K and V are read once for all
of them, and the matrix unit, which multiplies 16 rows at a time, is not left with one.

With e bytes an element, S splits and R = group · N_q rows, each head of K and V asks memory for

    e · (2 N_k d  +  S R d  +  R d)  +  4 · R  +  4 · S R (2 d + 2)      the last term only if S > 1
    K and V once, Q for each split, O; L; and in 32 bits each part's o and L written and read

Dao, Haziza, Massa & Sizov 2023 (Flash-Decoding); pages: Kwon et al. 2023 (arXiv 2309.06180).
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
from kernels.tiles import padded

MOST_ROWS = 64
"""Query rows for each head of K and V, N_q · group, that decoding takes; with more `flash.py` has enough."""

MOST_SPLITS = 128


@triton.jit
def _part(
    Q, K, V, O, L, TABLE, LENGTHS,
    q_strides, k_strides, v_strides,  # elements from one (batch or page, head, row) to the next
    o_strides,  # of the parts: (split, batch, head, row); those of L are these over the length of a row
    scale_log2, N_q, N_k, group, table_width, keys_a_split,
    CAUSAL: tl.constexpr, PAGE: tl.constexpr,
    D: tl.constexpr, TILE_D: tl.constexpr, ROWS: tl.constexpr, TILE_N: tl.constexpr,
):  # fmt: skip
    """What one split of the keys says to all queries of one head of K and V."""
    split = tl.program_id(0)
    kv_head = tl.program_id(1).to(tl.int64)
    batch = tl.program_id(2).to(tl.int64)
    if PAGE:
        N_k = tl.load(LENGTHS + batch)
        TABLE += batch * table_width
    else:
        K += batch * k_strides[0]
        V += batch * v_strides[0]
    K += kv_head * k_strides[1]
    V += kv_head * v_strides[1]

    row = tl.arange(0, ROWS)  # a row is one query of one head; heads change fastest
    i = row // group
    head = kv_head * group + row % group
    column = tl.arange(0, TILE_D)[None, :]
    in_q = (i < N_q)[:, None] & (column < D)
    q_row = batch * q_strides[0] + head * q_strides[1] + i * q_strides[2]
    q = tl.load(Q + q_row[:, None] + column, mask=in_q, other=0.0)
    m = tl.full((ROWS,), float("-inf"), tl.float32)
    l = tl.zeros((ROWS,), tl.float32)
    o = tl.zeros((ROWS, TILE_D), tl.float32)

    begin = split * keys_a_split
    for start in range(begin, tl.minimum(begin + keys_a_split, N_k), TILE_N):
        j = start + tl.arange(0, TILE_N)
        in_k = (j < N_k)[:, None] & (column < D)
        if PAGE:
            if PAGE % TILE_N == 0:  # for speed alone: the whole tile lies in one page
                page = tl.load(TABLE + start // PAGE).to(tl.int64)
            else:
                page = tl.load(TABLE + j // PAGE, mask=j < N_k, other=0).to(tl.int64)
            k_row = page * k_strides[0] + j % PAGE * k_strides[2]
            v_row = page * v_strides[0] + j % PAGE * v_strides[2]
        else:
            k_row = j.to(tl.int64) * k_strides[2]
            v_row = j.to(tl.int64) * v_strides[2]
        k = tl.load(K + k_row[:, None] + column, mask=in_k, other=0.0)
        v = tl.load(V + v_row[:, None] + column, mask=in_k, other=0.0)
        s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale_log2
        seen = (j < N_k)[None, :]
        if CAUSAL:
            seen = seen & (j[None, :] <= (i + N_k - N_q)[:, None])
        s = tl.where(seen, s, float("-inf"))
        # The step of `flash.py`, with the same care for queries that have seen no key yet.
        m_new = tl.maximum(m, tl.max(s, 1))
        reference = tl.where(m_new == float("-inf"), 0.0, m_new)
        alpha = tl.exp2(m - reference)
        p = tl.exp2(s - reference[:, None])
        l = alpha * l + tl.sum(p, 1)
        o = tl.dot(p.to(v.dtype), v, alpha[:, None] * o, input_precision="ieee")
        m = m_new

    l = tl.where(l == 0.0, 1.0, l)
    o_row = split * o_strides[0] + batch * o_strides[1] + head * o_strides[2] + i * o_strides[3]
    tl.store(O + o_row[:, None] + column, (o / l[:, None]).to(O.dtype.element_ty), mask=in_q)
    LN_2: tl.constexpr = 0.6931471805599453
    l_row = ((split * tl.num_programs(2) + batch) * tl.num_programs(1) * group + head) * N_q + i
    tl.store(L + l_row, (m + tl.log2(l)) * LN_2, mask=i < N_q)


@triton.jit
def _merge(
    PARTS, PART_LS, O, L, o_strides, rows, heads, N_q, splits,
    D: tl.constexpr, TILE_D: tl.constexpr, STEP: tl.constexpr,
):  # fmt: skip
    """`online_softmax.merge` over the parts of one row, STEP parts at a time."""
    row = tl.program_id(0).to(tl.int64)
    column = tl.arange(0, TILE_D)
    m = float("-inf")
    l = 0.0
    o = tl.zeros((TILE_D,), tl.float32)
    for first in range(0, splits, STEP):
        part = first + tl.arange(0, STEP)
        entry = part * rows + row
        part_ls = tl.load(PART_LS + entry, mask=part < splits, other=float("-inf"))
        inside = (part < splits)[:, None] & (column < D)[None, :]
        part_os = tl.load(PARTS + entry[:, None] * D + column[None, :], mask=inside, other=0.0)
        m_new = tl.maximum(m, tl.max(part_ls, 0))
        reference = tl.where(m_new == float("-inf"), 0.0, m_new)
        alpha = tl.exp(m - reference)
        weights = tl.exp(part_ls - reference)
        l = alpha * l + tl.sum(weights, 0)
        o = alpha * o + tl.sum(weights[:, None] * part_os, 0)
        m = m_new

    l = tl.where(l == 0.0, 1.0, l)
    i, head, batch = row % N_q, row // N_q % heads, row // N_q // heads
    O += batch * o_strides[0] + head * o_strides[1] + i * o_strides[2]
    tl.store(O + column, (o / l).to(O.dtype.element_ty), mask=column < D)
    tl.store(L + row, m + tl.log(l))


def splits_for(heads: int, steps: int, slots: int) -> int:
    """Into how many parts to split the keys of each of `heads` heads of K and V, over the whole batch.

    steps: tiles of keys a head; slots: programs that the device runs at once. With s parts the programs run
    in ⌈heads · s / slots⌉ waves, each as long as one part, ⌈steps / s⌉ steps, and about two more to begin
    and to be merged. The fewest parts of those that take least.
    """
    return min(
        range(1, max(1, min(steps, MOST_SPLITS)) + 1),
        key=lambda s: math.ceil(heads * s / slots) * (math.ceil(steps / s) + 2),
    )


def forward(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float, splits: int | None = None
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp, as `flash.forward` computes them, for at most MOST_ROWS rows a head of k.

    splits: parts of the keys; by `splits_for` unless given.
    """
    return _attend(q, k, v, None, None, k.shape[2], causal=causal, scale=scale, splits=splits)


def paged(
    q: Tensor,
    k_pages: Tensor,
    v_pages: Tensor,
    block_table: Tensor,
    lengths: Tensor,
    *,
    causal: bool,
    scale: float,
    splits: int | None = None,
) -> tuple[Tensor, Tensor]:
    """The same over a cache in pages: no sequence has to lie in one piece, or be as long as another.

    k_pages, v_pages: (pages, page_size, kv_heads, d). block_table: (batch, width); key j of sequence b is row
    j % page_size of page block_table[b, j // page_size]. lengths: (batch,), the keys of each sequence; what
    the table holds behind them is not looked at. Both int32, on q's device. ValueError where they do not fit.
    """
    _check_pages(q, k_pages, v_pages, block_table, lengths)
    k, v = k_pages.transpose(1, 2), v_pages.transpose(1, 2)
    longest = block_table.shape[1] * k_pages.shape[1]
    return _attend(
        q, k, v, block_table.contiguous(), lengths.contiguous(), longest,
        causal=causal, scale=scale, splits=splits,
    )  # fmt: skip


def _check_pages(q: Tensor, k_pages: Tensor, v_pages: Tensor, block_table: Tensor, lengths: Tensor) -> None:
    for name, x in (("k_pages", k_pages), ("v_pages", v_pages)):
        if x.dim() != 4 or x.shape[3] != q.shape[3] or x.shape != k_pages.shape or x.dtype != q.dtype:
            raise ValueError(
                f"{name} is {tuple(x.shape)} of {x.dtype}; it must be (pages, page_size, kv_heads,"
                f" {q.shape[3]}) of {q.dtype}, and k_pages like v_pages"
            )
    if k_pages.shape[2] == 0 or q.shape[1] % k_pages.shape[2]:
        raise ValueError(f"k_pages has {k_pages.shape[2]} heads, which does not divide the {q.shape[1]} of q")
    for name, x, dimensions in (("block_table", block_table, 2), ("lengths", lengths, 1)):
        if x.dim() != dimensions or x.shape[0] != q.shape[0] or x.dtype != torch.int32:
            shape = ", ".join([str(q.shape[0]), "width"][:dimensions])
            raise ValueError(f"{name} is {tuple(x.shape)} of {x.dtype}; it must be ({shape}) of torch.int32")


def _attend(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    table: Tensor | None,
    lengths: Tensor | None,
    N_k: int,
    *,
    causal: bool,
    scale: float,
    splits: int | None,
) -> tuple[Tensor, Tensor]:
    if interpreter.enabled() and q.dtype == torch.bfloat16:
        o, L = _attend(
            q.float(), k.float(), v.float(), table, lengths, N_k, causal=causal, scale=scale, splits=splits
        )
        return o.to(q.dtype), L
    o = tiles.output_for(q)
    q, k, v = (x if x.stride(-1) == 1 else x.contiguous() for x in (q, k, v))
    batch, heads, N_q, d = q.shape
    kv_heads = k.shape[1]
    group = heads // kv_heads
    if splits is not None and splits < 1:
        raise ValueError(f"splits is {splits}; the keys need one part at least")
    if N_q * group > MOST_ROWS:
        raise ValueError(f"q has {N_q * group} rows for each head of k; decoding takes at most {MOST_ROWS}")
    L = torch.empty(q.shape[:3], dtype=torch.float32, device=q.device)
    if o.numel() == 0:
        return o, L

    tile = _keys_a_tile(d, q.element_size())
    steps = math.ceil(N_k / tile)
    splits = splits or splits_for(batch * kv_heads, steps, _slots(q))
    parts, part_Ls = o[None], L[None]
    if splits > 1:
        parts = torch.empty(splits, *q.shape, dtype=torch.float32, device=q.device)
        part_Ls = torch.empty(splits, *q.shape[:3], dtype=torch.float32, device=q.device)
    with torch.cuda.device_of(q):
        _on(_part, splits, kv_heads, batch)(
            q, k, v, parts, part_Ls, table, lengths,
            q.stride()[:3], k.stride()[:3], v.stride()[:3], parts.stride()[:4],
            scale * math.log2(math.e), N_q, N_k, group, 0 if table is None else table.shape[1],
            math.ceil(steps / splits) * tile,
            CAUSAL=causal, PAGE=0 if table is None else k.shape[2],
            D=d, TILE_D=padded(d), ROWS=max(16, triton.next_power_of_2(N_q * group)), TILE_N=tile,
            num_warps=4, num_stages=_stages(tiles.capability(q), paged=table is not None),
        )  # fmt: skip
        if splits > 1:
            _on(_merge, batch * heads * N_q)(
                parts, part_Ls, o, L, o.stride()[:3], batch * heads * N_q, heads, N_q, splits,
                D=d, TILE_D=padded(d), STEP=32, num_warps=4,
            )  # fmt: skip
    return o, L


def _keys_a_tile(head_dim: int, itemsize: int) -> int:
    """16 KB each of K and V in half precision; without a matrix unit, in float32, registers are the limit."""
    return max(16, 8192 // padded(head_dim)) if itemsize == 2 else 16


def _stages(capability: tuple[int, int], *, paged: bool) -> int:
    """So that three tiles of K and V, 96 KB, are on their way, or two on cards that have 99 KB in all.

    A tile takes a stage to come and the last stage uses it; a tile that is found through a table takes two.
    """
    on_their_way = 3 if capability in ((8, 0), (9, 0), (10, 0), (10, 3)) else 2
    return (2 if paged else 1) * on_their_way + 1


def _slots(x: Tensor) -> int:
    """Programs at once, one a multiprocessor: more would not draw more bandwidth, and leave more to merge."""
    return torch.cuda.get_device_properties(x.device).multi_processor_count if x.is_cuda else 8


def _on(kernel: Any, *grid: int) -> Any:
    return kernel[grid]
