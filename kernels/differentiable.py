"""The kernels as something that PyTorch can differentiate, and compile around.

In eager mode that is a function with a forward and a backward pass. `torch.compile` cannot look into those;
it wants an operator: a name with a schema, and three things besides the code: what the outputs look like, for
tracing without data; what to keep for the gradient; and how to compute it. It then leaves the operator as it
is and fuses what stands around it. An operator in eager mode would do as well, but costs the host 30 µs more
forward and 20 backward, which short sequences feel.

Gradients of gradients are refused, since the backward pass has no formula of its own.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from kernels import tiles


class Attention(torch.autograd.Function):
    """For eager mode: `Attention.apply(q, k, v, causal, scale, window, impl)` gives output and logsumexp.

    impl: an implementation by name, never "auto".
    """

    @staticmethod
    def forward(
        q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, window: int | None, impl: str
    ) -> tuple[Tensor, Tensor]:
        from kernels.attention import compute

        return compute(impl, q, k, v, causal=causal, scale=scale, window=window)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        _keep(ctx, inputs, output)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor | None) -> tuple[Any, ...]:
        do, dlse = grad_outputs
        return _differentiate(ctx, do, dlse, Gradients.apply if torch.is_grad_enabled() else _gradients)


# PyTorch asks for it at each call, which without an answer at hand takes the host 12 µs.
Attention.forward.__signature__ = inspect.signature(Attention.forward)  # type: ignore[attr-defined]


class Gradients(torch.autograd.Function):
    """What `Attention` runs backward where that is recorded, to refuse the gradient of a gradient by name."""

    @staticmethod
    def forward(*inputs: Any) -> tuple[Tensor, Tensor, Tensor]:
        return _gradients(*inputs)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Tensor | None) -> Any:
        raise RuntimeError("attention has no gradient of its gradient, except by impl='standard'")


@torch.library.custom_op(
    "kernels::attention",
    mutates_args=(),
    schema="(Tensor q, Tensor k, Tensor v, bool causal, float scale, int? window, str impl)"
    " -> (Tensor, Tensor)",
)
def attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, window: int | None, impl: str
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp by the implementation that `which` names. ValueError as there."""
    from kernels.attention import compute, which

    named: Any = impl
    chosen = which(q, k, v, causal=causal, window=window, impl=named)
    o, lse = compute(chosen, q, k, v, causal=causal, scale=scale, window=window)
    promised = tiles.output_for(q)
    return (o if o.stride() == promised.stride() else promised.copy_(o)), lse


@attention.register_fake
def _(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, window: int | None, impl: str
) -> tuple[Tensor, Tensor]:
    return tiles.output_for(q), q.new_empty(q.shape[:3], dtype=torch.float32)


@torch.library.custom_op(
    "kernels::attention_backward",
    mutates_args=(),
    schema="(Tensor do, Tensor q, Tensor k, Tensor v, Tensor o, Tensor lse, Tensor? dlse,"
    " bool causal, float scale, int? window, str impl) -> (Tensor, Tensor, Tensor)",
)
def attention_backward(
    do: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    dlse: Tensor | None,
    causal: bool,
    scale: float,
    window: int | None,
    impl: str,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients of q, k and v, contiguous. ValueError as `attention`."""
    from kernels.attention import which

    named: Any = impl
    chosen = which(q, k, v, causal=causal, window=window, impl=named)
    return _gradients(do, q, k, v, o, lse, dlse, causal, scale, window, chosen)


def _gradients(
    do: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, dlse: Tensor | None,
    causal: bool, scale: float, window: int | None, chosen: str,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    from kernels.attention import compute_gradients

    return compute_gradients(
        chosen, do, q, k, v, o, lse, dlse=dlse, causal=causal, scale=scale, window=window
    )


@attention_backward.register_fake
def _(do: Tensor, q: Tensor, k: Tensor, v: Tensor, *_: Any) -> tuple[Tensor, Tensor, Tensor]:
    return q.new_empty(q.shape), k.new_empty(k.shape), v.new_empty(v.shape)


def _keep(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
    q, k, v, *ctx.arguments = inputs
    ctx.save_for_backward(q, k, v, *output)
    ctx.set_materialize_grads(False)  # an output that was not used has no gradient, rather than one of zeros


def _differentiate(
    ctx: Any, do: Tensor | None, dlse: Tensor | None, gradients: Callable[..., Any] = attention_backward
) -> tuple[Any, ...]:
    q, k, v, o, lse = ctx.saved_tensors
    if do is None:
        do = torch.zeros_like(o)
    return *gradients(do, q, k, v, o, lse, dlse, *ctx.arguments), None, None, None, None


attention.register_autograd(_differentiate, setup_context=_keep)
