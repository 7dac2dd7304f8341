"""Bytes counted in the interpreter: equal to the formulas to the last one, tensor by tensor."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

from kernels import flash, four_kernels, interpreter
from kernels.flash import Tile
from kernels.measure import traffic
from kernels.measure.bytes import ELSEWHERE, counting
from kernels.measure.ledger import Ledger

PROBLEMS: list[dict[str, Any]] = [
    {"queries": 128, "keys": 128, "head_dim": 64},
    {"queries": 100, "keys": 77, "head_dim": 40},
    {"queries": 1, "keys": 130},
    {"queries": 130, "keys": 1},
    {"queries": 128, "keys": 128, "causal": True},
    {"queries": 100, "keys": 100, "causal": True},
    {"queries": 33, "keys": 100, "causal": True},
    {"queries": 100, "keys": 33, "causal": True},
    {"queries": 40, "keys": 50, "batch": 2, "heads": 4, "kv_heads": 2},
    {"queries": 40, "keys": 40, "heads": 3, "head_dim": 80, "causal": True},
]


def formula_of(case: Any, itemsize: int) -> traffic.Problem:
    return traffic.Problem(
        case.queries,
        case.keys,
        case.head_dim,
        itemsize,
        batch=case.batch,
        heads=case.heads,
        causal=case.causal,
    )


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize(
    "tile", [Tile(32, 32), Tile(64, 16), Tile(16, 64)], ids=lambda t: f"{t.queries}x{t.keys}"
)
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_tiled(problem: dict[str, Any], tile: Tile, dtype: str, shape: Any) -> None:
    case = shape(**problem)
    q, k, v = case.inputs(dtype)
    o, L = torch.empty_like(q), torch.empty(q.shape[:3])
    with counting(Q=q, K=k, V=v, O=o, L=L) as count:
        flash.launch(q, k, v, o, L, causal=case.causal, scale=1.0, tile=tile)
    expected = traffic.tiled(
        formula_of(case, q.element_size()), tile_rows=tile.queries, tile_columns=tile.keys
    )
    assert count.ledger == expected


@pytest.mark.parametrize("tile", [Tile(32, 32), Tile(64, 16)], ids=lambda t: f"{t.queries}x{t.keys}")
@pytest.mark.parametrize("problem", PROBLEMS, ids=str)
def test_standard(problem: dict[str, Any], tile: Tile, shape: Any) -> None:
    case = shape(**problem)
    q, k, v = case.inputs("float16")
    s = torch.empty(*q.shape[:3], case.keys, dtype=torch.float16)
    p, o = torch.empty_like(s), torch.empty_like(q)
    with counting(Q=q, K=k, V=v, S=s, P=p, O=o) as count:
        four_kernels.launch(q, k, v, s, p, o, causal=case.causal, scale=1.0, tile=tile)
    expected = traffic.standard(formula_of(case, 2), tile_rows=tile.queries, tile_columns=tile.keys)
    assert count.ledger == expected


@triton.jit
def _copy(X, OUT, N, SIZE: tl.constexpr):
    i = tl.program_id(0) * SIZE + tl.arange(0, SIZE)
    tl.store(OUT + i, tl.load(X + i, mask=i < N, other=0.0), mask=i < N)


@triton.jit
def _add_to(X, TOTAL, SIZE: tl.constexpr):
    i = tl.arange(0, SIZE)
    tl.atomic_add(TOTAL + i * 0, tl.load(X + i), mask=i < SIZE - 2)


@triton.jit
def _copy_by_descriptor(source, target):
    corner = tl.program_id(0)
    target.store([corner, corner], source.load([corner, corner]))


def test_lanes_that_are_masked_off_do_not_count() -> None:
    x, out = torch.ones(20), torch.zeros(20)
    with counting(x=x, out=out) as count:
        _copy[(2,)](x, out, 20, SIZE=16)
    assert count.ledger == Ledger({"x": 80}, {"out": 80})
    assert torch.equal(x, out)


def test_an_atomic_reads_and_writes() -> None:
    x, total = torch.ones(8), torch.zeros(1)
    with counting(x=x, total=total) as count:
        _add_to[(1,)](x, total, SIZE=8)
    assert count.ledger == Ledger({"x": 32, "total": 24}, {"total": 24})
    assert total.item() == 6


def test_descriptors_count_what_lies_inside() -> None:
    x, out = torch.ones(5, 12), torch.zeros(5, 12)
    with counting(x=x, out=out) as count:
        _copy_by_descriptor[(1,)](*(TensorDescriptor.from_tensor(tensor, [16, 16]) for tensor in (x, out)))
    assert count.ledger == Ledger({"x": 240}, {"out": 240})


def test_what_is_not_named_is_elsewhere() -> None:
    x, out = torch.ones(16), torch.zeros(16)
    with counting(out=out) as count:
        _copy[(1,)](x, out, 16, SIZE=16)
    assert count.ledger == Ledger({ELSEWHERE: 64}, {"out": 64})


def test_a_ledger_stays_as_it_was_and_nothing_counts_afterwards() -> None:
    x, out = torch.ones(16), torch.zeros(16)
    with counting(x=x, out=out) as count:
        _copy[(1,)](x, out, 16, SIZE=16)
        once = count.ledger
        _copy[(1,)](x, out, 16, SIZE=16)
    _copy[(1,)](x, out, 16, SIZE=16)
    assert once == Ledger({"x": 64}, {"out": 64})
    assert count.ledger == Ledger({"x": 128}, {"out": 128})


def test_nothing_counts_after_a_failure_either() -> None:
    x, out = torch.ones(16), torch.zeros(16)
    with pytest.raises(ZeroDivisionError), counting(x=x, out=out) as count:
        raise ZeroDivisionError
    _copy[(1,)](x, out, 16, SIZE=16)
    assert count.ledger == Ledger()


def test_counts_may_nest() -> None:
    x, out = torch.ones(16), torch.zeros(16)
    with counting(x=x, out=out) as outer:
        with counting(x=x, out=out) as inner:
            _copy[(1,)](x, out, 16, SIZE=16)
        _copy[(1,)](x, out, 16, SIZE=16)
    assert inner.ledger == Ledger({"x": 64}, {"out": 64})
    assert outer.ledger == Ledger({"x": 128}, {"out": 128})


def test_views_of_one_buffer_are_told_apart_and_overlaps_refused() -> None:
    buffer = torch.ones(32)
    with counting(x=buffer[:16], out=buffer[16:]) as count:
        _copy[(1,)](buffer[:16], buffer[16:], 16, SIZE=16)
    assert count.ledger == Ledger({"x": 64}, {"out": 64})
    with pytest.raises(ValueError, match="share memory"), counting(even=buffer[::2], odd=buffer[1::2]):
        pass


def test_a_count_without_names_or_without_the_interpreter_is_refused(monkeypatch: Any) -> None:
    with pytest.raises(ValueError, match="no tensor is named"), counting():
        pass
    monkeypatch.setattr(interpreter, "enabled", lambda: False)
    with pytest.raises(RuntimeError, match="interpreter"), counting(x=torch.ones(1)):
        pass
