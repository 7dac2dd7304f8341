"""SM-2 against hand-checked sequences and against the laws that must hold for all of them."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.schedule.sm2 import EASE_CHANGE, LONGEST, Profile, review
from fatutor.schedule.state import Memory

Ends = tuple[tuple[int, ...], int, int]  # intervals after each grade; ease and repetition at the end

# grades: as profile sm2, then intervals and ease as profile sm2-text. No ceiling.
VECTORS: tuple[tuple[tuple[int, ...], tuple[int, ...], int, int, tuple[int, ...], int], ...] = (
    ((5,), (1,), 260, 1, (1,), 260),
    ((4,), (1,), 250, 1, (1,), 250),
    ((3,), (1,), 236, 1, (1,), 236),
    ((2,), (1,), 218, 0, (1,), 250),
    ((1,), (1,), 196, 0, (1,), 250),
    ((0,), (1,), 170, 0, (1,), 250),
    ((5, 5), (1, 6), 270, 2, (1, 6), 270),
    ((4, 4), (1, 6), 250, 2, (1, 6), 250),
    ((3, 3), (1, 6), 222, 2, (1, 6), 222),
    ((5, 5, 5), (1, 6, 16), 280, 3, (1, 6, 17), 280),
    ((4, 4, 4), (1, 6, 15), 250, 3, (1, 6, 15), 250),
    ((3, 3, 3), (1, 6, 13), 208, 3, (1, 6, 14), 208),
    ((4, 4, 4, 4), (1, 6, 15, 38), 250, 4, (1, 6, 15, 38), 250),
    ((3, 3, 3, 3), (1, 6, 13, 27), 194, 4, (1, 6, 14, 30), 194),
    ((5,) * 5, (1, 6, 16, 45, 131), 300, 5, (1, 6, 17, 48, 140), 300),
    ((5, 4, 3, 4, 5), (1, 6, 16, 39, 96), 256, 5, (1, 6, 16, 40, 99), 256),
    ((4, 4, 3, 3, 4), (1, 6, 15, 35, 78), 222, 5, (1, 6, 15, 36, 80), 222),
    ((4, 4, 2), (1, 6, 1), 218, 0, (1, 6, 1), 250),
    ((4, 4, 2, 4, 4, 4), (1, 6, 1, 1, 6, 13), 218, 3, (1, 6, 1, 1, 6, 15), 250),
    ((4, 4, 4, 1, 4, 4, 4), (1, 6, 15, 1, 1, 6, 12), 196, 3, (1, 6, 15, 1, 1, 6, 15), 250),
    ((5, 5, 5, 0, 5, 5, 5), (1, 6, 16, 1, 1, 6, 13), 230, 3, (1, 6, 17, 1, 1, 6, 18), 310),
    ((3, 3, 3, 0, 3, 3, 3), (1, 6, 13, 1, 1, 6, 8), 130, 3, (1, 6, 14, 1, 1, 6, 11), 166),
    ((0, 0, 0), (1, 1, 1), 130, 0, (1, 1, 1), 250),
    ((0, 0, 4, 4, 4), (1, 1, 1, 6, 8), 130, 3, (1, 1, 1, 6, 15), 250),
    ((0, 4, 4, 4, 4), (1, 1, 6, 10, 17), 170, 4, (1, 1, 6, 15, 38), 250),
    ((1, 1, 1, 4, 4, 4), (1, 1, 1, 1, 6, 8), 130, 3, (1, 1, 1, 1, 6, 15), 250),
    ((2, 5, 2, 5, 2, 5), (1, 1, 1, 1, 1, 1), 184, 1, (1, 1, 1, 1, 1, 1), 280),
    ((5, 5, 5, 5, 3), (1, 6, 16, 45, 131), 276, 5, (1, 6, 17, 48, 140), 276),
    ((0, 0, 5, 5, 3), (1, 1, 1, 6, 9), 136, 3, (1, 1, 1, 6, 17), 256),
    ((2, 1, 3, 4, 4, 3), (1, 1, 1, 6, 9, 14), 136, 4, (1, 1, 1, 6, 15, 36), 222),
    ((5,) * 6, (1, 6, 16, 45, 131, 393), 310, 6, (1, 6, 17, 48, 140, 420), 310),
    (
        (3,) * 10,
        (1, 6, 13, 27, 52, 94, 156, 237, 327, 425), 130, 10,
        (1, 6, 14, 30, 59, 107, 178, 271, 374, 487), 130,
    ),
    (
        (4,) * 12,
        (1, 6, 15, 38, 95, 238, 595, 1488, 3720, 9300, 23250, 58125), 250, 12,
        (1, 6, 15, 38, 95, 238, 595, 1488, 3720, 9300, 23250, 58125), 250,
    ),
)  # fmt: skip


def run(grades: tuple[int, ...], profile: Profile, ceiling: int | None) -> Ends:
    memory, intervals = Memory(), []
    for quality in grades:
        memory = review(memory, quality, profile, ceiling)
        intervals.append(memory.interval)
    return tuple(intervals), memory.ease, memory.repetition


def label(grades: tuple[int, ...]) -> str:
    return "".join(map(str, grades))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: label(vector[0]))
def test_profile_sm2(vector: tuple[tuple[int, ...], tuple[int, ...], int, int, tuple[int, ...], int]) -> None:
    grades, intervals, ease, repetition, _, _ = vector
    assert run(grades, "sm2", None) == (intervals, ease, repetition)


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: label(vector[0]))
def test_profile_sm2_text(
    vector: tuple[tuple[int, ...], tuple[int, ...], int, int, tuple[int, ...], int],
) -> None:
    grades, _, _, repetition, intervals, ease = vector
    assert run(grades, "sm2-text", None) == (intervals, ease, repetition)


def test_fourteen_fives_stop_at_the_ceiling() -> None:
    intervals = (1, 6, 16, 45, 131, 393, 1218, 3898, 12863) + (36500,) * 5
    assert run((5,) * 14, "sm2", 36500) == (intervals, 390, 14)


def test_the_default_ceiling_is_a_year() -> None:
    memory = Memory()
    for _ in range(8):
        memory = review(memory, 5)
    assert memory.interval == 365


def test_without_a_ceiling_the_longest_interval_still_fits_a_date() -> None:
    memory = Memory()
    for _ in range(60):
        memory = review(memory, 5, ceiling=None)
    assert memory.interval == LONGEST
    assert (date(2100, 1, 1) + timedelta(days=memory.interval)).year < 9999


def test_ease_changes_are_those_of_the_formula() -> None:
    exact = [round(100 * (0.1 - (5 - q) * (0.08 + (5 - q) * 0.02))) for q in range(6)]
    assert list(EASE_CHANGE) == exact == [-80, -54, -32, -14, 0, 10]


def test_a_lapse_is_a_failure_of_a_card_that_had_been_passed() -> None:
    lapses, memory = [], Memory()
    for quality in (2, 4, 2, 1, 3, 0):
        memory = review(memory, quality)
        lapses.append(memory.lapses)
    assert lapses == [0, 0, 1, 1, 1, 2]


@pytest.mark.parametrize("quality", [-1, 6])
def test_other_qualities_are_refused(quality: int) -> None:
    with pytest.raises(ValueError, match="0 to 5"):
        review(Memory(), quality)


histories = st.lists(st.integers(0, 5), max_size=40)
profiles: st.SearchStrategy[Literal["sm2", "sm2-text"]] = st.sampled_from(("sm2", "sm2-text"))
ceilings = st.one_of(st.none(), st.integers(1, 36500))


@given(histories, st.integers(0, 5), profiles, ceilings)
def test_laws(history: list[int], quality: int, profile: Profile, ceiling: int | None) -> None:
    memory = Memory()
    for past in history:
        memory = review(memory, past, profile, ceiling)
    after = review(memory, quality, profile, ceiling)
    assert after.ease >= 130
    assert 1 <= after.interval <= (ceiling or LONGEST)
    assert after.lapses - memory.lapses in (0, 1)
    if quality >= 3:
        assert after.repetition == memory.repetition + 1
        assert after.interval >= memory.interval
        assert after.lapses == memory.lapses
    else:
        assert (after.repetition, after.interval) == (0, 1)


@given(histories, profiles, ceilings)
def test_a_better_grade_never_gives_less(history: list[int], profile: Profile, ceiling: int | None) -> None:
    memory = Memory()
    for past in history:
        memory = review(memory, past, profile, ceiling)
    outcomes = [review(memory, quality, profile, ceiling) for quality in range(6)]
    assert [one.interval for one in outcomes] == sorted(one.interval for one in outcomes)
    assert [one.ease for one in outcomes if one.repetition] == sorted(
        one.ease for one in outcomes if one.repetition
    )


@given(histories)
def test_after_a_failure_the_way_up_is_no_steeper_than_before(history: list[int]) -> None:
    """Passing again after a lapse never leads farther than the same passes would have led before it."""
    memory = Memory()
    for past in history:
        memory = review(memory, past)
    failed = review(memory, 2)
    for _ in range(3):
        memory, failed = review(memory, 4), review(failed, 4)
        assert failed.interval <= memory.interval
