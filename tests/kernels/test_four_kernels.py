"""Standard attention as four kernels: the same answer, and every stored matrix what it should be."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels import four_kernels, standard
from kernels.flash import Tile

SMALL = Tile(queries=32, keys=16)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize(
    "problem",
    [
        {"queries": 33, "keys": 47, "head_dim": 40},
        {"queries": 50, "keys": 50, "causal": True},
        {"queries": 40, "keys": 25, "causal": True},
        {"queries": 20, "keys": 30, "batch": 2, "heads": 4, "kv_heads": 2},
    ],
    ids=str,
)
def test_it_matches_float64(problem: dict[str, Any], dtype: str, shape: Any) -> None:
    case = shape(**problem)
    q, k, v = case.inputs(dtype)
    truth, _ = standard.attention(q.double(), k.double(), v.double(), causal=case.causal, scale=0.2)
    o = four_kernels.forward(q, k, v, causal=case.causal, scale=0.2, tile=SMALL)
    assert o.dtype == q.dtype
    # Half precision rounds S twice, P and O.
    assert (o.double() - truth).norm() / truth.norm() <= (1e-6 if dtype == "float32" else 1e-3)


def test_what_it_stores(shape: Any) -> None:
    q, k, v = shape(20, 30).inputs()
    s, p, o = torch.full((1, 1, 20, 30), math.nan), torch.full((1, 1, 20, 30), math.nan), torch.empty_like(q)
    four_kernels.launch(q, k, v, s, p, o, causal=True, scale=0.2, tile=SMALL)
    hidden = ~standard.visible(20, 30, causal=True)
    expected = (0.2 * q @ k.transpose(-1, -2)).masked_fill(hidden, -math.inf)
    torch.testing.assert_close(s, expected)
    torch.testing.assert_close(p, torch.softmax(expected, -1))


def test_queries_without_a_key_are_exactly_zero(shape: Any) -> None:
    o = four_kernels.forward(*shape(40, 25).inputs(), causal=True, scale=0.2, tile=SMALL)
    assert (o[..., :15, :] == 0).all()


def test_strided_inputs_are_copied(shape: Any) -> None:
    q, k, v = shape(20, 30, heads=2, kv_heads=2).inputs()
    views = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    expected = four_kernels.forward(q, k, v, causal=False, scale=0.2, tile=SMALL)
    assert torch.equal(four_kernels.forward(*views, causal=False, scale=0.2, tile=SMALL), expected)


def test_bfloat16_is_refused_where_it_would_be_wrong(shape: Any) -> None:
    with pytest.raises(ValueError, match="q is bfloat16"):
        four_kernels.forward(*shape(8, 8).inputs("bfloat16"), causal=False, scale=1.0)
