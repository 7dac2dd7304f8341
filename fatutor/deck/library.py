"""All decks together: cards by id, beats in order, and what is wrong between files."""

from __future__ import annotations

import gc
import hashlib
import json
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from fatutor.deck import glossary
from fatutor.deck import hardware as hardware_table
from fatutor.deck.cache import Cache
from fatutor.deck.files import DeckFile, find, read_text
from fatutor.deck.glossary import Glossary
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import Card, Deck, Fault, Place, Slip
from fatutor.text.clean import clean_line


@dataclass(frozen=True, slots=True)
class Library:
    """Everything that was read. `cards` holds the ones that can be drilled, by id and in reading order.

    `slips` are what the queue needs of each of these, at hand before any card is made. `beats` are the
    lessons in the order of module and number; `glossary` has the terms of all files, and `faults` are what
    is wrong in any of them, by place.
    """

    decks: tuple[Deck, ...]
    cards: Mapping[str, Card]
    beats: tuple[Deck, ...]
    faults: tuple[Fault, ...]
    glossary: Glossary = field(default_factory=Glossary)
    slips: tuple[Slip, ...] = ()

    def deck(self, name: str) -> Deck | None:
        return next((deck for deck in self.decks if deck.name == name), None)

    def module(self, title: str) -> tuple[Deck, ...]:
        """The beats of one module, first to last."""
        return tuple(deck for deck in self.beats if deck.beat is not None and deck.beat.module == title)


class _Cards(Mapping[str, Card]):
    """The cards of all decks by id, without those whose base is in `barred`.

    The first card that is asked for opens its deck.
    """

    def __init__(self, decks: Iterable[Deck], barred: Container[str]) -> None:
        self._decks = decks
        self._barred = barred
        self._made: dict[str, Card] = {}

    @cached_property
    def _homes(self) -> Mapping[str, Deck]:
        return {slip.id: deck for deck in self._decks for slip in deck.slips if slip.base not in self._barred}

    def __getitem__(self, card_id: str) -> Card:
        home = self._homes[card_id]
        if card_id not in self._made:
            self._made.update((card.id, card) for card in home.cards)
        return self._made[card_id]

    def __iter__(self) -> Iterator[str]:
        return iter(self._homes)

    def __len__(self) -> int:
        return len(self._homes)

    def __contains__(self, card_id: object) -> bool:
        return card_id in self._homes


def load(
    roots: Sequence[Path],
    *,
    hardware: Hardware | None = None,
    cache: Path | None = None,
    beside: Sequence[Deck] = (),
) -> Library:
    """Read every deck below the roots; what is wrong is in `faults`, and nothing is raised for it.

    `hardware` is the table that a card's value may name, the bundled one unless another is given; `cache`
    is a folder for parsed decks, which may vanish at any time. A root that does not exist is a fault.
    `beside` are decks outside of the library, whose ids its cards may not have.
    Raises FatutorError only where the bundled hardware table cannot be read.
    """
    table = hardware_table.read(hardware_table.bundled()) if hardware is None else hardware
    entries = Cache(cache, _digest(table)) if cache else None
    files, faults = find(roots)
    decks: list[Deck] = []
    with _collector_paused():
        for file in files:
            deck = entries.get(file) if entries else None
            if deck is None:
                deck = _read(file, table, faults)
                if deck and entries:
                    entries.put(file, deck)
            if deck:
                decks.append(deck)
        return assemble(decks, faults, beside)


@contextmanager
def _collector_paused() -> Iterator[None]:
    """Reading makes many values that stay and no cycles: looking for garbage among them doubles the time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def assemble(decks: Sequence[Deck], faults: Iterable[Fault] = (), beside: Sequence[Deck] = ()) -> Library:
    """A library of decks that were read, with the faults that only show between them.

    `beside` are decks outside of it, whose ids its cards may not have.
    """
    clashes = _clashes([*decks, *beside])
    lessons = [deck for deck in decks if deck.beat is not None]
    terms, term_faults = glossary.gather(decks)
    found = [
        *faults,
        *(fault for deck in decks for fault in deck.faults),
        *_clash_faults(clashes, {deck.path for deck in beside}),
        *_number_faults(lessons),
        *_name_faults(decks),
        *term_faults,
    ]
    return Library(
        decks=tuple(decks),
        cards=_Cards(tuple(decks), clashes),
        beats=tuple(sorted(lessons, key=_beat_order)),
        faults=tuple(sorted(found, key=lambda fault: fault.place)),
        glossary=terms,
        slips=tuple([slip for deck in decks for slip in deck.slips if slip.base not in clashes]),
    )


def _read(file: DeckFile, hardware: Hardware, faults: list[Fault]) -> Deck | None:
    """The deck in a file, or None where it holds none; a README need not say why."""
    # Where every deck is in the cache nothing is parsed, and a start need not load what parses.
    from fatutor.deck import front_matter
    from fatutor.deck.parse import parse

    text = read_text(file.path)
    if isinstance(text, Fault):
        faults.append(text)
        return None
    is_deck = front_matter.opens(text)
    if not is_deck and file.path.name.lower() == "readme.md":
        return None
    deck = parse(text, name=clean_line(file.name), path=clean_line(str(file.path)), hardware=hardware)
    if not is_deck:
        faults += deck.faults
        return None
    return deck


def _digest(hardware: Hardware) -> str:
    figures = sorted((chip, sorted(table.items())) for chip, table in hardware.items())
    return hashlib.blake2b(json.dumps(figures).encode("ascii"), digest_size=8).hexdigest()


def _clashes(decks: Sequence[Deck]) -> dict[str, list[Card]]:
    """The cards of each id that stands at more than one place; the gaps of one cloze share theirs."""
    stands = (base for deck in decks for base, _ in {(slip.base, slip.line) for slip in deck.slips})
    twice = {base for base, times in Counter(stands).items() if times > 1}
    places: dict[str, dict[Place, Card]] = {}
    for deck in decks if twice else ():
        if any(slip.base in twice for slip in deck.slips):
            for card in deck.cards:
                places.setdefault(card.base, {}).setdefault(card.place, card)
    return {base: list(found.values()) for base, found in places.items() if len(found) > 1}


def _clash_faults(clashes: Mapping[str, Sequence[Card]], beside: Container[str]) -> Iterator[Fault]:
    """A fault for each card that clashes and is in no file of `beside`."""
    for base, cards in clashes.items():
        for card in cards:
            if card.place.path in beside:
                continue
            others = ", ".join(str(other.place) for other in cards if other is not card)
            if card.provisional:
                what = f"this card has the words of the one at {others}, and neither has an id"
                yield Fault(card.place, what, "run fatutor check --fix, or change one of them")
            else:
                what = f"the id {base} is also that of the card at {others}, so neither is drilled"
                yield Fault(card.place, what, "give one of them another id")


def _number_faults(lessons: Sequence[Deck]) -> Iterator[Fault]:
    groups: dict[tuple[str, int], list[Deck]] = {}
    for deck in lessons:
        groups.setdefault(_beat_order(deck), []).append(deck)
    for (module, number), decks in groups.items():
        for deck in decks if len(decks) > 1 else ():
            others = ", ".join(other.path for other in decks if other is not deck)
            what = f"beat {number} of {module} is also in {others}"
            yield Fault(Place(deck.path, 1), what, "give each beat its own number")


def _name_faults(decks: Sequence[Deck]) -> Iterator[Fault]:
    first: dict[str, Deck] = {}
    for deck in decks:
        other = first.setdefault(deck.name, deck)
        if other is not deck:
            what = f"this deck has the name of {other.path}, so their counts are shown together"
            yield Fault(Place(deck.path, 1), what, "rename one of the files", warning=True)


def _beat_order(deck: Deck) -> tuple[str, int]:
    return (deck.beat.module, deck.beat.number) if deck.beat else ("", 0)
