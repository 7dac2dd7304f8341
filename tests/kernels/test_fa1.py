"""FlashAttention-1's loop order: the same answer, other bytes."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels import flash, flash_fa1
from kernels.measure.bytes import counting
from kernels.measure.ledger import Ledger
from kernels.tiles import Tile

SMALL = Tile(queries=32, keys=16)

CASES: list[dict[str, Any]] = [
    {"queries": 64, "keys": 64},
    {"queries": 33, "keys": 47, "head_dim": 40},
    {"queries": 40, "keys": 70, "causal": True},
    {"queries": 70, "keys": 40, "causal": True},
    {"queries": 20, "keys": 30, "batch": 2, "heads": 4, "kv_heads": 2, "causal": True},
    {"queries": 1, "keys": 1},
    {"queries": 5, "keys": 0},
]


@pytest.mark.parametrize("problem", CASES, ids=str)
def test_it_equals_flash(problem: dict[str, Any], shape: Any) -> None:
    case = shape(**problem)
    q, k, v = case.inputs()
    expected, lse = flash.forward(q, k, v, causal=case.causal, scale=0.2, tile=SMALL)
    o, L = flash_fa1.forward(q, k, v, causal=case.causal, scale=0.2, tile=SMALL)
    torch.testing.assert_close(o, expected, rtol=0, atol=2e-6)
    torch.testing.assert_close(L, lse, rtol=0, atol=1e-5)


@pytest.mark.parametrize(("dtype", "tolerance"), [("float16", 1e-3), ("bfloat16", 1e-2)])
def test_half_precision_rounds_at_every_step(dtype: str, tolerance: float, shape: Any) -> None:
    q, k, v = shape(40, 64).inputs(dtype)
    exact, _ = flash.forward(q.float(), k.float(), v.float(), causal=False, scale=0.2)
    o, _ = flash_fa1.forward(q, k, v, causal=False, scale=0.2, tile=SMALL)
    assert o.dtype == q.dtype
    assert float((o.float() - exact).norm() / exact.norm()) <= tolerance


@pytest.mark.parametrize(("n", "d", "total"), [(64, 32, 34_816), (128, 64, 135_168), (200, 64, 371_200)])
def test_bytes_equal_the_formula(n: int, d: int, total: int, shape: Any) -> None:
    width = 32 if n == 64 else 64
    q, k, v = shape(n, n, head_dim=d).inputs("float16")
    o, m, l = torch.zeros_like(q), torch.full((1, 1, n), -math.inf), torch.zeros(1, 1, n)  # noqa: E741
    with counting(Q=q, K=k, V=v, O=o, M=m, L=l) as count:
        flash_fa1.launch(q, k, v, o, m, l, causal=False, scale=0.2, tile=Tile(width, width))
    rows, steps = 2 * n * d, -(-n // width)
    assert count.ledger == Ledger(
        read={
            "Q": rows * steps,
            "K": rows,
            "V": rows,
            "O": rows * steps,
            "M": 4 * n * steps,
            "L": 4 * n * steps,
        },
        written={"O": rows * steps, "M": 4 * n * steps, "L": 4 * n * steps},
    )
    assert count.ledger.total == 2 * (2 * n * d + 3 * n * d * steps) + 16 * n * steps == total


def test_keys_may_come_in_two_calls(shape: Any) -> None:
    q, k, v = shape(20, 50).inputs()
    whole, _ = flash_fa1.forward(q, k, v, causal=False, scale=0.2, tile=SMALL)
    o, m, l = torch.zeros_like(q), torch.full((1, 1, 20), -math.inf), torch.zeros(1, 1, 20)  # noqa: E741
    for some in (slice(0, 32), slice(32, 50)):
        flash_fa1.launch(q, k[:, :, some], v[:, :, some], o, m, l, causal=False, scale=0.2, tile=SMALL)
    torch.testing.assert_close(o, whole)
