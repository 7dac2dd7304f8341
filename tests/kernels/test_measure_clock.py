"""Timing with clocks that say what they are told to."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernels.measure import memory
from kernels.measure.clock import MOST, Timing, WallClock, interleaved


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
    interleaved({"a": lambda: 0.01, "b": lambda: 0.02}, clock, seconds=0.24, rounds=3)
    assert clock.turns[:4] == [(0.01, 1), (0.01, 3), (0.02, 1), (0.02, 3)]
    turns = clock.turns[4:]
    assert [sorted(turns[at : at + 2]) for at in (0, 2, 4)] == [[(0.01, 8), (0.02, 4)]] * 3


def test_each_round_has_an_order_of_its_own_and_a_seed_repeats_them() -> None:
    def order(seed: int) -> list[float]:
        clock = ScriptedClock()
        calls = {name: lambda takes=takes: takes for name, takes in (("a", 0.01), ("b", 0.02), ("c", 0.03))}
        interleaved(calls, clock, rounds=8, seed=seed)
        return [float(str(takes)) for takes, _ in clock.turns[6:]]

    first = order(0)
    rounds = [tuple(first[at : at + 3]) for at in range(0, 24, 3)]
    assert {tuple(sorted(turn)) for turn in rounds} == {(0.01, 0.02, 0.03)}
    assert len(set(rounds)) > 2
    assert order(0) == first != order(1)


def test_the_first_quarter_of_a_turn_does_not_count() -> None:
    timings = interleaved({"a": lambda: 0.01}, ScriptedClock(), seconds=0.24, rounds=3)
    assert timings["a"].samples == 3 * 6


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
