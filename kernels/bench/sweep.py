"""Times every contender at every point. A wrong answer gets no time: each is checked first.

The check: one head of K and V with its query heads, computed in float32 by the four plain operations.
Backward, all three gradients are checked.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kernels.bench.contenders import Contender
from kernels.bench.grid import Point
from kernels.measure.clock import Call, Clock, Replay, Timing, interleaved

if TYPE_CHECKING:
    from torch import Tensor

LIMIT = 2e-2  # error relative to float32 (Frobenius norms); rounding to bf16 explains 2e-3 to 1e-2
SHORT = 1024  # up to this length a call may take the host longer than the device

Capture = Callable[[Call], Call]


@dataclass(frozen=True, slots=True)
class Row:
    """One contender at one point. tflops and gbps follow from the median and the point's counts.

    spread is half the width between the quantiles 0.2 and 0.8, in ms; clock says how it was timed.
    """

    point: Point
    impl: str
    ms: float
    tflops: float
    gbps: float
    spread: float
    clock: str

    @classmethod
    def of(cls, point: Point, impl: str, timing: Timing, clock: str) -> Row:
        tflops, gbps = point.flops / timing.median / 1e12, point.bytes / timing.median / 1e9
        return cls(point, impl, timing.median * 1e3, tflops, gbps, timing.spread * 1e3, clock)

    def as_json(self) -> dict[str, Any]:
        fields = asdict(self)
        point = fields.pop("point")
        rounded = {name: round(fields.pop(name), 4) for name in ("ms", "tflops", "gbps", "spread")}
        return {
            "pass": point.pop("phase"),
            **point,
            "impl": fields["impl"],
            **rounded,
            "clock": fields["clock"],
        }


@dataclass(frozen=True, slots=True)
class Note:
    """Why a contender has no row: at one point, or at all if `where` is empty."""

    impl: str
    why: str
    where: str = ""


def sweep(
    points: Sequence[Point],
    contenders: Sequence[Contender],
    clock: Clock,
    *,
    device: str = "cuda",
    capture: Capture = Replay,
    seconds: float = 0.1,
) -> Iterator[list[Row | Note]]:
    """For each point, its rows and notes; before them, the notes on who cannot take part at all.

    seconds: to spend on a contender at a point. capture: turns a short call into one that launches faster.
    """
    yield [Note(contender.name, contender.obstacle) for contender in contenders if contender.obstacle]
    stream = _own_stream(device)
    present = [contender for contender in contenders if not contender.obstacle]
    for point in points:
        rivals = [contender for contender in present if point.phase in contender.phases]
        with warnings.catch_warnings(), stream:
            warnings.simplefilter("ignore")  # PyTorch warns at length before it refuses a shape
            met = _meet(point, rivals, clock, device, capture, seconds)
        yield met
        _free(device)


def _meet(
    point: Point, rivals: Sequence[Contender], clock: Clock, device: str, capture: Capture, seconds: float
) -> list[Row | Note]:
    inputs = _inputs(point, device)
    expected = _expected(point, inputs)
    calls: dict[str, Call] = {}
    clocks: dict[str, str] = {}
    notes: list[Row | Note] = []
    for rival in rivals:
        # Whatever a peer raises on a shape that it does not take, the others go on.
        try:
            call = _checked(point, rival, inputs, expected)
        except Exception as error:
            notes.append(Note(rival.name, _one_line(error), str(point)))
            continue
        calls[rival.name], clocks[rival.name] = call, clock.name
        if point.phase == "decode" or point.n <= SHORT:
            try:
                calls[rival.name], clocks[rival.name] = capture(call), "CUDA graph"
            except Exception as error:
                notes.append(Note(rival.name, f"timed without a graph: {_one_line(error)}", str(point)))
    timings = interleaved(calls, clock, seconds=seconds)
    return [*(Row.of(point, name, timing, clocks[name]) for name, timing in timings.items()), *notes]


def _inputs(point: Point, device: str) -> tuple[Tensor, ...]:
    """q, k, v, and the gradient of o; normal numbers, always the same."""
    import torch

    generator = torch.Generator(device).manual_seed(0)
    heads = ((point.heads, point.queries), (point.heads_kv, point.n), (point.heads_kv, point.n))
    return tuple(
        torch.randn(
            point.batch, count, n, point.d, dtype=torch.bfloat16, device=device, generator=generator
        ).requires_grad_(point.phase == "backward" and place < 3)
        for place, (count, n) in enumerate((*heads, heads[0]))
    )


def _checked(point: Point, rival: Contender, inputs: Sequence[Tensor], expected: Sequence[Tensor]) -> Call:
    """The call to time, made once. Raises what the rival raises, ArithmeticError where it is wrong."""
    import torch

    q, k, v, do = inputs
    attend = rival.prepare(q, k, v, point.causal)
    if point.phase == "backward":
        o = attend()

        def call() -> Sequence[Tensor]:
            return torch.autograd.grad(o, (q, k, v), do, retain_graph=True)

    else:

        def call() -> Sequence[Tensor]:
            return (attend(),)

    found = call()
    errors = [
        float((part[:1, : exact.shape[1]].float() - exact).norm() / exact.norm())
        for part, exact in zip(found, expected, strict=True)
    ]
    if not all(error <= LIMIT for error in errors):  # so written, NaN is wrong as well
        raise ArithmeticError(f"wrong: off by {max(errors):.1e} of the float32 answer")
    return call


def _expected(point: Point, inputs: Sequence[Tensor]) -> Sequence[Tensor]:
    """O, or backward the gradients of q, k and v: of the first head of K and V and those that share it."""
    import torch

    from kernels import standard

    group = point.heads // point.heads_kv
    first = [x[:1, :heads].detach().float() for x, heads in zip(inputs, (group, 1, 1, group), strict=True)]
    backward = point.phase == "backward"
    q, k, v = (x.requires_grad_(backward) for x in first[:3])
    o, _ = standard.attention(q, k, v, causal=point.causal, scale=point.d**-0.5)
    return torch.autograd.grad(o, (q, k, v), first[3]) if backward else (o,)


def _own_stream(device: str) -> AbstractContextManager[object]:
    """For all calls of a sweep, since nothing can be captured on the default stream."""
    import torch

    return torch.cuda.stream(torch.cuda.Stream()) if device == "cuda" else nullcontext()


def _free(device: str) -> None:
    """Give back what the point took, so that memory taken for large matrices is there for other sizes."""
    import torch

    if device == "cuda":
        torch.cuda.empty_cache()


def _one_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
