"""Gaps: where they are seen, what each sibling asks, and what cannot be read."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fatutor.deck.model import Deck

Read = Callable[..., Deck]


def cloze(read: Read, body: str, more: str = "", attributes: str = "") -> Deck:
    return read(f"## Cloze: gaps\n<!-- card id=gaps kind=cloze {attributes}-->\n{body}\n{more}")


def messages(deck: Deck) -> list[str]:
    return [str(fault).removeprefix("folder/small.md:") for fault in deck.faults]


def test_one_card_a_gap_number(read: Read) -> None:
    deck = cloze(read, "{{c2::A}} plus {{c1::B::letter}} is {{c2::C}}.")
    assert deck.faults == ()
    assert [(card.id, card.base, card.prompt) for card in deck.cards] == [
        ("gaps#c1", "gaps", "A plus [letter] is C."),
        ("gaps#c2", "gaps", "[…] plus B is […]."),
    ]
    assert {card.answer for card in deck.cards} == {"A plus B is C."}
    assert len({card.digest for card in deck.cards}) == 2


def test_what_stands_under_answer_follows_the_filled_text(read: Read) -> None:
    deck = cloze(read, "{{c1::A}}", "### Answer\nBecause.\n")
    assert [card.answer for card in deck.cards] == ["A\n\nBecause."]


@pytest.mark.parametrize(
    ("body", "prompt", "answer"),
    [
        ("{{c1::$x!$}}", "[…]", "$x!$"),
        ("{{c1::$\\frac{1}{\\sqrt{d}}$}} end", "[…] end", "$\\frac{1}{\\sqrt{d}}$ end"),
        ("{{c1::$e^{m_{1}}$::power}}", "[power]", "$e^{m_{1}}$"),
        ("{{c1::$$a{{b}}$$}}", "[…]", "$$a{{b}}$$"),
        ("costs $5 and {{c1::$6}}", "costs $5 and […]", "costs $5 and $6"),
        ("costs $5, {{c1::$x$}} more", "costs $5, […] more", "costs $5, $x$ more"),
        ("costs \\$5 {{c1::x}}$", "costs \\$5 […]$", "costs \\$5 x$"),
        ("{{c1::`std::vector<int>`}}", "[…]", "`std::vector<int>`"),
        ("{{c1::`a}}b`::code}}", "[code]", "`a}}b`"),
        ("`{{c2::x}}` is {{c1::code}}", "`{{c2::x}}` is […]", "`{{c2::x}}` is code"),
        ("``a ` {{c2::x}}`` {{c1::y}}", "``a ` {{c2::x}}`` […]", "``a ` {{c2::x}}`` y"),
        ("a ` b {{c1::y}}", "a ` b […]", "a ` b y"),
        ("```\n{{c2::x}}\n```\n{{c1::y}}", "```\n{{c2::x}}\n```\n[…]", "```\n{{c2::x}}\n```\ny"),
        ("\\{{c1::a}} {{c1::b}}", "\\{{c1::a}} […]", "\\{{c1::a}} b"),
        ("{{c1::two\nlines}}", "[…]", "two\nlines"),
        ("**{{c1::bold}}** {{ not }} {{c::x}}", "**[…]** {{ not }} {{c::x}}", "**bold** {{ not }} {{c::x}}"),
    ],
)
def test_gaps_outside_code_and_math(read: Read, body: str, prompt: str, answer: str) -> None:
    deck = cloze(read, body)
    assert messages(deck) == []
    assert [(card.id, card.prompt, card.answer) for card in deck.cards] == [("gaps#c1", prompt, answer)]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        (
            "No gap.",
            "6: this cloze has no gap (those inside code or a formula do not count); "
            "write {{c1::what is asked for}} in its text",
        ),
        ("a\n{{c1::open", '9: the gap "{{c1::open" is never closed; end it with }}'),
        ("{{c1::a\n\nb}}", '8: the gap "{{c1::a b}}" is never closed; end it with }}'),
        (
            "{{c1::a {{c2::b}} c}}",
            "8: a gap stands inside another one; end the first with }} before the second",
        ),
        ("x {{c1::}}", "8: a gap is empty or has the number 0; write {{c1::what is asked for}}"),
        ("{{c0::a}}", "8: a gap is empty or has the number 0; write {{c1::what is asked for}}"),
    ],
)
def test_a_gap_that_cannot_be_read_is_a_fault(read: Read, body: str, fault: str) -> None:
    deck = cloze(read, body)
    assert deck.cards == ()
    assert messages(deck) == [fault]


def test_a_gap_inside_a_formula_is_pointed_out(read: Read) -> None:
    deck = cloze(read, "{{c1::a}} and\n$b + {{c2::c}}$")
    assert [card.id for card in deck.cards] == ["gaps#c1"]
    assert messages(deck) == [
        "9: warning: a gap inside a formula stays closed; put the gap around the whole formula: {{c1::$…$}}"
    ]


def test_gaps_in_a_card_of_another_kind_are_pointed_out(read: Read) -> None:
    deck = read("## One\n<!-- card id=one kind=recall -->\n{{c1::a}}\n### Answer\nx\n")
    assert [card.prompt for card in deck.cards] == ["{{c1::a}}"]
    assert messages(deck) == [
        '6: warning: "One" has gaps, but is no cloze; write kind=cloze in its comment to ask for them'
    ]


def test_a_cloze_is_answered_in_words(read: Read) -> None:
    deck = cloze(read, "{{c1::4}}", attributes="answer=number value=4 ")
    assert deck.cards == ()
    assert messages(deck) == ["6: a cloze cannot have answer=number; write answer=text, or leave it out"]


def test_comments_do_not_shift_the_lines_of_faults(read: Read) -> None:
    (fault,) = messages(cloze(read, "<!-- a\nb -->\nc\n{{c1::open"))
    assert fault.startswith("11: the gap")
