"""Whether what a card builds on (`after=`) exists, and comes before it."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from fatutor.deck.faults import nearest
from fatutor.deck.library import Library
from fatutor.deck.model import Fault


def faults(library: Library, elsewhere: Collection[str] = ()) -> Iterator[Fault]:
    """A fault for each card that follows one that does not exist, or that its reader has yet to meet.

    Order is judged within a module and within a deck; between decks of their own there is none. `elsewhere`
    are ids outside of this library.
    """
    places = _places(library)
    said: set[tuple[str, str]] = set()
    for card in library.cards.values():
        for other in dict.fromkeys(card.after):
            if (card.base, other) in said:  # the gaps of one cloze say the same
                continue
            said.add((card.base, other))
            if other not in places:
                if other not in elsewhere:
                    meant = nearest(other, places)
                    cure = f"did you mean {meant}?" if meant else "name a card that exists, or leave it out"
                    yield Fault(card.place, f"after={other} names no card", cure)
                continue
            group, at = places[card.base]
            other_group, other_at = places[other]
            if group == other_group and other_at >= at:
                what = f"after={other} comes no earlier than this card"
                yield Fault(card.place, what, "name a card further up, or move one of the two")


def _places(library: Library) -> dict[str, tuple[str, int]]:
    """For the base of each card the module or deck that it is in, and its rank there."""
    places: dict[str, tuple[str, int]] = {}
    lessons = [deck for deck in library.beats if deck.beat is not None]
    others = [deck for deck in library.decks if deck.beat is None]
    for deck in (*lessons, *others):
        group = f"module {deck.beat.module}" if deck.beat else f"deck {deck.path}"
        for card in deck.cards:
            if card.id in library.cards:
                places.setdefault(card.base, (group, len(places)))
    return places
