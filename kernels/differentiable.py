"""The kernels as one operator that PyTorch can differentiate and compile around.

To PyTorch an operator is a name with a schema, and three things besides the code: what its outputs look
like, for tracing without data; what to keep for the gradient; and how to compute it. `torch.compile` then
leaves the operator as it is and fuses what stands around it. Gradients of gradients are refused by PyTorch,
since the backward pass has no formula of its own.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from kernels import tiles


@torch.library.custom_op(
    "kernels::attention",
    mutates_args=(),
    schema="(Tensor q, Tensor k, Tensor v, bool causal, float scale, int? window, str impl)"
    " -> (Tensor, Tensor)",
)
def attention(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, window: int | None, impl: str
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp by the implementation named, or by the one that `which` names for "auto"."""
    from kernels.attention import compute, which

    chosen = which(q, k, v, causal=causal, window=window) if impl == "auto" else impl
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
    """The gradients of q, k and v, contiguous."""
    from kernels.attention import compute_gradients, which

    chosen = which(q, k, v, causal=causal, window=window) if impl == "auto" else impl
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


def _differentiate(ctx: Any, do: Tensor | None, dlse: Tensor | None) -> tuple[Any, ...]:
    q, k, v, o, lse = ctx.saved_tensors
    if do is None:
        do = torch.zeros_like(o)
    return *attention_backward(do, q, k, v, o, lse, dlse, *ctx.arguments), None, None, None, None


attention.register_autograd(_differentiate, setup_context=_keep)
