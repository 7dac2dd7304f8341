"""What the tiled kernels share: how the work is cut, how a tile comes from memory, which keys a query sees.

Which query sees which key is always a band around a diagonal. Query i sees the keys j with

    i + low <= j <= i + high

and either side may be open. With shift = N_k - N_q, so that the last query stands on the last key:

    causal                     high = shift
    a window of w              low = shift - w, and high = shift + w unless causal sets it

So a window of w is w keys before the query's own place, and its own.

Read the other way round it says which queries see key j: those from j - high to j - low. So one function,
`edges`, tells the forward pass which keys to visit and the backward pass which queries.
"""

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

LINE = 16  # bytes of the widest load of a thread, and the alignment that tensor descriptors ask for


@dataclass(frozen=True, slots=True)
class Tile:
    """How the work is cut: queries and keys a tile, warps a program, tiles in flight."""

    queries: int
    keys: int
    warps: int = 4
    stages: int = 2


@dataclass(frozen=True, slots=True)
class Band:
    """The keys that query i sees: from i + low to i + high; None leaves a side open."""

    low: int | None
    high: int | None

    @classmethod
    def of(cls, queries: int, keys: int, *, causal: bool, window: int | None) -> Band:
        """`window` counts the keys before the query's own place, and unless causal as many after it."""
        shift = keys - queries
        if window is not None:
            window = min(window, queries + keys)  # wider sees no more, and bounds are kept in 32 bits
        ahead = 0 if causal else window
        return cls(None if window is None else shift - window, None if ahead is None else shift + ahead)

    @property
    def blind(self) -> int:
        """How many queries, the first ones, see no key."""
        return 0 if self.high is None else max(0, -self.high)

    def arguments(self) -> dict[str, Any]:
        """As the kernels take it: bounds at run time; whether there are any, when compiling."""
        return {
            "low": self.low or 0,
            "high": self.high or 0,
            "LOW": self.low is not None,
            "HIGH": self.high is not None,
        }


@triton.jit
def edges(
    first, low, high, length,
    ROWS: tl.constexpr, STEP: tl.constexpr, LOW: tl.constexpr, HIGH: tl.constexpr,
):  # fmt: skip
    """Where the tiles that rows `first` … `first + ROWS - 1` meet begin and end, among `length` columns.

    Four columns. Between the second and the third lie tiles that every row sees in full, which need no mask;
    before and behind them tiles that the band or the end of the columns cuts. Tiles of `STEP` columns.
    """
    # What a row sees moves right with the row: the first row's begins first, the last row's ends last.
    begin = 0
    whole = 0
    cut = length
    stop = length
    if LOW:
        begin = tl.maximum(first + low, 0) // STEP * STEP
        whole = tl.cdiv(tl.maximum(first + ROWS - 1 + low, 0), STEP) * STEP
    if HIGH:
        cut = tl.maximum(tl.minimum(first + 1 + high, length), 0)
        stop = tl.maximum(tl.minimum(first + ROWS + high, length), 0)
    whole = tl.minimum(whole, stop)
    return begin, whole, tl.maximum(cut // STEP * STEP, whole), stop


@triton.jit
def in_band(x, i, j, low, high, otherwise, LOW: tl.constexpr, HIGH: tl.constexpr):
    """x where query i sees key j by the band, `otherwise` elsewhere. One of i, j is a row, one a column."""
    if LOW:
        x = tl.where(j >= i + low, x, otherwise)
    if HIGH:
        x = tl.where(j <= i + high, x, otherwise)
    return x


@triton.jit
def load(
    X, strides, batch, head, first, length,
    D: tl.constexpr, TILE_D: tl.constexpr, ROWS: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """Rows from `first` on of one head, as a (ROWS, TILE_D) tile. What juts out of the tensor is read as 0.

    For speed alone there are two ways: by a descriptor the copy engine of Hopper and later fetches the whole
    tile, which spares the threads their registers for addresses; by pointers every chip can.
    """
    if DESCRIBED:
        tile = X.load([batch, head, first, 0]).reshape(ROWS, TILE_D)
    else:
        pointers, inside = _entries(X, strides, batch, head, first, length, D, TILE_D, ROWS)
        tile = tl.load(pointers, mask=inside, other=0.0)
    return tile


@triton.jit
def store(
    X, tile, strides, batch, head, first, length,
    D: tl.constexpr, TILE_D: tl.constexpr, ROWS: tl.constexpr, DESCRIBED: tl.constexpr,
):  # fmt: skip
    """The inverse of `load`, in the tensor's type. What juts out is dropped."""
    if DESCRIBED:
        X.store([batch, head, first, 0], tile.to(X.dtype).reshape(1, 1, ROWS, TILE_D))
    else:
        pointers, inside = _entries(X, strides, batch, head, first, length, D, TILE_D, ROWS)
        tl.store(pointers, tile.to(X.dtype.element_ty), mask=inside)


@triton.jit
def _entries(
    X, strides, batch, head, first, length, D: tl.constexpr, TILE_D: tl.constexpr, ROWS: tl.constexpr
):
    X += tl.cast(batch, tl.int64) * strides[0] + tl.cast(head, tl.int64) * strides[1]
    row = first + tl.arange(0, ROWS)[:, None]
    column = tl.arange(0, TILE_D)[None, :]  # a tile's sides are powers of two
    # In 64 bits, as everywhere: a tensor may have more than 2³¹ elements, even between two rows of a tile.
    return X + tl.cast(row, tl.int64) * strides[2] + column, (row < length) & (column < D)


def without(x: Tensor, blind: int) -> Tensor:
    """x (batch, heads, N_q, …) with 0 for the first `blind` queries, copied only if there are any."""
    if blind:
        x = x.clone()
        x[:, :, :blind] = 0
    return x


def with_positive_scale(q: Tensor, scale: float) -> tuple[Tensor, float]:
    """q and a scale for the same scores, for kernels that look for the largest score before they scale.

    What float32 has no full precision for counts as 0: a product of it and -inf would be NaN.
    """
    if abs(scale) < torch.finfo(torch.float32).tiny:
        return q * 0, 1.0
    return (q, scale) if scale > 0 else (-q, -scale)


def padded(head_dim: int) -> int:
    """Columns of a tile: the next power of two, and at least the 16 that a matrix product takes."""
    return max(16, 1 << (head_dim - 1).bit_length())


def lined_up(x: Tensor) -> Tensor:
    """x, or a copy of it where rows are not contiguous or do not all begin at a multiple of 16 bytes.

    A head dimension that is no multiple of 16 bytes itself cannot be helped, and is read element by element.
    """
    if x.stride(-1) == 1 and (_lines(x) or x.shape[-1] * x.element_size() % LINE):
        return x
    return x.clone(memory_format=torch.contiguous_format)


def output_for(q: Tensor) -> Tensor:
    """An empty tensor like q, laid out as q is, but dense and with contiguous rows."""
    o = torch.empty_like(q)
    # Also where windows of q overlap, and PyTorch makes up a layout that is dense.
    return o if o.stride(-1) == 1 else q.new_empty(q.shape)


def describable(*tensors: Tensor) -> bool:
    """Whether the copy engine can read and write these (batch, heads, N, d): lined up, and no stride of 0."""
    return all(x.stride(-1) == 1 and x.numel() > 0 and _lines(x) and 0 not in _strides(x) for x in tensors)


def descriptor(x: Tensor, rows: int) -> Any:
    """Tiles of `rows` rows of one head of x (batch, heads, N, d), for the copy engine."""
    from triton.tools.tensor_descriptor import TensorDescriptor

    return TensorDescriptor(x, list(x.shape), _strides(x), [1, 1, rows, padded(x.shape[-1])])


def _lines(x: Tensor) -> bool:
    size = x.element_size()
    a, b, c, _ = _strides(x)
    return x.data_ptr() % LINE == a * size % LINE == b * size % LINE == c * size % LINE == 0


def _strides(x: Tensor) -> list[int]:
    """Strides in elements; where a dimension is 1 long its stride is never used and may be anything."""
    if 1 not in x.shape:
        return list(x.stride())
    unused = math.lcm(LINE, x.shape[-1])
    return [stride if n > 1 else unused for n, stride in zip(x.shape[:-1], x.stride(), strict=False)] + [1]


def capability(x: Tensor) -> tuple[int, int]:
    """The CUDA compute capability of the tensor's device; (0, 0) on the CPU."""
    return torch.cuda.get_device_capability(x.device) if x.is_cuda else (0, 0)


def has_copy_engine(capability: tuple[int, int]) -> bool:
    """Whether tiles should come by descriptor: Hopper and data-centre Blackwell."""
    return capability[0] in (9, 10)
