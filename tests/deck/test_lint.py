"""What `fatutor check` proves and counts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.hardware import Hardware
from fatutor.deck.library import load
from fatutor.deck.lint import Report, check
from fatutor.deck.model import Deck, Prose
from fatutor.deck.reading import minutes

Write = Callable[..., Path]
Front = Callable[..., str]
GATE = "## Prove it: g\n<!-- card id={} kind=prove-it -->\n### Answer\nx\n### Key points\n- says\n"


@pytest.fixture
def report(tmp_path: Path, hardware: Hardware) -> Callable[..., Report]:
    def make(demos: frozenset[str] | None = None) -> Report:
        return check(load([tmp_path], hardware=hardware), hardware, demos)

    return make


def words(number: int) -> str:
    return "word " * number + "\n\n"


def faults_in(report: Report, folder: Path) -> list[str]:
    return [str(fault).removeprefix(f"{folder}/") for fault in report.faults]


def test_counts_and_json(write: Write, beat_front: Front, report: Callable[..., Report]) -> None:
    write("1.md", words(180) + GATE.format("g-1"), front=beat_front(1, 1))
    write("2.md", words(360) + GATE.format("g-2"), front=beat_front(2, 2, "deep-dive"))
    write("3.md", words(540) + GATE.format("g-3"), front=beat_front(3, 3))
    write(
        "deck.md",
        "```check\n1 == 1\n2 == 3\n```\n\n## C\n<!-- card id=gaps kind=cloze -->\n{{c1::a}} {{c2::b}}\n"
        "### Check\n    A100.bf16 == 312e12\n    1 / 0 == 1\n\n"
        "## R\n<!-- card id=rec kind=recall -->\n### Answer\nx\n",
    )
    found = report()
    assert found.as_json() == {
        "beats": 3,
        "cards": {"prove-it": 3, "interview": 0, "recall": 1, "cloze": 2},
        "checks": {"true": 2, "false": 2},
        "minutes": {"core": 4, "deep-dive": 2},
        "faults": [
            {
                "path": found.faults[0].place.path,
                "line": 8,
                "what": 'the check "2 == 3" is not true: 2 == 3 does not hold',
                "cure": "mend the number, here and in the text",
                "warning": False,
            },
            {
                "path": found.faults[0].place.path,
                "line": 16,
                "what": 'the check "1 / 0 == 1" cannot be worked out: it divides by zero',
                "cure": "keep the divisor away from 0",
                "warning": False,
            },
        ],
    }
    assert found.summary == "3 beats, 6 cards, 2 of 4 checks true, 2 faults, 0 warnings"


def test_an_empty_library_is_fine(report: Callable[..., Report]) -> None:
    assert report().as_json() == {
        "beats": 0,
        "cards": {"prove-it": 0, "interview": 0, "recall": 0, "cloze": 0},
        "checks": {"true": 0, "false": 0},
        "minutes": {"core": 0, "deep-dive": 0},
        "faults": [],
    }


def test_demos_that_nobody_knows(write: Write, report: Callable[..., Report], tmp_path: Path) -> None:
    write("a.md", "## R\n<!-- card id=rec kind=recall demo=bytes-move -->\n### Answer\nx\n")
    assert report(None).faults == ()
    assert report(frozenset({"bytes-move"})).faults == ()
    assert faults_in(report(frozenset({"bytes-moved", "same-answer"})), tmp_path) == [
        'a.md:6: there is no demo "bytes-move"; did you mean bytes-moved?'
    ]
    assert faults_in(report(frozenset({"ring", "same-answer"})), tmp_path) == [
        'a.md:6: there is no demo "bytes-move"; the demos are ring or same-answer'
    ]
    assert faults_in(report(frozenset()), tmp_path) == [
        'a.md:6: there is no demo "bytes-move"; take demo= out of the card comment'
    ]


@pytest.mark.parametrize(
    ("prose", "stated", "warning"),
    [
        (words(1800), 10, None),
        (words(2070), 10, None),
        (words(1530), 10, None),
        (
            words(2100),
            10,
            "minutes says 10, and the prose takes about 11.7; write minutes: 12, or change the prose",
        ),
        (
            words(900),
            10,
            "minutes says 10, and the prose takes about 5.0; write minutes: 5, or change the prose",
        ),
        ("", 1, "minutes says 1, and the prose takes about 0.0; write minutes: 1, or change the prose"),
    ],
)
def test_stated_minutes_are_held_against_the_prose(
    prose: str,
    stated: int,
    warning: str | None,
    write: Write,
    beat_front: Front,
    report: Callable[..., Report],
    tmp_path: Path,
) -> None:
    write("1.md", prose + GATE.format("gate"), front=beat_front(1, stated))
    assert faults_in(report(), tmp_path) == ([f"1.md:1: warning: {warning}"] if warning else [])


def test_reading_time_counts_code_half_and_checks_not_at_all() -> None:
    text = "# Two words\n\none | two — three\n\n```py\none two three four\n```\n\n```check\n1 == 1\n```\n"
    deck = Deck("d", "t", "p", (Prose(text, 1), Prose("one $N^2$", 9)))
    assert minutes(deck) * 180 == pytest.approx(2 + 3 + 4 / 2 + 2)


def test_beats_are_numbered_without_gaps(
    write: Write, beat_front: Front, report: Callable[..., Report], tmp_path: Path
) -> None:
    for number in (2, 3, 6):
        write(f"{number}.md", words(180) + GATE.format(f"g-{number}"), front=beat_front(number))
    assert faults_in(report(), tmp_path) == [
        "2.md:1: warning: Tiny goes on with beat 2, but has no beat 1; number the beats of a module 1, 2, 3",
        "6.md:1: warning: Tiny goes on with beat 6, but has no beats 4 to 5; "
        "number the beats of a module 1, 2, 3",
    ]


def test_broken_decks_count_what_is_left(write: Write, report: Callable[..., Report]) -> None:
    write(
        "a.md",
        "## R\n<!-- card id=rec kind=recall -->\n\n## S\n<!-- card id=sec kind=recall -->\n### Answer\nx\n",
    )
    found = report()
    assert found.summary == "0 beats, 1 card, 0 of 0 checks true, 1 fault, 0 warnings"
