"""Everything that can be told about a library without reading it with one's own eyes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from fatutor.deck import prerequisites, reading
from fatutor.deck.expressions import explain
from fatutor.deck.faults import listed, nearest, quoted
from fatutor.deck.functions import ExpressionError
from fatutor.deck.hardware import Hardware
from fatutor.deck.library import Library
from fatutor.deck.model import Card, Check, Deck, Fault, Kind, Place, Track
from fatutor.text.words import many

MINUTES_OFF = 0.15  # a beat's stated minutes may differ by this share from what its prose takes


@dataclass(frozen=True, slots=True)
class Report:
    """What a library holds and what is wrong with it. Counts are of what can be drilled or read."""

    faults: tuple[Fault, ...]
    beats: int
    cards: dict[Kind, int]
    true_checks: int
    false_checks: int
    minutes: dict[Track, int]

    @property
    def summary(self) -> str:
        """One line for people."""
        errors = sum(not fault.warning for fault in self.faults)
        warnings = len(self.faults) - errors
        return (
            f"{many(self.beats, 'beat')}, {many(sum(self.cards.values()), 'card')}, "
            f"{self.true_checks} of {many(self.true_checks + self.false_checks, 'check')} true, "
            f"{many(errors, 'fault')}, {many(warnings, 'warning')}"
        )

    def as_json(self) -> dict[str, object]:
        """The document that `fatutor check --json` prints."""
        return {
            "beats": self.beats,
            "cards": {kind.value: self.cards[kind] for kind in Kind},
            "checks": {"true": self.true_checks, "false": self.false_checks},
            "minutes": {track.value: self.minutes[track] for track in Track},
            "faults": [
                {
                    "path": fault.place.path,
                    "line": fault.place.line,
                    "what": fault.what,
                    "cure": fault.cure,
                    "warning": fault.warning,
                }
                for fault in self.faults
            ],
        }


def check(
    library: Library,
    hardware: Hardware,
    known_demos: frozenset[str] | None,
    elsewhere: Collection[str] = (),
) -> Report:
    """Prove the numbers of a library and judge its beats. `known_demos`: None if nobody can tell.

    `elsewhere` are ids of cards outside of the library, which its cards may follow.
    """
    checks = _checks(library.decks)
    false = [fault for place, claim in checks.items() if (fault := _disproof(place, claim, hardware))]
    cards = tuple(library.cards.values())
    found = [
        *library.faults,
        *false,
        *_demo_faults(cards, known_demos),
        *prerequisites.faults(library, elsewhere),
        *(fault for deck in library.beats for fault in _beat_faults(deck)),
        *_order_faults(library),
    ]
    kinds = Counter(card.kind for card in cards)
    minutes = Counter[Track]()
    for deck in library.beats:
        if deck.beat is not None:
            minutes[deck.beat.track] += deck.beat.minutes
    return Report(
        faults=tuple(sorted(found, key=lambda fault: fault.place)),
        beats=len(library.beats),
        cards={kind: kinds[kind] for kind in Kind},
        true_checks=len(checks) - len(false),
        false_checks=len(false),
        minutes={track: minutes[track] for track in Track},
    )


def _checks(decks: Sequence[Deck]) -> dict[Place, Check]:
    """Every check by its place, so that the gaps of one cloze, which share theirs, count them once."""
    found: dict[Place, Check] = {}
    for deck in decks:
        for claims in (deck.checks, *(card.checks for card in deck.cards)):
            found.update({Place(deck.path, claim.line): claim for claim in claims})
    return found


def _disproof(place: Place, claim: Check, hardware: Hardware) -> Fault | None:
    """A fault where a check is not exactly True or cannot be worked out."""
    expression = quoted(claim.expression, limit=72)
    try:
        reason = explain(claim.expression, hardware)
    except ExpressionError as error:
        return Fault(place, f"the check {expression} cannot be worked out: {error.what}", error.way_out)
    if reason is None:
        return None
    return Fault(
        place, f"the check {expression} is not true: {reason}", "mend the number, here and in the text"
    )


def _demo_faults(cards: Sequence[Card], known: frozenset[str] | None) -> Iterator[Fault]:
    for card in cards:
        if known is not None and card.demo and card.demo not in known:
            cure = f"did you mean {meant}?" if (meant := nearest(card.demo, known)) else _name_all(known)
            yield Fault(card.place, f"there is no demo {quoted(card.demo)}", cure)


def _name_all(demos: frozenset[str]) -> str:
    return f"the demos are {listed(sorted(demos))}" if demos else "take demo= out of the card comment"


def _beat_faults(deck: Deck) -> Iterator[Fault]:
    assert deck.beat is not None
    takes = reading.minutes(deck)
    if abs(takes - deck.beat.minutes) > MINUTES_OFF * deck.beat.minutes:
        what = f"minutes says {deck.beat.minutes}, and the prose takes about {takes:.1f}"
        cure = f"write minutes: {max(1, round(takes))}, or change the prose"
        yield Fault(Place(deck.path, 1), what, cure, warning=True)


def _order_faults(library: Library) -> Iterator[Fault]:
    """A warning where the beats of a module are not numbered 1, 2, 3 and so on."""
    for title in dict.fromkeys(deck.beat.module for deck in library.beats if deck.beat):
        expected = 1
        for deck in library.module(title):
            assert deck.beat is not None
            number = deck.beat.number
            if number > expected:
                missing = (
                    f"beat {expected}" if number == expected + 1 else f"beats {expected} to {number - 1}"
                )
                what = f"{title} goes on with beat {number}, but has no {missing}"
                yield Fault(Place(deck.path, 1), what, "number the beats of a module 1, 2, 3", warning=True)
            expected = number + 1
