"""Which implementation answers, what it says when it cannot, gradients and tracing through the front door."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

import sys
from types import ModuleType
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels import attention as front
from kernels import differentiable, flash, standard, tiles
from kernels.attention import attention, which


def made(shape: Any, *sizes: int, dtype: str = "float32", **kwargs: Any) -> Any:
    return shape(*sizes, **kwargs).inputs(dtype)


def on_a_gpu(monkeypatch: Any, capability: tuple[int, int]) -> None:
    """As far as the choice looks, tensors lie on such a device."""
    monkeypatch.setattr(torch.Tensor, "is_cuda", property(lambda _: True))
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: capability)


def hopper_that(monkeypatch: Any, says: str | None) -> ModuleType:
    module = ModuleType("kernels.hopper")
    module.supported = lambda *_: says  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "kernels.hopper", module)
    monkeypatch.setattr(sys.modules["kernels"], "hopper", module, raising=False)
    monkeypatch.setattr(front, "HOPPER_IS_INSTALLED", True)
    return module


def test_on_a_cpu_auto_is_flash_and_falls_back_to_standard(shape: Any) -> None:
    assert which(*made(shape, 5, 6)) == "flash"
    assert which(*made(shape, 1, 4096)) == "flash"
    assert which(*made(shape, 5, 6), window=2, causal=True) == "flash"
    assert which(*made(shape, 5, 6, dtype="float64")) == "standard"
    assert which(*made(shape, 5, 6, head_dim=257)) == "standard"
    assert which(*made(shape, 5, 6), impl="decode") == "decode"


def test_on_a_gpu_few_queries_of_many_keys_are_split(monkeypatch: Any, shape: Any) -> None:
    on_a_gpu(monkeypatch, (8, 0))
    few: dict[str, Any] = {"heads": 8, "kv_heads": 2}
    assert which(*made(shape, 1, 1024, **few), causal=True) == "decode"
    assert which(*made(shape, 16, 1024, **few)) == "decode"
    assert which(*made(shape, 17, 1024, **few)) == "flash"
    assert which(*made(shape, 1, 1023, **few)) == "flash"
    assert which(*made(shape, 1, 1024, **few), window=8) == "flash"
    assert which(*(x.requires_grad_() for x in made(shape, 1, 1024, **few))) == "flash"


def test_on_hopper_its_own_kernel_is_asked(monkeypatch: Any, shape: Any) -> None:
    inputs = made(shape, 100, 100, dtype="float16")
    on_a_gpu(monkeypatch, (9, 0))
    hopper_that(monkeypatch, None)
    assert which(*inputs) == "hopper"
    assert which(*inputs, window=5) == "flash"
    hopper_that(monkeypatch, "the moon is full")
    assert which(*inputs) == "flash"
    with pytest.raises(ValueError, match="impl is 'hopper', but the moon is full"):
        which(*inputs, impl="hopper")
    on_a_gpu(monkeypatch, (10, 0))
    assert which(*inputs) == "flash"


def test_what_is_asked_for_by_name_and_cannot_be_says_why(shape: Any) -> None:
    with pytest.raises(ValueError, match="'hopper', but q is not on an H100 or H200"):
        attention(*made(shape, 5, 6), impl="hopper")
    with pytest.raises(ValueError, match=r"'decode', but q has 65 rows for each head of k; .* at most 64"):
        attention(*made(shape, 65, 70), impl="decode")
    with pytest.raises(ValueError, match="'decode', but a window is given"):
        attention(*made(shape, 1, 6), impl="decode", window=3)
    with pytest.raises(ValueError, match="window is -1; it must be a whole number, at least 0"):
        attention(*made(shape, 5, 6), window=-1)


@pytest.mark.parametrize("impl", ["standard", "flash"])
@pytest.mark.parametrize(("window", "causal"), [(0, True), (3, True), (3, False), (100, False)])
def test_a_window_is_what_it_says(window: int, causal: bool, impl: Any, shape: Any) -> None:
    q, k, v = made(shape, 20, 33, head_dim=16)
    o = attention(q, k, v, causal=causal, window=window, impl=impl)
    i, j = torch.arange(20)[:, None] + 13, torch.arange(33)[None]
    seen = (i - j).abs() <= window
    if causal:
        seen &= j <= i
    s = (q.double() @ k.double().transpose(-1, -2) / 4).masked_fill(~seen, -float("inf"))
    torch.testing.assert_close(o.double(), s.softmax(-1) @ v.double(), rtol=0, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
def test_gradients_flow_through_the_kernels(causal: bool, shape: Any) -> None:
    q, k, v = (x.requires_grad_() for x in made(shape, 20, 33, heads=4, kv_heads=2, batch=2))
    assert which(q, k, v, causal=causal) == "flash"
    o, lse = attention(q, k, v, causal=causal, window=9, return_lse=True)
    (o.square().sum() + lse.sum()).backward()
    double = [x.detach().double().requires_grad_() for x in (q, k, v)]
    truth, truth_lse = standard.attention(*double, causal=causal, scale=32**-0.5, window=9)
    (truth.square().sum() + truth_lse.sum()).backward()
    for x, y in zip((q, k, v), double, strict=True):
        torch.testing.assert_close(x.grad.double(), y.grad, rtol=0, atol=2e-5)


def test_either_output_alone_has_a_gradient(shape: Any) -> None:
    q, k, v = made(shape, 10, 12, head_dim=16)
    q.requires_grad_()
    (by_o,) = torch.autograd.grad(attention(q, k, v).sum(), q)
    (by_lse,) = torch.autograd.grad(attention(q, k, v, return_lse=True)[1].sum(), q)
    (by_both,) = torch.autograd.grad(sum(x.sum() for x in attention(q, k, v, return_lse=True)), q)
    torch.testing.assert_close(by_o + by_lse, by_both)
    assert by_lse.abs().max() > 0.01


@pytest.mark.filterwarnings("ignore:Input .* requires gradient and is not a double precision")
def test_gradcheck(shape: Any) -> None:
    """Finite differences of the kernel itself, which computes in 32 bits: large steps, large room."""
    inputs = tuple(x.requires_grad_() for x in made(shape, 3, 4, head_dim=2))
    assert torch.autograd.gradcheck(
        lambda q, k, v: attention(q, k, v, causal=True, impl="flash"), inputs, eps=1e-2, atol=5e-3, rtol=1e-2
    )
    double = tuple(x.detach().double().requires_grad_() for x in inputs)
    assert torch.autograd.gradcheck(lambda q, k, v: attention(q, k, v, causal=True), double)


def test_a_gradient_of_a_gradient_is_refused_and_not_left_out(shape: Any) -> None:
    q, k, v = (x.requires_grad_() for x in made(shape, 3, 4, head_dim=2))
    loss = attention(q, k, v, impl="flash").square().sum()
    (dq,) = torch.autograd.grad(loss, q, create_graph=True)
    with pytest.raises(RuntimeError, match="gradient of its gradient"):
        (loss + dq.square().sum()).backward()


def test_functional_gradients_are_the_same(shape: Any) -> None:
    q, k, v = made(shape, 9, 12, head_dim=16, heads=2, kv_heads=2)

    def loss(q: Any, k: Any, v: Any) -> Any:
        return attention(q, k, v, causal=True, impl="flash").square().sum()

    found = torch.func.grad(loss, argnums=(0, 1, 2))(q, k, v)
    leaves = [x.clone().requires_grad_() for x in (q, k, v)]
    for x, y in zip(found, torch.autograd.grad(loss(*leaves), leaves), strict=True):
        assert torch.equal(x, y)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("window", [2**31 - 1, 2**31, sys.maxsize])
def test_a_window_wider_than_all_is_none(window: int, causal: bool, shape: Any) -> None:
    leaves = [x.requires_grad_() for x in made(shape, 40, 33, head_dim=16)]

    def answers(window: int | None) -> list[Any]:
        o = attention(*leaves, causal=causal, window=window, impl="flash")
        return [o, *torch.autograd.grad(o.square().sum(), leaves)]

    for x, y in zip(answers(window), answers(None), strict=True):
        torch.testing.assert_close(x, y)


@pytest.mark.parametrize("window", [None, 3])
def test_a_query_that_sees_no_key_gives_no_gradient_even_where_its_own_is_none(
    window: int | None, shape: Any
) -> None:
    """Merging partial results does that: logaddexp(-inf, -inf) has NaN for a gradient."""
    q, k, v = (x.requires_grad_() for x in made(shape, 30, 5, head_dim=16))
    blind = 25  # queries before the first that stands on a key
    o, lse = attention(q, k, v, causal=True, window=window, impl="flash", return_lse=True)
    do, dlse = torch.randn_like(o), torch.randn_like(lse)
    clean = torch.autograd.grad((o, lse), (q, k, v), (do, dlse), retain_graph=True)
    do[:, :, :blind], dlse[:, :, :blind] = float("nan"), float("nan")
    for x, y in zip(torch.autograd.grad((o, lse), (q, k, v), (do, dlse)), clean, strict=True):
        assert torch.equal(x, y)
    assert clean[0][:, :, :blind].abs().max() == 0


def test_the_operator_keeps_its_promises(shape: Any) -> None:
    """Schema, shapes without data, autograd registration: PyTorch's own checks."""
    q, k, v = (x.requires_grad_() for x in made(shape, 6, 7, head_dim=8, heads=2))
    torch.library.opcheck(
        differentiable.attention,
        (q, k, v, True, 0.3, None, "flash"),
        test_utils=("test_schema", "test_faketensor", "test_autograd_registration"),
    )


@pytest.mark.parametrize("impl", ["auto", "flash"])
def test_it_can_be_traced_whole(impl: Any, shape: Any) -> None:
    q, k, v = made(shape, 9, 12, head_dim=16, heads=2, kv_heads=2)

    def layer(q: Any, k: Any, v: Any) -> Any:
        return 2 * attention(q, k, v, causal=True, impl=impl)

    traced = torch.compile(layer, backend="eager", fullgraph=True)
    torch.testing.assert_close(traced(q, k, v), layer(q, k, v))


def test_outputs_lie_as_q_does(shape: Any) -> None:
    q, k, v = made(shape, 9, 12, head_dim=16, heads=2, kv_heads=2)
    by_position = q.transpose(1, 2).contiguous().transpose(1, 2)
    assert attention(by_position, k, v).stride() == by_position.stride()
    framed = torch.zeros(1, 2, 9, 48)[..., 8:24]
    framed.copy_(q)
    for x in (q, by_position, framed, q.transpose(2, 3).contiguous().transpose(2, 3), q.expand(1, 2, 9, 16)):
        o, _ = flash.forward(x, k, v, causal=False, scale=0.25)
        assert o.stride() == tiles.output_for(x).stride()
        assert o.stride(-1) == 1


def test_rows_at_odd_addresses_are_copied_first(shape: Any) -> None:
    q, k, v = made(shape, 9, 12, head_dim=16, dtype="float16")
    odd = [torch.cat([x[..., :1], x], dim=-1)[..., 1:] for x in (q, k, v)]
    assert not tiles.describable(*odd)
    assert tiles.describable(*(tiles.lined_up(x) for x in odd))
    assert tiles.lined_up(q) is q
    narrow = torch.zeros(1, 1, 4, 20, dtype=torch.float16)  # 40 bytes a row: no copy would help
    assert tiles.lined_up(narrow) is narrow and not tiles.describable(narrow)
    assert not tiles.describable(q.expand(3, 1, 9, 16))  # a stride of 0
    assert torch.equal(attention(*odd), attention(q, k, v))
