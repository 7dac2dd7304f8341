"""The front door: scaled dot-product attention, computed by whichever implementation fits."""

from __future__ import annotations

import importlib.util
import math
from functools import cache
from typing import Literal, get_args, overload

import torch
from torch import Tensor

from kernels import interpreter, standard

Implementation = Literal["auto", "standard", "flash"]

FLASH_TYPES = (torch.float16, torch.bfloat16, torch.float32)
LARGEST_HEAD_DIM = 256
LARGEST_GRID_SIDE = 65535  # what CUDA takes in a grid's second and third direction: heads and batch


@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = ..., scale: float | None = ...,
    impl: Implementation = ..., return_lse: Literal[False] = ...,
) -> Tensor: ...  # fmt: skip
@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = ..., scale: float | None = ...,
    impl: Implementation = ..., return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, scale: float | None = None,
    impl: Implementation = "auto", return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """softmax(scale · q kᵀ) v for each head, with scale 1/√d unless given.

    q: (batch, heads, N_q, d); k, v: (batch, kv_heads, N_k, d), where kv_heads divides heads and each run of
    heads / kv_heads query heads shares one head of k and v. One type, one device, any strides.
    causal: query i sees the keys up to i + N_k - N_q, so the last query sees all of them.
    impl: "standard" is the four plain operations on N_q × N_k matrices: any device, any floating type,
    differentiable. "flash" is the tiled Triton kernel: float16, bfloat16 or float32, d up to 256, forward
    only, on a CUDA device or in Triton's interpreter (see `kernels.interpreter`). "auto" takes "flash" where
    it can.

    Returns the output in q's shape and type, with `return_lse` also the logsumexp of each query's scaled
    scores, (batch, heads, N_q). A query that sees no key gets 0 and -inf.
    Raises ValueError that names the argument at fault.
    """
    _check(q, k, v)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    if not math.isfinite(scale):
        raise ValueError(f"scale is {scale}; it must be finite")

    if impl not in get_args(Implementation):
        raise ValueError(f"impl is {impl!r}; it must be one of {', '.join(get_args(Implementation))}")

    obstacle = "" if impl == "standard" else _flash_obstacle(q, k, v)
    if impl == "flash" and obstacle:
        raise ValueError(f"impl is 'flash', but {obstacle}")
    if impl == "standard" or obstacle:
        o, lse = standard.attention(q, k, v, causal=causal, scale=scale)
    else:
        from kernels import flash

        o, lse = flash.forward(q, k, v, causal=causal, scale=scale)
    return (o, lse) if return_lse else o


def _check(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.dim() != 4:
            raise ValueError(f"{name} has {x.dim()} dimensions; it must be (batch, heads, N, d)")
        if not x.is_floating_point():
            raise ValueError(f"{name} is {x.dtype}; it must be floating point")
        if x.dtype != q.dtype:
            raise ValueError(f"{name} is {x.dtype}, but q is {q.dtype}")
        if x.device != q.device:
            raise ValueError(f"{name} is on {x.device}, but q is on {q.device}")
        if x.shape[0] != q.shape[0]:
            raise ValueError(f"{name} has a batch of {x.shape[0]}, but that of q is {q.shape[0]}")
        if x.shape[3] != q.shape[3]:
            raise ValueError(f"{name} has head dimension {x.shape[3]}, but that of q is {q.shape[3]}")
    if q.shape[3] == 0:
        raise ValueError("q has head dimension 0; it must be at least 1")
    if v.shape[1:3] != k.shape[1:3]:
        raise ValueError(f"v has (heads, N) of {tuple(v.shape[1:3])}, but k has {tuple(k.shape[1:3])}")
    if k.shape[1] == 0 or q.shape[1] % k.shape[1]:
        raise ValueError(f"k has {k.shape[1]} heads, which does not divide the {q.shape[1]} heads of q")


def _flash_obstacle(q: Tensor, k: Tensor, v: Tensor) -> str:
    """Why the tiled kernel cannot take these tensors; empty if it can."""
    if q.dtype not in FLASH_TYPES:
        return f"q is {q.dtype}; the kernel takes float16, bfloat16 or float32"
    if q.shape[3] > LARGEST_HEAD_DIM:
        return f"q has head dimension {q.shape[3]}; the kernel takes at most {LARGEST_HEAD_DIM}"
    if max(q.shape[:2]) > LARGEST_GRID_SIDE:
        return f"q has a batch or heads above {LARGEST_GRID_SIDE}, the most that a CUDA grid takes"
    if torch.is_grad_enabled() and any(x.requires_grad for x in (q, k, v)):
        return (
            "a gradient is asked for, and the kernel has no backward pass; use 'standard' or torch.no_grad()"
        )
    if not _triton_is_installed():
        return "triton is not installed"
    if not q.is_cuda and not interpreter.enabled():
        return f"q is on {q.device} and Triton's interpreter is off; see kernels.interpreter.enable()"
    return ""


@cache
def _triton_is_installed() -> bool:
    return importlib.util.find_spec("triton") is not None
