"""Timing with clocks that say what they are told to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from kernels.measure import memory
from kernels.measure.clock import MOST, Timing, WallClock, balanced, interleaved


class ScriptedClock:
    """A clock on which each call takes the seconds that it returns; keeps the order of the turns."""

    name = "script"

    def __init__(self) -> None:
        self.turns: list[tuple[object, int]] = []

    def sample(self, call: Callable[[], object], repeats: int) -> list[float]:
        seconds = call()
        assert isinstance(seconds, float)
        self.turns.append((seconds, repeats))
        return [seconds] * repeats


def test_median_and_quantiles() -> None:
    timing = Timing.of([5.0, 1.0, 2.0, 4.0, 3.0, 100.0])
    assert (timing.median, timing.low, timing.high, timing.samples) == (3.5, 2.0, 5.0, 6)
    assert timing.spread == 1.5


def test_one_sample_has_no_spread() -> None:
    assert Timing.of([2.0]) == Timing(2.0, 2.0, 2.0, 1)


def test_contenders_take_turns_after_a_first_call_and_a_look() -> None:
    clock = ScriptedClock()
    interleaved({"a": lambda: 0.01, "b": lambda: 0.02}, clock, seconds=0.32, rounds=4)
    assert clock.turns[:4] == [(0.01, 1), (0.01, 3), (0.02, 1), (0.02, 3)]
    turns = clock.turns[4:]
    assert [sorted(turns[at : at + 2]) for at in (0, 2, 4, 6)] == [[(0.01, 8), (0.02, 4)]] * 4


@pytest.mark.parametrize("count", range(1, 9))
def test_in_balanced_rounds_each_follows_each_other_equally_often(count: int) -> None:
    rounds = balanced(count)
    assert all(sorted(turns) == list(range(count)) for turns in rounds)
    pairs = Counter(pair for turns in rounds for pair in pairwise(turns))
    assert set(pairs) == {(a, b) for a in range(count) for b in range(count) if a != b}
    assert set(pairs.values()) <= {2 if count % 2 else 1}
    assert len(rounds) == (2 * count if count % 2 and count > 1 else count)


def test_rounds_are_balanced_and_a_seed_repeats_them() -> None:
    def order(seed: int) -> list[tuple[float, ...]]:
        clock = ScriptedClock()
        calls = {name: lambda takes=takes: takes for name, takes in (("a", 0.01), ("b", 0.02), ("c", 0.03))}
        interleaved(calls, clock, rounds=8, seed=seed)
        turns = [float(str(takes)) for takes, _ in clock.turns[6:]]
        return [tuple(turns[at : at + 3]) for at in range(0, len(turns), 3)]

    first = order(0)
    assert len(first) == 12  # six are balanced, and eight were asked for
    assert set(Counter(pair for turns in first for pair in pairwise(turns)).values()) == {4}
    assert order(0) == first != order(1)


def test_the_first_quarter_of_a_turn_does_not_count() -> None:
    timings = interleaved({"a": lambda: 0.01}, ScriptedClock(), seconds=0.32, rounds=4)
    assert timings["a"].samples == 4 * 6


@pytest.mark.parametrize(("takes", "repeats"), [(10.0, 1), (1e-7, MOST), (0.0, MOST)])
def test_long_and_short_calls_have_their_limits(takes: float, repeats: int) -> None:
    clock = ScriptedClock()
    timings = interleaved({"a": lambda: takes}, clock, seconds=0.1, rounds=2)
    assert clock.turns[2:] == [(takes, repeats)] * 2
    assert timings["a"].median == takes


def test_a_slow_spell_does_not_move_the_median() -> None:
    samples = iter([1.0] * 4 + [1.0, 9.0, 1.0])
    timings = interleaved({"a": lambda: next(samples)}, WallClockOf(), seconds=1e-9, rounds=3)
    assert (timings["a"].median, timings["a"].samples) == (1.0, 3)


class WallClockOf:
    """Each repeat makes its call, which returns how long it took."""

    name = "told"

    def sample(self, call: Callable[[], object], repeats: int) -> list[float]:
        return [float(str(call())) for _ in range(repeats)]


def test_the_wall_clock_reads_before_and_after_each_call() -> None:
    ticks = iter([10.0, 11.0, 20.0, 22.5])
    calls: list[int] = []
    clock = WallClock(now=lambda: next(ticks))
    assert clock.sample(lambda: calls.append(1), 2) == [1.0, 2.5]
    assert (len(calls), clock.name) == (2, "wall clock")


def test_memory_on_the_cpu_is_not_measured() -> None:
    pytest.importorskip("torch")
    made: list[int] = []
    assert memory.peak(lambda: made.append(1), "cpu") is None
    assert made == []
