"""Where the entries of a tile lie: addresses only, nothing is read."""

# The bodies of jitted functions are Triton's language: its loops and tuples are not Python's.
# pyright: reportGeneralTypeIssues=false

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl

from kernels import tiles

ROWS, COLUMNS = 64, 16


@triton.jit
def _places(X, OUT, strides, batch, head, first, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    pointers, inside = tiles._entries(X, strides, batch, head, first, first + ROWS, COLUMNS, COLUMNS, ROWS)
    out = OUT + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out, pointers.to(tl.int64) - X.to(tl.int64), mask=inside)


@pytest.mark.parametrize(
    ("strides", "batch", "head", "first"),
    [
        ((2**31 - 16, 16, 16), 3, 0, 0),
        ((16, 2**31 - 16, 16), 0, 3, 0),
        ((16, 16, 2**25), 0, 0, 1000),  # the first row of the tile is beyond 2³¹
        ((16, 16, 2**31 - 16), 0, 0, 0),  # and here its second row but one
        ((2**31 - 16, 2**31 - 16, 2**31 - 16), 65534, 65534, 2**31 - 1 - ROWS),
    ],
)
def test_a_tile_may_lie_anywhere(strides: tuple[int, int, int], batch: int, head: int, first: int) -> None:
    x = torch.zeros(1, dtype=torch.float16)
    found = torch.zeros(ROWS, COLUMNS, dtype=torch.int64)
    kernel: Any = _places[1,]
    kernel(x, found, strides, batch, head, first, ROWS, COLUMNS)
    a, b, c = strides
    row, column = torch.arange(ROWS)[:, None], torch.arange(COLUMNS)[None, :]
    assert torch.equal(found, 2 * (batch * a + head * b + (first + row) * c + column))
