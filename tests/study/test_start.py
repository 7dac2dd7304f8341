"""What a start reads of decks that were read before: slips for Today, cards only of the deck on the table."""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from fatutor.desk import Desk
from fatutor.schedule.log import EntryKind

MakeDesk = Callable[..., Desk]


@pytest.fixture
def kept(decks: Path, make_desk: MakeDesk) -> Path:
    """The decks, last changed an hour ago and read once since."""
    for deck in decks.rglob("*.md"):
        age(deck)
    assert len(make_desk().library.decks) == 3
    return decks


def age(deck: Path) -> None:
    changed = deck.stat().st_mtime_ns - 3600 * 10**9
    os.utime(deck, ns=(changed, changed))


def test_today_opens_no_deck_and_a_drill_only_the_one_on_the_table(
    kept: Path, make_desk: MakeDesk, made: list[str]
) -> None:
    desk = make_desk()
    seen = desk.overview()
    assert (seen.counts.new, [deck.total for deck in seen.decks], len(seen.modules)) == (4, [4], 1)
    assert made == []
    drill = desk.drill()
    assert drill.turn is not None
    assert drill.turn.card.prompt.startswith("What is the ridge of an A100?")
    assert made == ["ridge", "number", "choice", "written"]


def test_a_marked_card_is_made_to_be_named(kept: Path, make_desk: MakeDesk, made: list[str]) -> None:
    desk = make_desk()
    away = desk.drill().suspend()
    desk.close()
    made.clear()
    seen = make_desk().overview()
    assert [marked.card for marked in seen.marked] == [away]
    assert set(made) == {"ridge", "number", "choice", "written"}


def test_a_lesson_opens_its_own_deck(kept: Path, make_desk: MakeDesk, made: list[str]) -> None:
    desk = make_desk()
    lesson = desk.lesson(desk.library.beats[1])
    assert lesson.gate is not None
    assert lesson.gate.id == "tiny-2-gate"
    assert made == ["tiny-2-inside", "tiny-2-gate"]


def test_a_card_whose_text_changed_keeps_its_state_and_says_so(
    kept: Path, make_desk: MakeDesk, clock: Any
) -> None:
    first = make_desk()
    drill = first.drill()
    assert drill.turn is not None
    drill.answer()
    state = drill.grade(4, 3).entry.after
    first.close()
    deck = kept / "plain.md"
    deck.write_text(deck.read_text("utf-8").replace("It is 156 FLOP/B.", "156 FLOP/B, dense."), "utf-8")
    age(deck)
    clock.forward(days=1)
    desk = make_desk()
    assert desk.facts().states == {"ridge": state}
    assert state.due == date(2026, 11, 30)
    again = desk.drill()
    assert again.turn is not None
    assert (again.turn.card.answer, again.turn.state) == ("156 FLOP/B, dense.", state)
    assert again.turn.changed
    assert again.turn.kind is EntryKind.REVIEW
