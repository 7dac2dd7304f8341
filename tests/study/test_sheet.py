"""What stands on the table: a learner's words come back to the letter."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.desk import Desk
from fatutor.schedule.state import CardState
from fatutor.study import sheet
from fatutor.text.page import layout


@pytest.mark.parametrize(
    "words",
    [
        "a*b*c",
        "_x_ and $N^2$",
        "`code` <b> [x](y)",
        "# no",
        "1. no list\n- none",
        "a\n\nb",
        "end \\",
        "&amp;",
    ],
)
def test_quoted_words_are_shown_to_the_letter(words: str) -> None:
    shown = layout(sheet.quoted(words), 60).plain.split("\n")
    assert [line.removeprefix("▎").strip() for line in shown] == words.split("\n")


@given(st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=1, max_size=40))
def test_any_word_survives_quoting(word: str) -> None:
    assert word in layout(sheet.quoted(word), 60).plain


@pytest.mark.parametrize(
    ("ahead", "shown"),
    [(1, "1 d"), (6, "6 d"), (59, "59 d"), (60, "2.0 mo"), (364, "12.0 mo"), (365, "1.0 y"), (3650, "10 y")],
)
def test_intervals_read_in_days_months_years(ahead: int, shown: str) -> None:
    assert sheet.days(ahead) == shown


def test_a_card_in_relearning_returns_today() -> None:
    today = date(2026, 11, 29)
    assert sheet.returns(CardState(due=date(2026, 11, 30), relearn_on=today), today) == "today"
    assert sheet.returns(CardState(due=date(2026, 12, 5)), today) == "6 d"


def test_a_choice_is_shown_with_its_words(desk: Desk) -> None:
    drill = desk.drill()
    while drill.turn is not None and drill.turn.card.id != "choice":
        drill.bury()
    drill.answer("1")
    assert drill.turn is not None
    shown = layout(sheet.answer(drill.turn, desk.hardware), 60).plain.split("\n")
    assert shown[:5] == ["You chose", "", "▎ 1. the first", "", "✗ not 1; it is 2"]
