"""The reference itself: against PyTorch's own attention, and where PyTorch's conventions differ."""

# ruff: noqa: E402 - torch may be missing
from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest

torch = pytest.importorskip("torch")

from kernels import standard

if TYPE_CHECKING:
    from torch import Tensor


def normal(*shape: int) -> Tensor:
    return torch.randn(*shape, generator=torch.Generator().manual_seed(sum(shape)), dtype=torch.float64)


@pytest.mark.parametrize("causal", [False, True])
def test_it_is_what_pytorch_computes(causal: bool) -> None:
    q, k, v = normal(2, 3, 20, 8), normal(2, 3, 20, 8).flip(2), normal(2, 3, 20, 8).flip(3)
    o, _ = standard.attention(q, k, v, causal=causal, scale=8**-0.5)
    expected = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    torch.testing.assert_close(o, expected, rtol=1e-12, atol=1e-12)


def test_grouped_heads_share_keys_in_runs() -> None:
    q, k, v = normal(1, 4, 5, 8), normal(1, 2, 6, 8), normal(1, 2, 6, 8).flip(2)
    o, _ = standard.attention(q, k, v, causal=False, scale=1.0)
    for head, shared in enumerate((0, 0, 1, 1)):
        alone, _ = standard.attention(
            q[:, head : head + 1],
            k[:, shared : shared + 1],
            v[:, shared : shared + 1],
            causal=False,
            scale=1.0,
        )
        torch.testing.assert_close(o[:, head : head + 1], alone)


def test_causal_is_aligned_at_the_bottom_right() -> None:
    assert standard.visible(2, 4, causal=True).tolist() == [[True, True, True, False], [True] * 4]
    assert standard.visible(4, 2, causal=True).sum(-1).tolist() == [0, 0, 1, 2]
    assert standard.visible(2, 3, causal=False).all()


def test_logsumexp_is_of_the_scaled_scores() -> None:
    q, k, v = normal(1, 1, 3, 4), normal(1, 1, 5, 4), normal(1, 1, 5, 4)
    _, lse = standard.attention(q, k, v, causal=False, scale=0.5)
    torch.testing.assert_close(lse, (0.5 * q @ k.transpose(-1, -2)).exp().sum(-1).log())


def test_a_query_without_a_key_gives_zero_and_no_gradient() -> None:
    q, k, v = (normal(1, 1, n, 4).requires_grad_() for n in (5, 3, 3))
    o, lse = standard.attention(q, k, v, causal=True, scale=0.5)
    assert (o[0, 0, :2] == 0).all()
    assert (lse[0, 0, :2] == -math.inf).all()
    assert torch.isfinite(lse[0, 0, 2:]).all()
    dq, dk, dv = torch.autograd.grad(o.sum(), (q, k, v))
    assert (dq[0, 0, :2] == 0).all()
    assert all(torch.isfinite(x).all() for x in (dq, dk, dv))


def test_no_key_at_all() -> None:
    o, lse = standard.attention(
        normal(1, 2, 3, 4), normal(1, 2, 0, 4), normal(1, 2, 0, 4), causal=False, scale=1.0
    )
    assert (o == 0).all()
    assert (lse == -math.inf).all()


def test_half_precision_stores_half_precision() -> None:
    """The scores overflow in float16, which tiled attention avoids: that is what this reference is for."""
    q = torch.full((1, 1, 2, 4), 200.0, dtype=torch.float16)
    o, lse = standard.attention(q, q, q, causal=False, scale=0.5)
    assert o.dtype == torch.float16
    assert lse.dtype == torch.float32
    assert torch.isnan(o).all()
