"""How long calls take: the median of many samples and its spread, with the contenders taking turns.

On a GPU a call returns before its work is done, so the time is taken on the device, between two events. Each
sample begins with an empty cache: a buffer larger than L2 is written first, which also gives the host time
to enqueue the call while the device is busy. Where the host needs longer to launch than the device to
compute, `Replay` captures the launches in a CUDA graph and starts them at once.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

Call = Callable[[], object]

FLUSH = 4  # the buffer that empties L2, in sizes of L2
MOST = 100  # samples of one call in a row; more would tell nothing new


class Clock(Protocol):
    """Something that times a call; `name` says how, and goes wherever its figures go."""

    name: str

    def sample(self, call: Call, repeats: int) -> list[float]:
        """Seconds that each of `repeats` calls took."""
        ...


@dataclass(frozen=True, slots=True)
class Timing:
    """Seconds: the median, and the quantiles 0.2 and 0.8."""

    median: float
    low: float
    high: float
    samples: int

    @classmethod
    def of(cls, samples: list[float]) -> Timing:
        """Of at least one sample."""
        low, high = min(samples), max(samples)
        if len(samples) > 1:
            low, _, _, high = statistics.quantiles(samples, n=5, method="inclusive")
        return cls(statistics.median(samples), low, high, len(samples))

    @property
    def spread(self) -> float:
        """Half the width between the two quantiles, in seconds."""
        return (self.high - self.low) / 2


def interleaved(
    calls: Mapping[str, Call], clock: Clock, *, seconds: float = 0.1, rounds: int = 4, seed: int = 0
) -> dict[str, Timing]:
    """Time each call for about `seconds`, in at least so many rounds, so that a drift meets them alike.

    A chip that is held back by its power is faster behind a call that left it cool: by up to 10 % on an H200.
    So each call comes right behind each other one equally often; see `balanced`. `seed` draws which round
    comes first. Every call is made once before, for compilers, caches and handles, and three times to see how
    many samples fit. A call longer than its share is still sampled once a round. The first quarter of each
    turn does not count: by then the device is on its way to the rate that this load allows.
    """
    names = list(calls)
    order = balanced(len(names))
    order *= math.ceil(rounds / len(order)) if order else 0
    random.Random(seed).shuffle(order)
    repeats = {}
    for name, call in calls.items():
        clock.sample(call, 1)
        once = statistics.median(clock.sample(call, 3))
        repeats[name] = min(MOST, max(1, round(seconds / len(order) / max(once, 1e-9))))
    samples: dict[str, list[float]] = {name: [] for name in calls}
    for turns in order:
        for name in (names[turn] for turn in turns):
            taken = clock.sample(calls[name], repeats[name])
            samples[name] += taken[len(taken) // 4 :]
    return {name: Timing.of(taken) for name, taken in samples.items()}


def balanced(count: int) -> list[list[int]]:
    """Rounds of the numbers below `count` in which each comes right behind each other one equally often.

    Williams 1949, "Experimental designs balanced for the estimation of residual effects of treatments": one
    round that steps by 1, -2, 3, -4, …, and its shifts; for an odd count these backwards as well.
    """
    zigzag = [(step + 1) // 2 if step % 2 else -step // 2 for step in range(count)]
    rounds = [[(first + step) % count for step in zigzag] for first in range(count)]
    return rounds + [turns[::-1] for turns in rounds] if count % 2 and count > 1 else rounds


class WallClock:
    """For the CPU, where a call returns when it is done. Seconds of a shared machine: no figures to quote."""

    name = "wall clock"

    def __init__(self, now: Callable[[], float] = time.perf_counter) -> None:
        self._now = now

    def sample(self, call: Call, repeats: int) -> list[float]:
        taken = []
        for _ in range(repeats):
            began = self._now()
            call()
            taken.append(self._now() - began)
        return taken


class EventClock:
    """Between two events on the current CUDA device, each sample with an empty L2."""

    name = "CUDA events"

    def __init__(self) -> None:
        import torch

        properties = torch.cuda.get_device_properties()
        self._buffer = torch.empty(FLUSH * properties.L2_cache_size, dtype=torch.int8, device="cuda")

    def sample(self, call: Call, repeats: int) -> list[float]:
        import torch

        events = [[torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repeats)]
        for begin, end in events:
            self._buffer.zero_()
            begin.record()
            call()
            end.record()
        torch.cuda.synchronize()
        return [begin.elapsed_time(end) / 1000 for begin, end in events]


class Replay:
    """A call captured as a CUDA graph: calling this launches its kernels again, without Python in between.

    The call must have been made before, must not wait for the device, and is kept, since the graph reads its
    tensors. It is captured on the current stream, unless that is the default one, which cannot be: a backward
    pass runs where its forward pass ran. Raises what PyTorch raises if something in it cannot be captured.
    """

    def __init__(self, call: Call) -> None:
        import torch

        self._call = call
        self._graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        stream = torch.cuda.current_stream()
        own = None if stream == torch.cuda.default_stream() else stream
        with torch.cuda.graph(self._graph, stream=own):
            call()

    def __call__(self) -> None:
        self._graph.replay()
