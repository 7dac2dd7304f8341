"""What stands on the table: a learner's words come back to the letter."""

from __future__ import annotations

from collections.abc import Callable
from datetime import date
from pathlib import Path

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


@pytest.mark.parametrize(
    ("checks", "told"),
    [
        ("1 + 1 == 2", "✓ 1 check true"),
        ("1 + 1 == 2\n    2 + 2 == 4", "✓ 2 checks true"),
        ("1 + 1 == 3", "✗ 1 of 1 check not true; run: fatutor check {path}"),
        ("1 + 1 == 2\n    2 + 2 == 5", "✗ 1 of 2 checks not true; run: fatutor check {path}"),
    ],
)
def test_the_badge_counts_checks_and_speaks_for_no_other_number(
    make_desk: Callable[..., Desk], tmp_path: Path, checks: str, told: str
) -> None:
    deck = tmp_path / "one.md"
    card = f"## T\n<!-- card id=one kind=recall -->\nx\n\n### Answer\n2 of 37.\n\n### Check\n    {checks}\n"
    deck.write_text(f"---\nfatutor: 1\ntitle: One\n---\n{card}", encoding="utf-8")
    desk = make_desk(roots=[deck])
    drill = desk.drill()
    drill.answer()
    assert drill.turn is not None
    assert sheet.answer(drill.turn, desk.hardware).split("\n\n") == ["2 of 37.", told.format(path=deck)]
