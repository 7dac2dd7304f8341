"""The forward kernel: its roles, its measured choices and its launch."""

# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportOperatorIssue=false
# (Gluon's annotations describe Python's side of these calls, not the kernel's.)

# ruff: noqa: E741 - O is what the papers call it

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from kernels.hopper.consumer import consume
from kernels.hopper.gluon_names import TensorDescriptor, fence_async_shared, gl, gluon
from kernels.hopper.producer import produce
from kernels.hopper.rings import ring_for
from kernels.hopper.tasks import Rings, Task
from kernels.hopper.tiles import Order, mailbox
from kernels.tiles import output_for, with_positive_scale

ROWS = 64  # of a consumer: what one matrix instruction of a warpgroup takes


@gluon.jit(
    # Lengths and counts vary from call to call; without this a 1 or a multiple of 16 would be compiled anew.
    do_not_specialize=[
        "o_batch", "o_head", "o_row",
        "heads", "all_heads", "tiles", "together", "group", "N_q", "N_k", "lead",
    ]
)  # fmt: skip
def _hopper_forward(
    q_desc, k_desc, v_desc, O, o_batch, o_head, o_row, L, counters,
    heads, all_heads, tiles, together, group, scale_log2, N_q, N_k, lead,
    CAUSAL: gl.constexpr, RAGGED: gl.constexpr, CONSUMERS: gl.constexpr, Q_SETS: gl.constexpr,
    K_SLOTS: gl.constexpr, V_SLOTS: gl.constexpr, Q_IN_REGISTERS: gl.constexpr,
    REGISTERS: gl.constexpr,
):  # fmt: skip
    q_ring = ring_for(q_desc, Q_SETS * CONSUMERS, 1)
    k_ring = ring_for(k_desc, K_SLOTS, CONSUMERS)
    v_ring = ring_for(v_desc, V_SLOTS, CONSUMERS)
    rings = Rings(q_ring, k_ring, v_ring, mailbox(CONSUMERS))
    fence_async_shared()
    order = Order(tiles, heads, all_heads, together, counters)
    task = Task(O, o_batch, o_head, o_row, L, heads, group, scale_log2, N_q, N_k, lead)
    # After the roles come warps, and registers a thread, of all but the first: it has the kernel's own warps.
    if CONSUMERS == 2:
        gl.warp_specialize(
            [
                (consume, (rings, task, 2, CAUSAL, RAGGED, Q_IN_REGISTERS, 0)),
                (consume, (rings, task, 2, CAUSAL, RAGGED, Q_IN_REGISTERS, 1)),
                (produce, (rings, task, q_desc, k_desc, v_desc, order, 2, CAUSAL)),
            ],
            [4, 1],
            [REGISTERS, 24],
        )
    elif CONSUMERS == 3:
        gl.warp_specialize(
            [
                (consume, (rings, task, 3, CAUSAL, RAGGED, Q_IN_REGISTERS, 0)),
                (consume, (rings, task, 3, CAUSAL, RAGGED, Q_IN_REGISTERS, 1)),
                (consume, (rings, task, 3, CAUSAL, RAGGED, Q_IN_REGISTERS, 2)),
                (produce, (rings, task, q_desc, k_desc, v_desc, order, 3, CAUSAL)),
            ],
            [4, 4, 1],
            [REGISTERS, REGISTERS, 24],
        )
    else:
        gl.warp_specialize(
            [
                (consume, (rings, task, 4, CAUSAL, RAGGED, Q_IN_REGISTERS, 0)),
                (consume, (rings, task, 4, CAUSAL, RAGGED, Q_IN_REGISTERS, 1)),
                (consume, (rings, task, 4, CAUSAL, RAGGED, Q_IN_REGISTERS, 2)),
                (consume, (rings, task, 4, CAUSAL, RAGGED, Q_IN_REGISTERS, 3)),
                (produce, (rings, task, q_desc, k_desc, v_desc, order, 4, CAUSAL)),
            ],
            [4, 4, 4, 1],
            [REGISTERS, REGISTERS, REGISTERS, 24],
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """How a problem is cut, and what of it lies where. Shared memory holds at most 227 KiB:
    (64 · consumers · q_sets + (k_slots + v_slots) · block) · d · 2 bytes and some barriers."""

    consumers: int  # 64 query rows each
    block: int  # keys: 64 or 128
    q_sets: int  # 2: the next tile's Q travels beside this tile's work
    k_slots: int
    v_slots: int
    q_in_registers: bool = False
    registers: int = 240  # a thread of a consumer, of 65536 in all; the producer has 24
    pass_mib: int = 32  # see `heads_together`


def plan_for(head_dim: int, N_q: int, N_k: int, *, causal: bool) -> Plan:
    if head_dim == 256:  # o alone takes 128 registers and Q 64 KiB, so blocks are small
        return Plan(2, 64, q_sets=1, k_slots=2, v_slots=3)
    if head_dim == 128:  # Q in registers leaves the tensor cores a fifth less to read from shared memory: 2 %
        return Plan(2, 128, q_sets=1, k_slots=3, v_slots=3, q_in_registers=True, pass_mib=16)
    # At d = 64 exponentials take as long as products. A third consumer: 10-15 % over two from N = 4096. Where
    # a query sees few keys, a tile is mostly beginning and end, and four consumers hide those better: 5 % at
    # N = 512, and 3 % lost at 2048.
    keys = N_k - N_q // 2 if causal else N_k
    if keys < 1024:
        return Plan(4, 64, q_sets=2, k_slots=8, v_slots=8, registers=112)
    return Plan(3, 128, q_sets=2, k_slots=5, v_slots=5, registers=160)


def constants(plan: Plan, *, causal: bool, ragged: bool) -> dict[str, int]:
    """What the kernel is compiled for. ragged: the last key block juts out, and no causal mask hides that."""
    return {
        "CAUSAL": causal,
        "RAGGED": ragged,
        "CONSUMERS": plan.consumers,
        "Q_SETS": plan.q_sets,
        "K_SLOTS": plan.k_slots,
        "V_SLOTS": plan.v_slots,
        "Q_IN_REGISTERS": plan.q_in_registers,
        "REGISTERS": plan.registers,
    }


def heads_together(all_heads: int, kv_bytes: int, heads_per_kv: int, pass_mib: int) -> int:
    """Query heads in a pass of causal attention; kv_bytes: K and V of one head of theirs.

    Passes are of even size: the long tiles of a small last one would be waited for. A pass reads pass_mib MiB
    of K and V and has at most 128 heads. In larger ones, where every program begins with a head's longest
    tile, all wait for memory at once (4 % at N = 512); in smaller ones the programs do not finish evenly.
    """
    passes = max(round(all_heads // heads_per_kv * kv_bytes / (pass_mib << 20)), -(-all_heads // 128))
    return -(-all_heads // passes)


def forward(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    """Output and logsumexp. Arguments as `hopper.supported` takes them; see there."""
    q, scale = with_positive_scale(q, scale)
    batch, heads, N_q, d = q.shape
    kv_heads, N_k = k.shape[1:3]
    plan = plan_for(d, N_q, N_k, causal=causal)
    tile = ROWS * plan.consumers
    lead = (N_k - N_q) % tile if causal else 0
    tiles = -(-(N_q + lead) // tile)
    all_heads = batch * heads
    group = heads // kv_heads
    together = heads_together(all_heads, 4 * N_k * d, group, plan.pass_mib) if causal else 1

    with torch.cuda.device_of(q):
        o = output_for(q)
        L = torch.empty((batch, heads, N_q), dtype=torch.float32, device=q.device)
        kernel: Any = _hopper_forward[min(_multiprocessors(q.device), all_heads * tiles),]
        kernel(
            *(descriptor(x, rows) for x, rows in ((q, ROWS), (k, plan.block), (v, plan.block))),
            o, *(stride // 8 for stride in o.stride()[:3]), L, _counters(q.device),
            heads, all_heads, tiles, together, group, scale * math.log2(math.e), N_q, N_k, lead,
            **constants(plan, causal=causal, ragged=not causal and N_k % plan.block != 0), num_warps=4,
        )  # fmt: skip
    return o, L


def descriptor(x: Tensor, rows: int) -> Any:
    """Lets the copy engine see x (batch, heads, N, d) as it lies, in tiles of so many rows of one head."""
    d = x.shape[3]
    # The engine checks each stride, also where there is one entry and torch may say anything.
    strides = [stride if size > 1 else d for stride, size in zip(x.stride()[:3], x.shape, strict=False)]
    return TensorDescriptor(x, list(x.shape), [*strides, 1], [1, 1, rows, d], layout_for(rows, d, x.dtype))


@functools.cache
def layout_for(rows: int, head_dim: int, dtype: torch.dtype) -> Any:
    """Where a tile's elements lie in shared memory, swizzled so that reads meet no bank twice."""
    element = {torch.bfloat16: gl.bfloat16, torch.float16: gl.float16}[dtype]
    return gl.NVMMASharedLayout.get_default_for([1, 1, rows, head_dim], element)


def _counters(device: torch.device) -> Tensor:
    """Two zeros for this launch alone; the kernel leaves them 0.

    Launches on one stream follow each other, so they share a pair. A captured graph may be replayed on any
    stream, so each launch in it keeps a pair of its own, for as long as the process lives: nobody says when a
    graph is gone. Pairs lie ready, since one made in the graph would be zeroed again at each replay.
    """
    spare, lent = _spare_counters(device)
    if not torch.cuda.is_current_stream_capturing():
        if not spare:
            spare.extend(torch.zeros((1024, 2), dtype=torch.int32, device=device).unbind())
        return _counters_of_stream(device, torch.cuda.current_stream(device).cuda_stream)
    if not spare:  # nothing was launched here before the capture; the graph owns what is made in it
        return torch.zeros(2, dtype=torch.int32, device=device)
    lent.append(spare.pop())
    return lent[-1]


@functools.cache
def _spare_counters(_device: torch.device) -> tuple[list[Tensor], list[Tensor]]:
    """Pairs that no launch has, and pairs that one has."""
    return [], []


@functools.cache
def _counters_of_stream(device: torch.device, _stream: int) -> Tensor:
    return torch.zeros(2, dtype=torch.int32, device=device)


@functools.cache
def _multiprocessors(device: torch.device) -> int:
    return torch.cuda.get_device_properties(device).multi_processor_count
