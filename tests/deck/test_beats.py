"""A deck that is a lesson: its gate, and what a lesson may not lack."""

from __future__ import annotations

from collections.abc import Callable

from fatutor.deck.model import Deck, Track

Read = Callable[..., Deck]
Front = Callable[..., str]


def a_card(name: str, kind: str = "recall") -> str:
    points = "### Key points\n- says x\n" if kind != "recall" else ""
    return f"## {name}\n<!-- card id={name} kind={kind} -->\n### Answer\nx\n{points}\n"


def test_every_card_of_a_beat_waits_for_its_gate(read: Read, beat_front: Front) -> None:
    deck = read(beat_front(3, 8, "deep-dive") + a_card("one") + a_card("gate", "prove-it"), raw=True)
    assert deck.faults == ()
    assert deck.beat is not None
    assert (deck.beat.number, deck.beat.minutes, deck.beat.track) == (3, 8, Track.DEEP_DIVE)
    assert deck.beat.gate == "gate"
    assert [card.gate for card in deck.cards] == ["gate", "gate"]


def test_the_cards_of_a_plain_deck_wait_for_nothing(read: Read) -> None:
    assert [card.gate for card in read(a_card("one")).cards] == [None]


def test_a_beat_without_prove_it_is_no_beat(read: Read, beat_front: Front) -> None:
    deck = read(beat_front() + a_card("one"), raw=True)
    assert deck.beat is None
    assert [card.gate for card in deck.cards] == [None]
    assert [str(fault) for fault in deck.faults] == [
        "folder/small.md:1: this beat has no prove-it card, so it is left out of its module; "
        "end the file with ## Prove it: … and <!-- card id=… kind=prove-it -->"
    ]


def test_the_gate_must_be_the_last_card(read: Read, beat_front: Front) -> None:
    deck = read(beat_front() + a_card("gate", "prove-it") + a_card("one"), raw=True)
    assert deck.beat is not None
    assert deck.beat.gate == "gate"
    assert [str(fault) for fault in deck.faults] == [
        "folder/small.md:11: the prove-it card is not the last card of the beat; move it to the end"
    ]


def test_a_beat_has_one_gate(read: Read, beat_front: Front) -> None:
    deck = read(beat_front() + a_card("early", "prove-it") + a_card("gate", "prove-it"), raw=True)
    assert deck.beat is not None
    assert deck.beat.gate == "gate"
    assert [str(fault) for fault in deck.faults] == [
        "folder/small.md:11: a beat has one prove-it card, and this is not the last; write kind=interview"
    ]


def test_prove_it_outside_of_a_beat_is_pointed_out(read: Read) -> None:
    deck = read(a_card("gate", "prove-it"))
    assert [str(fault) for fault in deck.faults] == [
        "folder/small.md:6: warning: a prove-it card ends a beat, and this deck is none; "
        "write kind=interview, or add module, beat and so on at the top"
    ]


def test_a_beat_with_a_broken_key_is_told_about_that_key_only(read: Read, beat_front: Front) -> None:
    deck = read(beat_front(path="fast") + a_card("gate", "prove-it"), raw=True)
    assert deck.beat is None
    assert [fault.place.line for fault in deck.faults] == [8]
