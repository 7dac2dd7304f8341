"""The backward pass as a whole: which walks, how they are cut, and their launch."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from kernels import tiles
from kernels.hopper import readable
from kernels.hopper.gluon_names import TensorDescriptor, gl
from kernels.hopper.gradients.keys_walk import keys_walk
from kernels.hopper.gradients.one_walk import one_walk
from kernels.hopper.gradients.queries_walk import queries_walk
from kernels.hopper.gradients.statistics import prepare, put_in_order
from kernels.hopper.launch import ROWS, descriptor
from kernels.tiles import Band


@dataclass(frozen=True, slots=True)
class Plan:
    """How the walk over queries is cut. One walk has 128 keys a program, 64 for each consumer.

    Where there are two, that over queries has 64 keys, on which both consumers work; that for dQ has 64
    queries a consumer, and meets keys in tiles of 64.
    """

    queries: int  # a step
    keys: int  # a program
    one_walk: bool
    steps: int = 2  # in shared memory at once


PLANS = {64: Plan(128, 2 * ROWS, True), 128: Plan(64, 2 * ROWS, True), 256: Plan(64, ROWS, False)}


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
    blind = Band.of(q.shape[2], k.shape[2], causal=causal, window=None).blind
    # P is 0 there, but 0 times a gradient that is not a number is none either.
    do = tiles.without(do, blind)
    dlse = None if dlse is None else tiles.without(dlse, blind).contiguous()
    do = do if readable(do) else do.clone(memory_format=torch.contiguous_format)
    o = o if o.stride(3) == 1 else o.contiguous()
    lse = lse.contiguous()
    batch, heads, N_q, d = q.shape
    kv_heads, N_k = k.shape[1:3]
    plan = PLANS[d]
    M = plan.queries
    count = -(-N_q // M)
    dq, dk, dv = (torch.empty_like(x, memory_format=torch.contiguous_format) for x in (q, k, v))
    statistics = torch.empty(batch * heads * count * 2 * M, dtype=torch.float32, device=q.device)
    sums = statistics.new_empty(statistics.numel() // 2 * d if plan.one_walk else 0)
    problem = (heads, heads // kv_heads, count, N_q, N_k, scale, scale * math.log2(math.e))
    # Where the mask is causal it hides the keys behind the last as well.
    how = {"CAUSAL": causal, "RAGGED": not causal and N_k % plan.keys != 0, "num_warps": 4}
    key_programs = -(-N_k // plan.keys) * kv_heads * batch
    with torch.cuda.device_of(q):
        _on(prepare, count, heads, batch)(
            o, do, lse, lse if dlse is None else dlse, statistics, sums, o.stride()[:3], do.stride()[:3], N_q,
            HAS_DL=dlse is not None, HAS_SUMS=plan.one_walk, D=d, M=M,
        )  # fmt: skip
        passing = (descriptor(q, M), descriptor(do, M), statistics_descriptor(statistics, M))
        all_k, *others = descriptor(k, plan.keys), *(descriptor(x, ROWS) for x in (v, dk, dv))
        if plan.one_walk:
            _on(one_walk, key_programs)(*passing, all_k, *others, sums, *problem, **how, STEPS=plan.steps)
            _on(put_in_order, count, heads, batch)(sums, dq, dq.stride()[:3], N_q, scale, D=d, M=M)
        else:
            _on(keys_walk, key_programs)(*passing, all_k, *others, *problem, **how, STEPS=plan.steps)
            _on(queries_walk, -(-N_q // (2 * ROWS)), heads, batch)(
                *passing[:2], all_k, others[0], descriptor(dq, ROWS), statistics, *problem, **how
            )
    return dq, dk, dv


def statistics_descriptor(statistics: Tensor, queries: int) -> Any:
    """Lets the copy engine fetch the two numbers of a tile's queries."""
    return TensorDescriptor(statistics, [statistics.numel()], [1], [2 * queries], statistics_layout())


@functools.cache
def statistics_layout() -> Any:
    return gl.NVMMASharedLayout(swizzle_byte_width=0, element_bitwidth=32, rank=1)


def _on(kernel: Any, *grid: int) -> Any:
    return kernel[grid]
