"""The front door: scaled dot-product attention, computed by whichever implementation fits."""

from __future__ import annotations

import importlib.util
import math
from typing import Literal, get_args, overload

import torch
from torch import Tensor

from kernels import interpreter, standard

Implementation = Literal["auto", "standard", "flash", "decode", "hopper"]

TRITON_IS_INSTALLED = importlib.util.find_spec("triton") is not None
HOPPER_IS_INSTALLED = importlib.util.find_spec("kernels.hopper") is not None
FLASH_TYPES = (torch.float16, torch.bfloat16, torch.float32)
LARGEST_HEAD_DIM = 256
LARGEST_GRID_SIDE = 65535  # what CUDA takes in a grid's second and third direction: heads and batch
FEWEST_KEYS_TO_SPLIT = 1024  # below, one program a head is done before a second kernel has been launched


@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = ..., scale: float | None = ...,
    window: int | None = ..., impl: Implementation = ..., return_lse: Literal[False] = ...,
) -> Tensor: ...  # fmt: skip
@overload
def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = ..., scale: float | None = ...,
    window: int | None = ..., impl: Implementation = ..., return_lse: Literal[True],
) -> tuple[Tensor, Tensor]: ...  # fmt: skip
def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, scale: float | None = None,
    window: int | None = None, impl: Implementation = "auto", return_lse: bool = False,
) -> Tensor | tuple[Tensor, Tensor]:  # fmt: skip
    """softmax(scale · q kᵀ) v for each head, with scale 1/√d unless given. Differentiable in q, k and v.

    q: (batch, heads, N_q, d); k, v: (batch, kv_heads, N_k, d), where kv_heads divides heads and each run of
    heads / kv_heads query heads shares one head of k and v. One type, one device, any strides: views whose
    rows begin at multiples of 16 bytes are read where they lie, most others are copied first.
    causal: query i stands on key i + N_k - N_q and sees the keys up to it, so the last query sees all.
    window: if given, a query sees of these only the key it stands on, the `window` keys before it and, unless
    causal, the `window` keys behind it. Tiles of keys outside are not visited.
    impl, by what each can take:
        "standard"  the four plain operations on N_q × N_k matrices: any device, floating types from 16 bits
        "flash"     the tiled Triton kernels: float16, bfloat16 or float32, d up to 256, on a CUDA device or
                    in Triton's interpreter (see `kernels.interpreter`)
        "decode"    as "flash", but the keys are split over the chip: few queries, no window, no gradient
        "hopper"    the kernel made for the H100 and H200, where it supports the shape: no window. The last
                    bits of dq may vary from run to run, unless torch.use_deterministic_algorithms(True)
        "auto"      the first that can: "decode" for few queries of many keys, else "hopper", "flash",
                    "standard". `which` tells

    Returns the output in q's shape and type, with `return_lse` also the logsumexp of each query's scaled
    scores, (batch, heads, N_q). A query that sees no key gets 0 and -inf, and no gradient.
    Raises ValueError that names the argument at fault.
    """
    chosen = which(q, k, v, causal=causal, scale=scale, window=window, impl=impl)
    scale = 1 / math.sqrt(q.shape[-1]) if scale is None else float(scale)
    window = None if window is None else int(window)
    if chosen == "standard" and not return_lse:
        return standard.output(q, k, v, causal=causal, scale=scale, window=window)
    if chosen == "standard":
        o, lse = standard.attention(q, k, v, causal=causal, scale=scale, window=window)
    elif _traced():
        from kernels import differentiable

        o, lse = differentiable.attention(q, k, v, causal, scale, window, impl)
    elif _wants_gradient(q, k, v):
        from kernels import differentiable

        o, lse = differentiable.Attention.apply(q, k, v, causal, scale, window, chosen)
    else:
        o, lse = compute(chosen, q, k, v, causal=causal, scale=scale, window=window)
    return (o, lse) if return_lse else o


def which(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, scale: float | None = None,
    window: int | None = None, impl: Implementation = "auto",
) -> Implementation:  # fmt: skip
    """The implementation that `attention` uses for these arguments: never "auto". Errors as there."""
    _check(q, k, v)
    if scale is not None and not _finite(scale):
        raise ValueError(f"scale is {scale!r}; it must be a finite number")
    whole = isinstance(window, int) or hasattr(window, "__index__")  # NumPy's are whole numbers too
    if window is not None and not (whole and window >= 0):
        raise ValueError(f"window is {window!r}; it must be a whole number, at least 0")
    if impl not in get_args(Implementation):
        raise ValueError(f"impl is {impl!r}; it must be one of {', '.join(get_args(Implementation))}")
    if impl == "auto":
        return next(name for name in _by_speed(q, k) if not _obstacle(name, q, k, v, window))
    if obstacle := _obstacle(impl, q, k, v, window):
        raise ValueError(f"impl is {impl!r}, but {obstacle}")
    return impl


def compute(
    impl: str, q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float, window: int | None
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp by one of the kernels, with no gradient. The choice was made by `which`."""
    if impl == "decode":
        from kernels import decode

        return decode.forward(q, k, v, causal=causal, scale=scale)
    if impl == "hopper":
        from kernels import hopper

        return hopper.forward(q, k, v, causal=causal, scale=scale)
    from kernels import flash

    return flash.forward(q, k, v, causal=causal, scale=scale, window=window)


def compute_gradients(
    impl: str, do: Tensor, q: Tensor, k: Tensor, v: Tensor, o: Tensor, lse: Tensor, *,
    dlse: Tensor | None, causal: bool, scale: float, window: int | None,
) -> tuple[Tensor, Tensor, Tensor]:  # fmt: skip
    """dq, dk and dv for what `compute` returned; dlse is the gradient of the logsumexp, if it has one.

    "hopper" has a backward pass of its own, which for some head dimensions sums in no fixed order. Where
    PyTorch is told to be deterministic, that of "flash" takes its place.
    """
    if impl == "hopper":
        from kernels import hopper

        allowed = hopper.deterministic(q.shape[3]) or not torch.are_deterministic_algorithms_enabled()
        if allowed and hopper.gradients_supported(q, k, v) is None:
            return hopper.backward(do, q, k, v, o, lse, causal=causal, scale=scale, dlse=dlse)
    from kernels import flash_backward

    return flash_backward.backward(do, q, k, v, o, lse, causal=causal, scale=scale, window=window, dlse=dlse)


def _by_speed(q: Tensor, k: Tensor) -> tuple[Implementation, ...]:
    """What "auto" tries, in turn. The interpreter has nothing to gain from splitting keys.

    While `torch.compile` traces there is no data, whose alignment "hopper" asks for: the operator chooses
    again when it runs.
    """
    if _traced():
        return ("flash", "standard")
    splits_pay = q.is_cuda and k.shape[2] >= FEWEST_KEYS_TO_SPLIT
    return ("decode", "hopper", "flash", "standard") if splits_pay else ("hopper", "flash", "standard")


def _check(q: Tensor, k: Tensor, v: Tensor) -> None:
    for name, x in (("q", q), ("k", k), ("v", v)):
        if not isinstance(x, Tensor):
            raise ValueError(f"{name} is of type {type(x).__name__}; it must be a torch.Tensor")
        if x.dim() != 4:
            raise ValueError(f"{name} has {x.dim()} dimensions; it must be (batch, heads, N, d)")
        if not x.is_floating_point() or x.dtype.itemsize < 2:
            raise ValueError(f"{name} is {x.dtype}; it must be floating point of 16 bits or more")
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


def _finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except (TypeError, OverflowError):  # no number at all, or a whole one that no float holds
        return False


def _obstacle(impl: str, q: Tensor, k: Tensor, v: Tensor, window: int | None) -> str:
    """Why an implementation cannot take these arguments; empty if it can."""
    if impl == "standard":
        return ""
    if q.dtype not in FLASH_TYPES:
        return f"q is {q.dtype}; the kernel takes float16, bfloat16 or float32"
    if q.shape[3] > LARGEST_HEAD_DIM:
        return f"q has head dimension {q.shape[3]}; the kernel takes at most {LARGEST_HEAD_DIM}"
    if max(q.shape[:2]) > LARGEST_GRID_SIDE:
        return f"q has a batch or heads above {LARGEST_GRID_SIDE}, the most that a CUDA grid takes"
    if not TRITON_IS_INSTALLED:
        return "triton is not installed"
    if not q.is_cuda and not interpreter.enabled():
        return f"q is on {q.device} and Triton's interpreter is off; see kernels.interpreter.enable()"
    if impl == "decode":
        return _decode_obstacle(q, k, v, window)
    return _hopper_obstacle(q, k, v, window) if impl == "hopper" else ""


def _decode_obstacle(q: Tensor, k: Tensor, v: Tensor, window: int | None) -> str:
    from kernels import decode

    rows = q.shape[2] * (q.shape[1] // k.shape[1])
    if rows > decode.MOST_ROWS:
        return f"q has {rows} rows for each head of k; splitting keys takes at most {decode.MOST_ROWS}"
    if window is not None:
        return "a window is given, and splitting keys knows none"
    if _wants_gradient(q, k, v):
        return "a gradient is asked for, and splitting keys has no backward pass"
    return ""


def _hopper_obstacle(q: Tensor, k: Tensor, v: Tensor, window: int | None) -> str:
    if not q.is_cuda or torch.cuda.get_device_capability(q.device) != (9, 0):
        return "q is not on an H100 or H200 (compute capability 9.0)"
    if window is not None:
        return "a window is given, and the Hopper kernel knows none"
    if not HOPPER_IS_INSTALLED:
        return "kernels.hopper is not installed"
    from kernels import hopper

    if _traced():  # nothing lies anywhere yet; the operator asks again when it runs
        return hopper.gluon_obstacle() or ""
    return hopper.supported(q, k, v) or ""


def _wants_gradient(*tensors: Tensor) -> bool:
    return torch.is_grad_enabled() and any(x.requires_grad for x in tensors)


def _traced() -> bool:
    return bool(torch.compiler.is_compiling())
