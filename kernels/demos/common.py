"""What several demos need: inputs, counts, times, and the words for what a device cannot show.

Nothing here is a demo. Torch is imported inside the functions, as in the demos themselves.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from kernels.wire import Progress

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.measure.clock import Timing
    from kernels.measure.roofline import Roofline

COUNTED = (
    "Counted by the interpreter, on any machine: what the kernel asks for and computes, not what reaches "
    "DRAM, and no time."
)
TIMED = "One GPU, with an empty L2 before each call; another GPU has other rates."
FP32_ROUNDING = 2.0**-24
"""A sum of n terms in single precision is off by about √n of these, relative to what it sums."""


class Steps:
    """Progress over a known number of steps: yield `steps.begin(note)` as each begins."""

    def __init__(self, total: int) -> None:
        self._total = total
        self._done = 0

    def begin(self, note: str) -> Progress:
        self._done += 1
        return Progress(self._done - 1, self._total, note)


def verdict(wrong: Sequence[str]) -> Literal["confirmed", "refuted"]:
    """Confirmed, unless something went against the claim."""
    return "refuted" if wrong else "confirmed"


def differing(found: Mapping[str, tuple[object, object]]) -> list[str]:
    """One complaint for each name whose measurement and formula, which must be equal, are not."""
    return [
        f"{name} is {measured} and not {formula}"
        for name, (formula, measured) in found.items()
        if measured != formula
    ]


def growth(x: Sequence[float], y: Sequence[float]) -> float:
    """The slope of y over x on logarithmic axes, by least squares: 1 is linear, 2 quadratic."""
    lx, ly = [math.log(value) for value in x], [math.log(value) for value in y]
    mx, my = sum(lx) / len(lx), sum(ly) / len(ly)
    above = sum((a - mx) * (b - my) for a, b in zip(lx, ly, strict=True))
    return above / sum((a - mx) ** 2 for a in lx)


def power(value: float, digits: int = 2) -> str:
    """A small or large number to so many digits that count, as people write it: 2.1e-7, 9.89e14."""
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    return f"{mantissa}e{int(exponent)}"


def percent(share: float, decimals: int = 0) -> str:
    """A share in per cent, with a space as before any unit: 23 %."""
    return f"{100 * share:.{decimals}f} %"


def many(count: int, one: str) -> str:
    """A count of things with a regular plural: 1 part, 2 parts."""
    return f"{count:,} {one}{'s' * (count != 1)}"


def place(device: str) -> str:
    """Where tensors live: "cuda", or "cpu" for the interpreter as well."""
    return "cuda" if device == "cuda" else "cpu"


def normal(*shape: int, device: str, dtype: str = "float16", seed: int = 0) -> Tensor:
    """Standard normal numbers, the same on every device up to the rounding of `dtype`."""
    import torch

    generator = torch.Generator().manual_seed(seed)
    return torch.randn(shape, generator=generator).to(place(device), getattr(torch, dtype))


def on_gpu(*shape: int, dtype: str = "bfloat16") -> Tensor:
    """Standard normal numbers made on the GPU: large tensors whose values do not matter."""
    import torch

    return torch.randn(shape, device="cuda", dtype=getattr(torch, dtype))


def off(answer: Tensor, exact: Tensor) -> float:
    """The relative error: Frobenius norms, in float64."""
    exact = exact.double()
    return float((answer.double() - exact).norm() / exact.norm())


def free_bytes(device: str) -> int | None:
    """Memory that can be had without harm: the GPU's, or this machine's where it says (Linux)."""
    if device == "cuda":
        import torch

        return torch.cuda.mem_get_info()[0]
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:")), None)


def taken_bytes(device: str) -> int | None:
    """Memory in use now: what PyTorch has given out on the GPU, or what this process has resident (Linux)."""
    if device == "cuda":
        import torch

        return torch.cuda.memory_allocated()
    try:
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    except OSError:
        return None
    return pages * os.sysconf("SC_PAGE_SIZE")


def timed(
    calls: Mapping[str, Callable[[], object]], seconds: float = 0.15, *, replayed: bool = True
) -> dict[str, Timing]:
    """Device time of each call, in turns, between CUDA events.

    replayed: from a CUDA graph, so that a kernel of some microseconds is not timed by the Python that
    launches it. Takes calls that do not wait for the device.
    """
    from kernels.measure.clock import EventClock, Replay, interleaved

    if replayed:
        for call in calls.values():
            call()
        calls = {name: Replay(call) for name, call in calls.items()}
    return interleaved(calls, EventClock(), seconds=seconds)


def ceilings() -> Roofline:
    """What this GPU reaches: a large matrix product and a copy."""
    from kernels.measure import roofline
    from kernels.measure.clock import EventClock

    return roofline.measured(EventClock())


def forwards(call: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[[], Any]:
    """`call` with its arguments, without gradients."""
    import torch

    def without_gradients() -> Any:
        with torch.no_grad():
            return call(*args, **kwargs)

    return without_gradients


def first_that_fits(sizes: Iterable[int], attempt: Callable[[int], Any]) -> tuple[int, Any, list[int]]:
    """The first size for which the GPU has the memory, what `attempt` returned for it, and those refused.

    Raises torch.OutOfMemoryError if it has it for none.
    """
    import torch

    refused: list[int] = []
    for size in (sizes := list(sizes)):
        try:
            return size, attempt(size), refused
        except torch.OutOfMemoryError:
            if size == sizes[-1]:
                raise
            refused.append(size)
        torch.cuda.empty_cache()
    raise ValueError("no size to attempt")
