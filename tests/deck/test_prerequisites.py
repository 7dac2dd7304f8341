"""What a card follows exists, and comes before it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.hardware import Hardware
from fatutor.deck.library import load
from fatutor.deck.lint import check

Write = Callable[..., Path]


def a_card(identity: str, after: str = "", kind: str = "recall") -> str:
    points = "### Key points\n- says\n" if kind == "prove-it" else ""
    after = f" after={after}" if after else ""
    return f"## T\n<!-- card id={identity} kind={kind}{after} -->\n### Answer\nx\n{points}\n"


@pytest.fixture
def faults(tmp_path: Path, hardware: Hardware) -> Callable[..., list[str]]:
    def found(*elsewhere: str) -> list[str]:
        report = check(load([tmp_path], hardware=hardware), hardware, None, elsewhere)
        return [str(fault).removeprefix(f"{tmp_path}/") for fault in report.faults if not fault.warning]

    return found


def test_a_card_may_follow_one_further_up_in_any_deck(write: Write, faults: Callable[..., list[str]]) -> None:
    write("a.md", a_card("one") + a_card("two", "one,three"))
    write("b.md", a_card("three", "two"))
    assert faults() == []


def test_an_unknown_card_and_one_further_down_are_faults(
    write: Write, faults: Callable[..., list[str]]
) -> None:
    write("a.md", a_card("one", "two,oen") + a_card("two", "two"))
    assert faults() == [
        "a.md:6: after=two comes no earlier than this card; name a card further up, or move one of the two",
        "a.md:6: after=oen names no card; did you mean one?",
        "a.md:11: after=two comes no earlier than this card; name a card further up, or move one of the two",
    ]


def test_beats_are_ordered_by_their_numbers(
    write: Write, beat_front: Callable[..., str], faults: Callable[..., list[str]]
) -> None:
    write("z.md", a_card("g-1", kind="prove-it"), front=beat_front(1))
    write("a.md", a_card("g-2", "g-1", kind="prove-it"), front=beat_front(2))
    assert faults() == []
    write("z.md", a_card("g-1", "g-2", kind="prove-it"), front=beat_front(1))
    assert [fault.partition(";")[0] for fault in faults()] == [
        "z.md:11: after=g-2 comes no earlier than this card"
    ]


def test_the_gaps_of_a_cloze_say_it_once_and_are_followed_by_their_base(
    write: Write, faults: Callable[..., list[str]]
) -> None:
    gaps = "## C\n<!-- card id=gaps kind=cloze after=what -->\n{{c1::a}} {{c2::b}}\n\n"
    write("a.md", gaps + a_card("one", "gaps"))
    assert faults() == ["a.md:6: after=what names no card; name a card that exists, or leave it out"]


def test_cards_elsewhere_count(write: Write, faults: Callable[..., list[str]]) -> None:
    write("a.md", a_card("one", "far"))
    assert len(faults()) == 1
    assert faults("far") == []
