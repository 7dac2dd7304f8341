"""The bundled decks: proved, complete, and readable on a narrow screen."""

from __future__ import annotations

import pytest

from fatutor.deck import reading
from fatutor.deck.hardware import bundled, read
from fatutor.deck.library import Library, load
from fatutor.deck.lint import MINUTES_OFF, check
from fatutor.deck.model import AnswerForm, Kind, Prose, Track
from fatutor.demo.catalogue import known_names
from fatutor.paths import bundle_root
from fatutor.study import sheet, terms
from fatutor.text.page import layout


@pytest.fixture(scope="module")
def library() -> Library:
    return load([bundle_root() / "decks"])


def test_they_are_proved_and_complete(library: Library) -> None:
    report = check(library, read(bundled()), known_names(bundle_root()))
    assert [str(fault) for fault in report.faults] == []
    assert (report.beats, report.false_checks) == (7, 0)
    assert report.cards[Kind.INTERVIEW] >= 120
    assert report.true_checks >= 250
    assert report.minutes == {Track.CORE: 32, Track.DEEP_DIVE: 24}


def test_a_beat_takes_as_long_as_it_says_and_asks_before_its_gate(library: Library) -> None:
    for deck in library.beats:
        assert deck.beat is not None
        assert reading.minutes(deck) == pytest.approx(deck.beat.minutes, rel=MINUTES_OFF)
        assert sum(card.kind is Kind.INTERVIEW for card in deck.cards) >= 3


def test_cards_can_be_judged(library: Library) -> None:
    cards = library.cards.values()
    asked = [card for card in cards if card.kind in (Kind.INTERVIEW, Kind.PROVE_IT)]
    for card in asked:
        assert card.level, card.id
        assert card.difficulty, card.id
        assert card.not_quite, card.id
        assert card.follow_ups, card.id
        assert any(point.critical for point in card.key_points), card.id
    assert {card.response.form for card in asked} == set(AnswerForm)
    assert sum(card.demo is not None for card in cards) >= 40


@pytest.mark.parametrize("width", [56, 76])
def test_no_line_of_code_is_folded_on_a_narrow_screen(width: int, library: Library) -> None:
    for deck in library.decks:
        texts = [block.text for block in deck.blocks if isinstance(block, Prose)]
        texts += [f"{sheet.prompt(card)}\n\n{card.answer}\n\n{sheet.rest(card)}" for card in deck.cards]
        for text in (*texts, terms.page(deck.terms)):
            lines = layout(text, width).plain.split("\n")
            assert not [line for line in lines if line.startswith("↪") or len(line) > width], deck.name


def test_every_term_is_used_somewhere(library: Library) -> None:
    used = {term.name for card in library.cards.values() for term in terms.of_card(library.glossary, card)}
    used |= {term.name for deck in library.beats for term in terms.of_lesson(library.glossary, deck, ())}
    assert {term.name for term in library.glossary.terms} <= used
    assert len(library.glossary.terms) >= 50
