"""The numbers that no check covers."""

from __future__ import annotations

import pytest

from fatutor.deck.numbers import Uncovered, uncovered

FRONT = "---\nfatutor: 1\ntitle: T\n---\n"
CARD = "## Interview: it\n<!-- card id=one kind=interview{} -->\n{}\n\n### Answer\n{}\n\n### Check\n    {}\n"


def numbers(body: str, front: str = FRONT) -> list[str]:
    return [found.number for found in uncovered(front + body, "a.md")]


@pytest.mark.parametrize(
    ("text", "check", "left"),
    [
        ("about 43 FLOP/B", "4 * 128 / 12 < 43", []),
        ("about 44 FLOP/B", "4 * 128 / 12 < 43", ["44"]),
        ("16,384 or 16 384 or 16384", "2**14 == 16384", []),
        ("16K tokens, 64K", "2**14 == 16384", ["64K"]),
        ("2³¹ elements, 2³² bytes", "2**31 == 2147483648", ["2³²"]),
        ("4294967296 bytes", "2**32 > 1", []),
        ("27 % and 28 %", "round(0.271, 2) == 0.27", ["28 %"]),
        ("312 TFLOP/s at 1.5 TB/s", "312e12 > 1", ["1.5"]),
        ("a gain of 3× of 1.5×", "1 == 1", ["3×", "1.5×"]),
        ("2.4e-2 and 9.1e-3", "0.024 > 1e-9", ["9.1e-3"]),
        ("in 3 of 9 cases, beat 07, at N = 16 384, d = 64, n = 65", "1 == 1", ["65"]),
        ("on 2026-11-29, in 2022, A100, FA2, bf16, 2:4, x86, `128`, 64-wide", "1 == 1", ["64"]),
        ("arXiv 2205.14135", "1 == 1", []),
        ("0.5 and .25", "0.50 + .25 == .75", []),
        ("- 12: too few\n- 13, too", "12 > 1", ["13"]),
        ("```text\n77 passes\n```\n\n```python\nx = 78\n```", "1 == 1", ["77"]),
    ],
)  # fmt: skip
def test_what_counts_as_a_number_and_as_covered(text: str, check: str, left: list[str]) -> None:
    assert numbers(CARD.format("", "Ask.", text, check)) == left
    assert numbers(f"{text}\n\n```check\n{check}\n```\n") == left


def test_a_prompt_gives_and_a_value_proves() -> None:
    assert numbers(CARD.format("", "Of 512, with 64.", "512 and 64 and 65", "1 == 1")) == ["65"]
    assert numbers(CARD.format(' answer=number value="77/2"', "Ask.", "77 halved is 38.5", "1 == 1")) == [
        "38.5"
    ]


def test_sources_choices_and_checks_are_not_read() -> None:
    body = CARD.format("", "Ask.", "x", "17 == 17  # 18")
    assert numbers(body + "### Choices\n- [x] 19\n### Source\nPage 20.\n### Not quite\n- 21: no\n") == ["21"]


def test_each_run_of_prose_and_each_card_has_checks_of_its_own() -> None:
    card = CARD.format("", "Ask.", "33", "22 == 22")
    assert numbers(
        f"22\n\n```check\n33 == 33\n```\n\n{card}\n## On\n44 and 55\n\n```check\n44 > 1\n```\n"
    ) == [
        "22",
        "33",
        "55",
    ]


def test_the_terms_of_a_glossary_are_apart() -> None:
    front = FRONT.replace("title: T", "title: T\nglossary: true")
    assert numbers("## A\n22\n\n## B\n33\n```check\n22 == 22\n33 == 33\n```\n", front) == ["22"]


def test_the_place_and_the_words_around_it_are_told() -> None:
    text = f"{FRONT}Some words that stand well before it, then 77 things and some words far behind.\n"
    (found,) = uncovered(text, "a.md")
    assert (
        str(found) == "a.md:5: 77, in “that stand well before it, then 77 things and some words far behind.”"
    )
    assert found.as_json() == {
        "path": "a.md",
        "line": 5,
        "number": "77",
        "context": "that stand well before it, then 77 things and some words far behind.",
    }
    assert isinstance(found, Uncovered)


@pytest.mark.parametrize(
    "text", ["", "77", "---\nfatutor: 1\ntitle: T\n", FRONT + "## \n<!-- card\n77 -->\n```\n"]
)
def test_what_is_no_deck_or_broken_is_passed_over(text: str) -> None:
    assert list(uncovered(text, "a.md")) == []
