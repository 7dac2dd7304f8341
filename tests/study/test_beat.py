"""Gates: committing unlocks, right or wrong, once."""

from __future__ import annotations

import pytest

from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.store.records import DemoRun


def statuses(desk: Desk) -> list[str]:
    return [line.status for line in desk.overview().modules[0].beats]


def test_committing_opens_the_next_beat_and_its_cards_join(desk: Desk) -> None:
    assert statuses(desk) == ["next", "locked"]
    assert desk.overview().counts.new == 4
    lesson = desk.lesson(desk.library.beats[0])
    lesson.commit("wrong, surely")
    assert statuses(desk) == ["done", "next"]
    assert desk.overview().counts.new == 6


def test_empty_is_refused_with_the_reason_and_stores_nothing(desk: Desk) -> None:
    lesson = desk.lesson(desk.library.beats[0])
    with pytest.raises(FatutorError, match="an empty answer commits nothing; a guess is enough"):
        lesson.commit(" \n ")
    assert not desk.paths.database.exists()


def test_a_commitment_is_for_good(desk: Desk) -> None:
    desk.lesson(desk.library.beats[0]).commit("first")
    lesson = desk.lesson(desk.library.beats[0])
    assert lesson.commitment is not None and lesson.commitment.text == "first"
    with pytest.raises(FatutorError, match="this gate has its answer"):
        lesson.commit("second")


def test_runs_before_and_after_the_commitment_are_evidence_for_it(desk: Desk, clock) -> None:
    lesson = desk.lesson(desk.library.beats[0])
    before, after = (DemoRun(id=name, demo="bytes-moved", at=clock.now()) for name in ("before", "after"))
    desk.store.add_run(before)
    lesson.evidence(before)
    commitment = lesson.commit("my words")
    desk.store.add_run(after)
    lesson.evidence(after)
    assert {run.id: run.commitment for run in desk.store.runs()} == {
        "before": commitment.id,
        "after": commitment.id,
    }


def test_two_windows_at_one_gate_the_second_is_told(make_desk) -> None:
    one, two = make_desk(), make_desk()
    first, second = one.lesson(one.library.beats[0]), two.lesson(two.library.beats[0])
    first.commit("first")
    with pytest.raises(FatutorError):
        second.commit("second")
    assert one.store.commitment("tiny-1-gate").text == "first"


def test_escape_sequences_in_an_answer_are_taken_out(desk: Desk) -> None:
    lesson = desk.lesson(desk.library.beats[0])
    assert lesson.commit("a\x1b]0;title\x07b\x1b[2J").text == "ab"


def test_mastery_counts_intervals_up_to_three_weeks(desk: Desk) -> None:
    desk.lesson(desk.library.beats[0]).commit("x")
    line = desk.overview().modules[0].beats[0]
    assert line.mastery == 0
    drill = desk.drill(desk.library.beats[0])
    while drill.turn is not None:
        drill.answer("x")
        drill.grade(4, 3)
    line = desk.overview().modules[0].beats[0]
    assert line.mastery == pytest.approx(1 / 21)
