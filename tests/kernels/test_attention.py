"""The front door: who computes, and what is refused by name."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

import math
from typing import Any

import pytest

torch = pytest.importorskip("torch")

from kernels import interpreter, standard
from kernels.attention import attention


def zeros(*shape: int, dtype: Any = torch.float32) -> Any:
    return torch.zeros(shape, dtype=dtype)


@pytest.mark.parametrize("impl", ["standard", "flash", "auto"])
def test_every_implementation_gives_the_same(impl: Any, shape: Any) -> None:
    if impl == "flash":
        pytest.importorskip("triton")
    q, k, v = shape(20, 33, head_dim=24, batch=2, heads=4, kv_heads=2).inputs()
    expected, lse = standard.attention(q.double(), k.double(), v.double(), causal=True, scale=24**-0.5)
    o, L = attention(q, k, v, causal=True, impl=impl, return_lse=True)
    torch.testing.assert_close(o.double(), expected, rtol=0, atol=1e-5)
    torch.testing.assert_close(L.double(), lse, rtol=0, atol=1e-5)
    assert torch.equal(attention(q, k, v, causal=True, impl=impl), o)


def test_the_scale_is_one_over_the_root_of_d_unless_given(shape: Any) -> None:
    q, k, v = shape(5, 6, head_dim=16).inputs()
    assert torch.equal(attention(q, k, v), attention(q, k, v, scale=0.25))
    assert not torch.equal(attention(q, k, v), attention(q, k, v, scale=0.5))


def test_auto_falls_back_to_what_can_do_it(shape: Any) -> None:
    q, k, v = shape(5, 6).inputs("float64")
    assert attention(q, k, v).dtype == torch.float64
    wide = shape(5, 6, head_dim=300).inputs()
    assert attention(*wide).shape == (1, 1, 5, 300)


def test_a_gradient_takes_the_differentiable_path(shape: Any) -> None:
    q, k, v = (x.requires_grad_() for x in shape(5, 6).inputs())
    attention(q, k, v).sum().backward()
    assert q.grad is not None
    with torch.no_grad():
        assert not attention(q, k, v).requires_grad


def test_without_the_interpreter_auto_is_plain_torch(monkeypatch: Any, shape: Any) -> None:
    pytest.importorskip("triton")
    monkeypatch.setattr(interpreter, "enabled", lambda: False)
    q, k, v = shape(5, 6).inputs()
    assert torch.equal(attention(q, k, v), attention(q, k, v, impl="standard"))
    with pytest.raises(ValueError, match="interpreter is off"):
        attention(q, k, v, impl="flash")


GOOD = {"q": (2, 4, 5, 8), "k": (2, 2, 6, 8), "v": (2, 2, 6, 8)}


@pytest.mark.parametrize(
    ("name", "shape", "complaint"),
    [
        ("q", (4, 5, 8), "q has 3 dimensions"),
        ("k", (2, 2, 6, 8, 1), "k has 5 dimensions"),
        ("k", (3, 2, 6, 8), "k has a batch of 3"),
        ("v", (1, 2, 6, 8), "v has a batch of 1"),
        ("k", (2, 2, 6, 4), "k has head dimension 4"),
        ("v", (2, 2, 6, 16), "v has head dimension 16"),
        ("k", (2, 2, 7, 8), r"v has \(heads, N\) of \(2, 6\), but k has \(2, 7\)"),
        ("v", (2, 1, 6, 8), r"v has \(heads, N\) of \(1, 6\)"),
        ("q", (2, 3, 5, 8), "k has 2 heads, which does not divide the 3 heads of q"),
    ],
)
def test_a_wrong_shape_is_named(name: str, shape: tuple[int, ...], complaint: str) -> None:
    tensors = {other: zeros(*good) for other, good in GOOD.items()} | {name: zeros(*shape)}
    with pytest.raises(ValueError, match=complaint):
        attention(**tensors)


@pytest.mark.parametrize(
    ("name", "dtype", "complaint"),
    [
        ("q", torch.int64, "q is torch.int64; it must be floating point"),
        ("v", torch.float16, "v is torch.float16, but q is torch.float32"),
    ],
)
def test_a_wrong_type_is_named(name: str, dtype: Any, complaint: str) -> None:
    tensors = {other: zeros(*good) for other, good in GOOD.items()} | {name: zeros(*GOOD[name], dtype=dtype)}
    with pytest.raises(ValueError, match=complaint):
        attention(**tensors)


@pytest.mark.parametrize("shape", [(1, 1, 4, 0), (1, 0, 4, 8)])
def test_nothing_to_attend_with_is_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match=r"head dimension 0|k has 0 heads"):
        attention(zeros(*shape), zeros(*shape), zeros(*shape))


@pytest.mark.parametrize("scale", [math.nan, math.inf, "x", 1j, 10**400])
def test_the_scale_must_be_finite(scale: Any) -> None:
    with pytest.raises(ValueError, match=r"scale is .*; it must be a finite number"):
        attention(*(zeros(1, 1, 2, 8) for _ in range(3)), scale=scale)


@pytest.mark.parametrize("window", [-1, 2.5, math.nan, "3"])
def test_a_window_must_be_a_whole_number(window: Any) -> None:
    with pytest.raises(ValueError, match=r"window is .*; it must be a whole number"):
        attention(*(zeros(1, 1, 2, 8) for _ in range(3)), window=window)


def test_what_is_no_tensor_is_named() -> None:
    x = zeros(1, 1, 2, 8)
    others: list[Any] = [None, [[0.0]], x.numpy()]
    for broken in others:
        with pytest.raises(ValueError, match=r"k is of type .*; it must be a torch\.Tensor"):
            attention(x, broken, x)


@pytest.mark.parametrize("impl", ["standard", "flash"])
def test_a_window_wider_than_64_bits_is_none_at_all(impl: Any) -> None:
    if impl == "flash":
        pytest.importorskip("triton")
    q, k, v = (torch.randn(1, 1, 4, 8) for _ in range(3))
    assert torch.equal(attention(q, k, v, window=2**70, impl=impl), attention(q, k, v, window=8, impl=impl))


def test_a_window_may_be_a_whole_number_of_another_library() -> None:
    q, k, v = (torch.randn(1, 1, 6, 8) for _ in range(3))
    one: Any = torch.arange(2).numpy()[1]
    assert torch.equal(attention(q, k, v, window=one), attention(q, k, v, window=1))


@pytest.mark.parametrize("impl", ["standard", "flash"])
def test_blind_queries_give_no_gradient_whatever_theirs_is(impl: Any) -> None:
    if impl == "flash":
        pytest.importorskip("triton")
    q, k, v = (torch.randn(1, 2, n, 8).requires_grad_() for n in (12, 5, 5))
    o = attention(q, k, v, causal=True, impl=impl)
    do = torch.randn_like(o)
    clean = torch.autograd.grad(o, (q, k, v), do, retain_graph=True)
    do[:, :, :7] = math.nan
    for found, wanted in zip(torch.autograd.grad(o, (q, k, v), do), clean, strict=True):
        assert torch.equal(found, wanted)


@pytest.mark.parametrize("impl", ["flash", "decode"])
def test_windows_of_one_row_of_numbers_are_queries_like_any_others(impl: Any) -> None:
    """Two strides are 1, and an output that is laid out likewise would not have contiguous rows."""
    pytest.importorskip("triton")
    q = torch.randn(1, 1, 9).unfold(2, 4, 1)[:, :, :3]
    k, v = torch.randn(1, 1, 8, 4), torch.randn(1, 1, 8, 4)
    found = attention(q, k, v, impl=impl)
    assert torch.equal(found, attention(q.clone(memory_format=torch.contiguous_format), k, v, impl=impl))


@pytest.mark.parametrize("scale", [1e-50, -1e-50, 1e-45, 0.0])
def test_a_scale_that_float32_does_not_hold_counts_as_none(scale: float) -> None:
    pytest.importorskip("triton")
    q, k, v = (torch.randn(1, 1, n, 16).requires_grad_() for n in (2, 4, 4))
    o = attention(q, k, v, scale=scale, impl="flash")
    torch.testing.assert_close(o, v.mean(2, keepdim=True).expand_as(o))
    dq, dk, dv = torch.autograd.grad(o, (q, k, v), torch.ones_like(o))
    assert max(dq.abs().max(), dk.abs().max()) < 1e-40
    torch.testing.assert_close(dv, torch.full_like(dv, 0.5))


def test_an_unknown_implementation_is_named() -> None:
    with pytest.raises(ValueError, match="impl is 'fast'; it must be one of auto, standard, flash"):
        attention(*(zeros(1, 1, 2, 8) for _ in range(3)), impl="fast")  # type: ignore[arg-type]


def test_what_flash_cannot_take_says_why() -> None:
    pytest.importorskip("triton")
    wide = [zeros(1, 1, 2, 300) for _ in range(3)]
    with pytest.raises(ValueError, match="head dimension 300; the kernel takes at most 256"):
        attention(*wide, impl="flash")
    with pytest.raises(ValueError, match=r"q is torch\.float64"):
        attention(*(x.double() for x in wide), impl="flash")
    with pytest.raises(ValueError, match="no backward pass"):
        attention(*(zeros(1, 1, 2, 8).requires_grad_() for _ in range(3)), impl="decode")
