"""The backward pass as a whole: which walks, how they are cut, and their launch."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from kernels.hopper.gluon_names import TensorDescriptor, gl
from kernels.hopper.gradients.keys_walk import keys_walk
from kernels.hopper.gradients.numbers import finish, prepare
from kernels.hopper.gradients.one_walk import one_walk
from kernels.hopper.gradients.queries_walk import queries_walk
from kernels.hopper.launch import _descriptor as descriptor


@dataclass(frozen=True, slots=True)
class Plan:
    """How a problem is cut. Of the tile that stays, a consumer has 64 rows."""

    queries: int  # a step of the walk over queries
    keys: int  # a program of that walk
    one_walk: bool
    steps: int = 2  # in shared memory at once


PLANS = {64: Plan(128, 128, True), 128: Plan(64, 128, True), 256: Plan(64, 64, False)}


def backward(
    do: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    *,
    causal: bool,
    scale: float,
    dlse: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """dq, dk and dv, contiguous. Arguments as `hopper.backward` takes them; see there."""
    do = do if readable(do) else do.contiguous()
    o = o if o.stride(3) == 1 else o.contiguous()
    lse, dlse = lse.contiguous(), None if dlse is None else dlse.contiguous()
    batch, heads, N_q, d = q.shape
    kv_heads, N_k = k.shape[1:3]
    plan = PLANS[d]
    M = plan.queries
    tiles = -(-N_q // M)
    dq, dk, dv = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
    numbers = torch.empty(batch * heads * tiles * 2 * M, dtype=torch.float32, device=q.device)
    sums = numbers.new_empty(numbers.numel() // 2 * d if plan.one_walk else 0)
    problem = (heads, heads // kv_heads, tiles, N_q, N_k, scale, scale * math.log2(math.e))
    masks = {"CAUSAL": causal, "RAGGED": N_k % plan.keys != 0, "num_warps": 4}
    key_programs = -(-N_k // plan.keys) * kv_heads * batch
    with torch.cuda.device_of(q):
        _on(prepare, tiles, heads, batch)(
            o, do, lse, lse if dlse is None else dlse, numbers, sums, o.stride()[:3], do.stride()[:3], N_q,
            HAS_DL=dlse is not None, HAS_SUMS=plan.one_walk, D=d, M=M,
        )  # fmt: skip
        passing = (descriptor(q, M), descriptor(do, M), numbers_descriptor(numbers, M))
        if plan.one_walk:
            _on(one_walk, key_programs)(
                *passing, descriptor(k, 128), *(descriptor(x, 64) for x in (v, dk, dv)), sums, *problem,
                **masks, STEPS=plan.steps,
            )  # fmt: skip
            _on(finish, tiles, heads, batch)(sums, dq, dq.stride()[:3], N_q, scale, D=d, M=M)
        else:
            staying = [descriptor(x, 64) for x in (k, v, dk, dv)]
            _on(keys_walk, key_programs)(*passing, *staying, *problem, **masks, STEPS=plan.steps)
            _on(queries_walk, -(-N_q // 128), heads, batch)(
                *passing[:2], *staying[:2], descriptor(dq, 64), numbers, *problem, **masks
            )
    return dq, dk, dv


def readable(x: Tensor) -> bool:
    """Whether the copy engine can read x (batch, heads, N, d) as it lies; see `hopper.supported`."""
    spacing = [stride for stride, size in zip(x.stride()[:3], x.shape, strict=False) if size > 1]
    return x.stride(3) == 1 and x.data_ptr() % 16 == 0 and all(step and step % 8 == 0 for step in spacing)


def numbers_descriptor(numbers: Tensor, queries: int) -> Any:
    """Lets the copy engine fetch the two numbers of a tile's queries."""
    return TensorDescriptor(numbers, [numbers.numel()], [1], [2 * queries], numbers_layout())


def numbers_layout() -> Any:
    return gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=32, rank=1)


def _on(kernel: Any, *grid: int) -> Any:
    return kernel[grid]
