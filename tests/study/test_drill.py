"""The sitting without a screen: order, grades, relearning, undo of any depth, and what is on disk when."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.schedule.fold import fold
from fatutor.schedule.log import EntryKind
from fatutor.study.drill import Drill, Phase

SUNDAY = date(2026, 11, 29)
ANSWERS = {"ridge": "", "number": "256", "choice": "2", "written": "words"}


def answer(drill: Drill) -> str:
    assert drill.turn is not None
    card = drill.turn.card.id
    drill.answer(ANSWERS[card])
    return card


def finish(drill: Drill, quality: int = 4) -> str:
    card = answer(drill)
    drill.grade(quality, quality - 1)
    return card


def test_each_grade_is_stored_before_the_next_card_shows(desk: Desk) -> None:
    drill = desk.drill()
    seen = []
    while drill.turn is not None:
        seen.append(finish(drill))
        assert [entry.card for entry in desk.store.entries()] == seen
    assert sorted(seen) == sorted(ANSWERS)
    assert drill.phase is Phase.DONE


def test_what_the_keys_announce_is_what_is_stored(desk: Desk) -> None:
    drill = desk.drill()
    answer(drill)
    announced = drill.preview(5)
    graded = drill.grade(5, 4)
    assert graded.entry.after == announced == desk.store.facts().states[graded.card.id]
    assert announced.due == SUNDAY + timedelta(days=1)


def test_a_grade_before_the_reveal_and_a_second_answer_are_refused(desk: Desk) -> None:
    drill = desk.drill()
    with pytest.raises(FatutorError, match="reveal first"):
        drill.grade(4, 3)
    answer(drill)
    with pytest.raises(FatutorError, match="already committed"):
        drill.answer("again")
    assert list(desk.store.entries()) == []


def test_under_four_comes_back_at_the_end_until_it_is_four(desk: Desk) -> None:
    drill = desk.drill()
    first = finish(drill, 3)
    others = [finish(drill) for _ in range(3)]
    assert first not in others
    assert drill.turn is not None and drill.turn.kind is EntryKind.RELEARN
    assert finish(drill, 2) == first
    assert finish(drill, 4) == first
    assert drill.turn is None
    kinds = [entry.kind for entry in desk.store.entries(card=first)]
    assert kinds == [EntryKind.REVIEW, EntryKind.RELEARN, EntryKind.RELEARN]
    memory = desk.store.facts().states[first].memory
    assert (memory.interval, memory.ease) == (1, 236)  # relearning moved nothing


def test_undo_reaches_back_over_a_restart(make_desk: Callable[..., Desk]) -> None:
    desk = make_desk()
    drill = desk.drill()
    done = [finish(drill), finish(drill, 2)]
    desk.close()

    again = make_desk()
    drill = again.drill()
    for card in reversed(done):
        undone = drill.undo()
        assert undone is not None and undone.card == card
        assert drill.turn is not None and drill.turn.card.id == card
        assert drill.phase is Phase.PROMPT
    assert drill.undo() is None
    assert again.store.facts().states == {}
    assert drill.left == 4


def test_undo_of_a_failed_card_leaves_it_once_in_the_queue(desk: Desk) -> None:
    drill = desk.drill()
    finish(drill, 2)
    assert drill.left == 4
    drill.undo()
    assert drill.left == 4


def test_suspend_bury_and_flag_are_entries_that_undo_takes_back(desk: Desk) -> None:
    drill = desk.drill()
    assert drill.turn is not None
    flagged = drill.turn.card.id
    assert drill.flag() is True
    assert drill.flag() is False
    drill.flag()
    suspended = drill.suspend().id
    assert suspended == flagged
    buried = drill.bury().id
    states = desk.store.facts().states
    assert states[suspended].suspended and states[suspended].flagged
    assert states[buried].buried_until == SUNDAY + timedelta(days=1)
    assert desk.drill().left == 2
    drill.undo()
    drill.undo()
    assert desk.drill().left == 4


def test_the_day_of_a_review_is_the_day_its_card_was_shown(desk: Desk, clock) -> None:
    clock.forward(hours=13, minutes=54)  # 03:59, a minute before the study day turns over
    drill = desk.drill()
    answer(drill)
    clock.forward(minutes=10)
    assert drill.grade(4, 3).entry.study_day == SUNDAY
    finish(drill)
    days = [entry.study_day for entry in desk.store.entries()]
    assert days == [SUNDAY, SUNDAY + timedelta(days=1)]


def test_times_come_from_the_monotonic_clock(desk: Desk, clock) -> None:
    drill = desk.drill()
    clock.seconds += 41.5
    answer(drill)
    clock.seconds += 8.5
    clock.instant -= timedelta(hours=1)  # somebody sets the wall clock back meanwhile
    entry = drill.grade(4, 3).entry
    assert (entry.speaking_ms, entry.total_ms) == (41_500, 50_000)


def test_two_sittings_on_one_card_the_second_is_told(make_desk: Callable[..., Desk]) -> None:
    one, two = make_desk(), make_desk()
    first, second = one.drill(), two.drill()
    card = answer(first)
    assert answer(second) == card
    first.grade(4, 3)
    with pytest.raises(FatutorError, match="another fatutor"):
        second.grade(2, 1)
    assert [entry.quality for entry in one.store.entries(card=card)] == [4]
    assert second.turn is not None and second.turn.card.id != card


def test_a_sitting_writes_nothing_until_something_is_answered(desk: Desk) -> None:
    drill = desk.drill()
    drill.answer(ANSWERS[drill.turn.card.id]) if drill.turn else None
    desk.overview()
    assert not desk.paths.database.exists()


@pytest.mark.parametrize("typed", ["", "   ", "\n"])
def test_empty_commits_nothing(desk: Desk, typed: str) -> None:
    drill = desk.drill()
    while drill.turn is not None and drill.turn.card.id != "written":
        drill.bury()
    with pytest.raises(FatutorError, match="an empty answer commits nothing"):
        drill.answer(typed)
    assert drill.phase is Phase.PROMPT


ACTIONS = st.lists(st.sampled_from(["good", "again", "hard", "undo", "suspend", "bury", "flag"]), max_size=25)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(ACTIONS)
def test_whatever_is_done_a_replay_of_the_log_gives_what_is_stored(make_desk, tmp_path, actions) -> None:
    desk = make_desk()
    drill = desk.drill()
    for action in actions:
        if action == "undo":
            drill.undo()
        elif drill.turn is None:
            break
        elif action in ("suspend", "bury", "flag"):
            getattr(drill, action)()
        else:
            finish(drill, {"good": 4, "again": 2, "hard": 3}[action])
        assert drill.left >= 0
    assert fold(desk.store.entries()) == dict(desk.store.facts().states)
    while drill.undo() is not None:
        pass
    assert desk.store.facts().states == {}
    desk.close()


def test_a_flag_is_taken_back_where_it_stands(desk: Desk, clock) -> None:
    drill = desk.drill()
    card = answer(drill)
    turn = drill.turn
    drill.flag()
    undone = drill.undo()
    assert undone is not None and (undone.kind, undone.card) == (EntryKind.FLAG, card)
    assert drill.turn is turn and drill.phase is Phase.REVEALED  # the answer still stands
    assert drill.grade(4, 3).entry.after.flagged is False


def test_undoing_the_flag_of_another_card_leaves_the_table_alone(desk: Desk) -> None:
    drill = desk.drill()
    drill.flag()
    flagged = drill.bury().id
    drill.undo()  # the bury
    finish(drill)
    turn = drill.turn
    drill.undo()  # the grade
    assert drill.turn is not None and drill.turn.card.id == flagged
    drill.suspend()
    drill.undo()
    undone = drill.undo()
    assert undone is not None and undone.kind is EntryKind.FLAG
    assert drill.turn.card.id == flagged and drill.turn is not turn
    assert drill.undo() is None


def test_a_card_whose_deck_is_gone_is_taken_back_all_the_same(make_desk, decks) -> None:
    desk = make_desk()
    while (first := desk.drill()).turn and first.turn.card.id != "written":
        first.bury()
    drill = desk.drill()
    finish(drill)
    desk.close()
    deck = decks / "plain.md"
    deck.write_text(deck.read_text("utf-8").replace("id=written", "id=renamed"), "utf-8")
    again = make_desk()
    drill = again.drill()
    turn = drill.turn
    undone = drill.undo()
    assert undone is not None and undone.card == "written"
    assert drill.turn is turn
    assert "written" not in again.store.facts().states


def test_cards_that_another_fatutor_has_answered_meanwhile_are_not_asked_again(make_desk) -> None:
    one, two = make_desk(), make_desk()
    first, second = one.drill(), two.drill()
    done = {finish(first), finish(first)}
    answer(second)
    with pytest.raises(FatutorError, match="another fatutor"):
        second.grade(4, 3)
    asked = set()
    while second.turn is not None:
        asked.add(finish(second))
    assert asked == set(ANSWERS) - done
    assert {entry.kind for entry in one.store.entries()} == {EntryKind.REVIEW}


def test_the_day_of_relearning_ends_with_the_day(desk: Desk, clock) -> None:
    drill = desk.drill()
    hard = finish(drill, 5)
    drill.undo()
    assert finish(drill, 3) == hard
    clock.forward(hours=14)  # 04:05 on Monday: it is due on Monday as well, now as a review
    while drill.turn is not None and drill.turn.card.id != hard:
        finish(drill)
    assert drill.turn is not None and drill.turn.kind is EntryKind.REVIEW


def test_a_clock_set_back_over_midnight_does_not_turn_the_day_back(desk: Desk, clock) -> None:
    drill = desk.drill()
    clock.forward(hours=14)
    finish(drill)  # shown on Sunday
    finish(drill)  # shown on Monday
    clock.instant -= timedelta(days=1)
    finish(drill)
    finish(drill)
    days = [entry.study_day for entry in desk.store.entries()]
    assert days == sorted(days)
    while drill.undo() is not None:
        pass
    assert drill.turn is not None and drill.turn.day == SUNDAY  # what was wrong is undone, the day is right


def test_edited_decks_are_taken_up_and_what_was_answered_stays(desk: Desk, decks) -> None:
    drill = desk.drill()
    while drill.turn is not None and drill.turn.card.id != "ridge":
        drill.bury()
    answer(drill)
    for point in range(3):
        drill.tick(point)
    deck = decks / "plain.md"
    text = deck.read_text("utf-8").replace("- gives 156\n", "").replace("It is 156", "It is about 156")
    deck.write_text(text, "utf-8")
    turn = drill.turn
    drill.reread(desk.reload())
    assert drill.turn is turn and turn is not None and turn.card.answer == "It is about 156 FLOP/B."
    assert (turn.ticked, drill.phase) == ({0, 1}, Phase.REVEALED)
    assert drill.grade(4, 3).entry.digest == desk.library.cards["ridge"].digest


def test_a_card_that_an_edit_breaks_leaves_the_table(desk: Desk, decks) -> None:
    drill = desk.drill()
    assert drill.turn is not None
    broken = drill.turn.card.id
    deck = decks / "plain.md"
    deck.write_text(deck.read_text("utf-8").replace(f"id={broken} kind", f"id={broken} sort"), "utf-8")
    drill.reread(desk.reload())
    assert drill.turn is not None and drill.turn.card.id != broken
    assert list(desk.store.entries()) == []
