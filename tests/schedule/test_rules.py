from __future__ import annotations

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.schedule import rules
from fatutor.schedule.log import EntryKind
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState, Memory

TODAY = date(2026, 11, 29)
TOMORROW = TODAY + timedelta(days=1)
SM2 = Scheduler()


def graded(state: CardState, quality: int, day: date = TODAY) -> CardState:
    return rules.grade(state, quality, day, SM2, "d1")


def test_the_first_review_introduces_the_card() -> None:
    assert graded(CardState(), 4) == CardState(
        memory=Memory(1, 1, 250, 0),
        due=TOMORROW,
        introduced=TODAY,
        last_review=TODAY,
        relearn_on=None,
        digest="d1",
    )


def test_again_on_a_new_card_comes_back_today_and_is_due_tomorrow() -> None:
    state = graded(CardState(), 2)
    assert (state.relearn_on, state.due) == (TODAY, TOMORROW)
    assert rules.kind_of(state, TODAY) is EntryKind.RELEARN


def test_hard_moves_the_schedule_and_still_comes_back_today() -> None:
    first = graded(graded(CardState(), 4), 4, TOMORROW)
    hard = graded(first, 3, first.due or TODAY)
    assert hard.memory == Memory(3, 15, 236, 0)
    assert hard.relearn_on == first.due


def test_a_later_review_keeps_the_day_of_the_first() -> None:
    again = graded(graded(CardState(), 5), 5, TOMORROW)
    assert (again.introduced, again.last_review) == (TODAY, TOMORROW)


@pytest.mark.parametrize(("quality", "settled"), [(0, False), (2, False), (3, False), (4, True), (5, True)])
def test_relearning_ends_with_a_four_and_moves_nothing_else(quality: int, settled: bool) -> None:
    state = graded(CardState(), 2)
    after = rules.relearn(state, quality)
    assert after == state._replace(relearn_on=None if settled else TODAY)


def test_relearning_left_open_is_over_the_next_day() -> None:
    state = graded(CardState(), 2)
    assert rules.kind_of(state, TOMORROW) is EntryKind.REVIEW


def test_practice_ahead_of_time_moves_nothing() -> None:
    state = graded(CardState(), 4)
    assert rules.kind_of(state, TODAY) is EntryKind.CRAM
    for quality in range(6):
        assert rules.answer(state, EntryKind.CRAM, quality, TODAY, SM2, "d2") == state


def test_a_card_never_seen_is_reviewed() -> None:
    assert rules.kind_of(CardState(), TODAY) is EntryKind.REVIEW


def test_an_action_without_a_grade_is_no_answer() -> None:
    with pytest.raises(ValueError, match="no grade"):
        rules.answer(CardState(), EntryKind.FLAG, 4, TODAY, SM2, "")


def test_suspending_and_flagging_are_taken_back_by_their_opposites() -> None:
    state = graded(CardState(), 4)
    assert rules.suspend(state).suspended
    assert rules.resume(rules.suspend(state)) == state
    assert rules.flag(state).flagged
    assert rules.unflag(rules.flag(state)) == state


def test_a_buried_card_is_out_today_and_back_tomorrow() -> None:
    state = rules.bury(graded(CardState(), 2), TODAY)
    assert not rules.in_drill(state, TODAY)
    assert rules.in_drill(state, TOMORROW)


def test_a_suspended_card_stays_out() -> None:
    assert not rules.in_drill(rules.suspend(CardState()), TODAY + timedelta(days=400))


def test_a_grade_keeps_what_it_does_not_concern() -> None:
    marked = rules.flag(rules.suspend(CardState()))
    after = graded(marked, 5)
    assert after.flagged
    assert after.suspended


days = st.dates(date(2020, 1, 1), date(2100, 1, 1))
states = st.builds(
    CardState,
    memory=st.builds(
        Memory, st.integers(0, 9), st.integers(1, 400), st.integers(130, 350), st.integers(0, 9)
    ),
    due=st.one_of(st.none(), days),
    introduced=days,
    last_review=days,
    relearn_on=st.one_of(st.none(), days),
    flagged=st.booleans(),
)


@given(states, days, st.integers(0, 5))
def test_a_review_is_due_later_and_never_again_the_same_day(
    state: CardState, today: date, quality: int
) -> None:
    after = rules.grade(state, quality, today, SM2, "")
    assert after.due is not None
    assert (after.due - today).days == after.memory.interval >= 1
    assert rules.kind_of(after, today) is (EntryKind.CRAM if quality >= 4 else EntryKind.RELEARN)
