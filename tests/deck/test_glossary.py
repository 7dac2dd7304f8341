"""Terms: read, gathered, and found in a text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.glossary import Glossary
from fatutor.deck.hardware import Hardware
from fatutor.deck.library import load
from fatutor.deck.lint import check
from fatutor.deck.model import Deck, Place, Term
from fatutor.study import terms

Read = Callable[..., Deck]
Write = Callable[..., Path]
FRONT = "---\nfatutor: 1\ntitle: Terms\nglossary: true\n---\n"


def told(deck: Deck) -> list[str]:
    return [str(fault).removeprefix("folder/small.md:") for fault in deck.faults]


def a_term(name: str, *aliases: str) -> Term:
    return Term(name, aliases, "x", Place("a.md", 1))


def names(glossary: Glossary, text: str) -> list[str]:
    return [term.name for term in glossary.occurring(text)]


def test_a_glossary_is_read(read: Read) -> None:
    deck = read(
        FRONT + "# Terms\nFor readers of the file.\n\n## HBM (device memory, DRAM)\nThe GPU's *own* memory.\n"
        "\n```check\n2 == 2  # yes\n```\nIt is large.\n\n## Tile\n\nA piece.\n\n```py\n## no term\n```\n",
        raw=True,
    )
    assert deck.faults == ()
    assert deck.blocks == ()
    assert deck.terms == (
        Term(
            "HBM",
            ("device memory", "DRAM"),
            "The GPU's *own* memory.\n\nIt is large.",
            Place("folder/small.md", 9),
        ),
        Term("Tile", (), "A piece.\n\n```py\n## no term\n```", Place("folder/small.md", 17)),
    )
    assert [(claim.expression, claim.line) for claim in deck.checks] == [("2 == 2", 13)]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ("## HBM\n\n## Tile\nx\n", ['6: the term "HBM" is not explained; '
         "write one to three sentences below it"]),
        ("## HBM\n```check\n1 == 1\n```\n", ['6: the term "HBM" is not explained; '
         "write one to three sentences below it"]),
        ("## \nx\n", ["6: the heading of a term is empty; write ## and the term"]),
        ("## (HBM)\nx\n", ["6: the heading of a term is empty; write ## and the term"]),
        ("## T\n<!-- card id=one kind=recall -->\n### Answer\nx\n",
         ["7: a card stands in a glossary; move it to a deck of its own"]),
        ("Only prose.\n",
         ["1: warning: this glossary has no terms; write ## Term (alias, alias) and a sentence below it"]),
        ("## T\n```\n", ["7: this code fence is never closed; end it with a line of the same signs"]),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_glossary(body: str, faults: list[str], read: Read) -> None:
    assert told(read(FRONT + body, raw=True)) == faults


@pytest.mark.parametrize("value", ["no", "1", "yes please", "[]"])
def test_glossary_is_true_or_not_there(value: str, read: Read) -> None:
    deck = read(
        FRONT.replace("true", value) + "## R\n<!-- card id=rec kind=recall -->\n### Answer\nx\n", raw=True
    )
    assert told(deck) == ["4: glossary is not true; write glossary: true, or leave it out"]
    assert [card.id for card in deck.cards] == ["rec"]


def test_a_glossary_is_no_beat(read: Read, beat_front: Callable[..., str]) -> None:
    front = beat_front().replace("title: Lesson", "title: Lesson\nglossary: true")
    deck = read(front + "## HBM\nx\n", raw=True)
    assert told(deck) == [
        "5: a glossary is no beat, and this one says module; move the terms to a file of their own"
    ]
    assert (deck.beat, len(deck.terms)) == (None, 1)


def test_a_term_explained_twice_is_a_fault_at_both_places_and_the_first_one_stands(
    write: Write, tmp_path: Path, hardware: Hardware
) -> None:
    write("a.md", "## Split-KV\nfirst\n\n## Tile\nx\n\n## HBM (hbm)\nx\n", front=FRONT)
    write("b.md", "## Splits (split kv)\nsecond\n\n## Pass\nx\n", front=FRONT)
    library = load([tmp_path], hardware=hardware)
    assert [str(fault).replace(f"{tmp_path}/", "") for fault in library.faults] == [
        'a.md:6: the term "Split-KV" is also explained at b.md:6; '
        "explain it once; until then the first one is shown",
        'b.md:6: the term "split kv" is also explained at a.md:6; '
        "explain it once; until then the first one is shown",
    ]
    assert [term.name for term in library.glossary.terms] == ["Split-KV", "Tile", "HBM", "Pass"]


def test_a_glossary_is_cached_and_its_numbers_are_proved(
    write: Write, tmp_path: Path, hardware: Hardware
) -> None:
    write("decks/a.md", "## HBM (DRAM)\nx\n```check\n1 == 2\n```\n", front=FRONT)
    first, second = (
        load([tmp_path / "decks"], hardware=hardware, cache=tmp_path / "cache") for _ in range(2)
    )
    assert first == second
    assert check(second, hardware, None).false_checks == 1


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("A tile of HBM.", ["HBM", "Tile"]),
        ("Tiles, passes and the KV\ncaches", ["KV cache", "Pass", "Tile"]),
        ("reptile, tiled, hbm, bypass, kv cache", []),
        ("_tile_ **split-KV** Split KV", ["Split-KV", "Tile"]),
        ("two DRAM bytes", ["HBM"]),
        ("L2, not L20 or XL2", ["L2"]),
        ("an SM, two SMs, sm_90", ["SM"]),
        ("the log-sum-exp, or log sum exp", ["Log-sum-exp"]),
        ("C++ (a.b)", ["a.b"]),
        ("", []),
    ],
)
def test_terms_are_found_as_whole_words(text: str, found: list[str]) -> None:
    plain = map(a_term, ("Tile", "Pass", "KV cache", "Split-KV", "L2", "SM", "Log-sum-exp", "a.b"))
    glossary = Glossary((*plain, a_term("HBM", "DRAM")))
    assert names(glossary, text) == found


def test_what_a_page_uses_leaves_out_what_is_not_revealed(read: Read) -> None:
    glossary = Glossary((a_term("HBM", "DRAM"), a_term("Tile"), a_term("Pass"), a_term("Ridge")))
    deck = read(
        "A tile.\n\n## The ridge\n<!-- card id=one kind=interview -->\nAsked.\n\n### Answer\nIn HBM.\n\n"
        "### Key points\n- a pass\n"
    )
    (card,) = deck.cards

    def called(found: tuple[Term, ...]) -> list[str]:
        return [term.name for term in found]

    assert called(terms.of_card(glossary, card)) == ["HBM", "Pass", "Ridge"]
    assert called(terms.of_lesson(glossary, deck, ())) == ["Ridge", "Tile"]
    assert called(terms.of_lesson(glossary, deck, {"one"})) == ["HBM", "Pass", "Ridge", "Tile"]
    assert terms.page(glossary.terms[:2]) == "### HBM *(DRAM)*\n\nx\n\n### Tile\n\nx"
