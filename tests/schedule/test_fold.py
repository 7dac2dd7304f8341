from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.errors import FatutorError
from fatutor.schedule import rules
from fatutor.schedule.fold import apply, fold, live, replay
from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState, Memory

TODAY = date(2026, 11, 29)
AT = datetime(2026, 11, 29, 10, tzinfo=UTC)
LIES = CardState(flagged=True, digest="stored beside the entry, never trusted")


def logged(
    number: int,
    kind: EntryKind,
    card: str = "a",
    *,
    day: date = TODAY,
    quality: int | None = None,
    scheduler: str | None = None,
    undoes: str | None = None,
) -> Entry:
    return Entry(
        f"{number:04}", card, kind, AT, 0, day, LIES, LIES,
        quality=quality, scheduler=scheduler, digest="d", undoes=undoes,
    )  # fmt: skip


def review(number: int, quality: int, card: str = "a", day: date = TODAY, tag: str = "sm2@365") -> Entry:
    return logged(number, EntryKind.REVIEW, card, day=day, quality=quality, scheduler=tag)


def undo(number: int, undoes: int, card: str = "a") -> Entry:
    return logged(number, EntryKind.UNDO, card, undoes=f"{undoes:04}")


def test_an_empty_log_knows_no_card() -> None:
    assert fold([]) == {}


def test_states_come_from_the_rules_and_not_from_the_entries() -> None:
    expected = rules.grade(CardState(), 5, TODAY, Scheduler(), "d")
    assert fold([review(1, 5)]) == {"a": expected}


def test_cards_do_not_touch_each_other() -> None:
    """Ten failures of one card leave another, new one at its start."""
    log = [review(number, 0, "bad", TODAY + timedelta(days=number)) for number in range(10)]
    states = fold([*log, review(99, 4, "good")])
    assert states["bad"].memory.ease == 130
    assert states["good"].memory == Memory(1, 1, 250, 0)


def test_each_review_is_replayed_by_the_scheduler_that_gave_it() -> None:
    days = [TODAY, TODAY + timedelta(days=1), TODAY + timedelta(days=7)]
    literal = [review(n, 5, day=day, tag="sm2-text") for n, day in enumerate(days)]
    capped = [review(n, 5, day=day, tag="sm2@10") for n, day in enumerate(days)]
    assert fold(literal)["a"].memory.interval == 17
    assert fold(capped)["a"].memory.interval == 10


def test_every_kind_of_entry_does_what_its_rule_says() -> None:
    again = review(1, 2)
    hard = logged(2, EntryKind.RELEARN, quality=3, scheduler="sm2@365")
    good = logged(3, EntryKind.RELEARN, quality=4, scheduler="sm2@365")
    cram = logged(4, EntryKind.CRAM, quality=0, scheduler="sm2@365")
    start = replay([again])
    assert start.relearn_on == TODAY
    assert replay([again, hard]) == start
    assert replay([again, good]) == replay([again, good, cram]) == rules.relearn(start, 4)
    assert replay([again, logged(5, EntryKind.SUSPEND)]) == rules.suspend(start)
    assert replay([again, logged(5, EntryKind.SUSPEND), logged(6, EntryKind.RESUME)]) == start
    assert replay([again, logged(5, EntryKind.BURY)]) == rules.bury(start, TODAY)
    assert replay([again, logged(5, EntryKind.FLAG)]) == rules.flag(start)
    assert replay([again, logged(5, EntryKind.FLAG), logged(6, EntryKind.UNFLAG)]) == start


def test_undone_entries_are_left_out_wherever_they_stand() -> None:
    log = [review(1, 4), review(2, 2), undo(3, 2), review(4, 5, day=TODAY + timedelta(days=1)), undo(5, 4)]
    assert replay(log) == replay([review(1, 4)])
    assert live(log) == [review(1, 4)]


def test_grading_anew_after_an_undo_counts_once() -> None:
    log = [review(1, 2), undo(2, 1), review(3, 4)]
    assert [one.id for one in live(log)] == ["0003"]
    assert fold(log)["a"].memory == Memory(1, 1, 250, 0)


def test_a_card_whose_every_entry_was_undone_was_never_seen() -> None:
    assert fold([review(1, 4), undo(2, 1)]) == {}


@pytest.mark.parametrize(("quality", "tag"), [(None, "sm2@365"), (4, None)])
def test_an_incomplete_review_is_named(quality: int | None, tag: str | None) -> None:
    with pytest.raises(FatutorError, match=r"0007.*card a"):
        apply(logged(7, EntryKind.REVIEW, quality=quality, scheduler=tag), CardState())


def test_an_unknown_scheduler_is_named() -> None:
    with pytest.raises(FatutorError, match="fsrs"):
        fold([review(1, 4, tag="fsrs-6@0.9")])


@given(
    st.lists(st.tuples(st.sampled_from(EntryKind), st.integers(0, 5), st.sampled_from("abc")), max_size=30)
)
def test_undo_is_a_stack(actions: list[tuple[EntryKind, int, str]]) -> None:
    """A fold over a log with undos equals a fold over what a stack of actions has left."""
    log: list[Entry] = []
    stack: list[Entry] = []
    for number, (kind, quality, card) in enumerate(actions):
        if kind is not EntryKind.UNDO:
            graded = kind in (EntryKind.REVIEW, EntryKind.RELEARN, EntryKind.CRAM)
            one = logged(
                number, kind, card,
                quality=quality if graded else None, scheduler="sm2@365" if graded else None,
            )  # fmt: skip
            log.append(one)
            stack.append(one)
        elif stack:
            undone = stack.pop()
            log.append(logged(number, EntryKind.UNDO, undone.card, undoes=undone.id))
    assert fold(log) == fold(stack)
