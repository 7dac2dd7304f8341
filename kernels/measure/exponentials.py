"""How many base-2 exponentials this GPU computes in a second, with nothing else to do."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl

from kernels.measure.clock import Clock, Timing, interleaved

WIDTH, ROUNDS, WARPS = 1024, 2048, 4
WAVES = 8  # programs for each multiprocessor that run at once, so that latencies hide behind one another


@triton.jit
def _exponentials(X, ROUNDS: tl.constexpr, WIDTH: tl.constexpr):
    """Each result is the next argument: nothing can be left out, and x = 2⁻ˣ stays at 0.64."""
    place = tl.program_id(0) * WIDTH + tl.arange(0, WIDTH)
    x = tl.load(X + place)
    for _ in range(ROUNDS):
        x = tl.exp2(-x)
    tl.store(X + place, x)


def rate(clock: Clock) -> Timing:
    """Exponentials a second on the current CUDA device, as a Timing in 1/s."""
    programs = torch.cuda.get_device_properties().multi_processor_count * WAVES * 8
    x = torch.rand(programs * WIDTH, device="cuda")
    kernel: Any = _exponentials[(programs,)]

    def call() -> None:
        kernel(x, ROUNDS=ROUNDS, WIDTH=WIDTH, num_warps=WARPS)

    taken = interleaved({"exp2": call}, clock)["exp2"]
    work = programs * WIDTH * ROUNDS
    return Timing(work / taken.median, work / taken.high, work / taken.low, taken.samples)
