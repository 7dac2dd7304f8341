"""Where a learner stands: what Today, Learn and `fatutor due` show. One place counts; all of them read it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from fatutor.deck.library import Library
from fatutor.deck.model import Beat, Card, Deck, Slip, Track
from fatutor.schedule import gates
from fatutor.schedule.facts import Facts
from fatutor.schedule.queue import Counts, Limits, today_queue
from fatutor.schedule.tally import Tally, tally

MATURE = 21  # days; a card whose interval has reached this counts as known in full


@dataclass(frozen=True, slots=True)
class BeatLine:
    """`status` is done, next (the first one open), open or locked; `mastery` is None before the gate."""

    deck: Deck
    beat: Beat
    status: str
    mastery: float | None
    waits_for: str = ""

    @property
    def standing(self) -> str:
        if self.mastery is not None:
            full = round(self.mastery * 8)
            return f"{'█' * full}{'░' * (8 - full)} {round(self.mastery * 100):>3} %"
        if self.status == "next":
            return "next"
        return "deep dive" if self.beat.track is Track.DEEP_DIVE else ""


@dataclass(frozen=True, slots=True)
class ModuleLine:
    title: str
    beats: tuple[BeatLine, ...]

    @property
    def progress(self) -> str:
        parts = []
        for track, name in ((Track.CORE, "core"), (Track.DEEP_DIVE, "deep dive")):
            lines = [line for line in self.beats if line.beat.track is track]
            if lines:
                done = sum(line.status == "done" for line in lines)
                parts.append(f"{name} {done} of {len(lines)}")
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class DeckLine:
    """`due` counts what comes again today too; `known` those of `total` whose last review was a pass."""

    deck: Deck
    title: str
    due: int
    new: int
    known: int
    total: int


@dataclass(frozen=True, slots=True)
class Marked:
    """A card that is put away, flagged, or both."""

    card: Card
    away: bool
    flagged: bool

    @property
    def told(self) -> str:
        return " · ".join(["put away"] * self.away + ["flagged"] * self.flagged)


@dataclass(frozen=True, slots=True)
class Overview:
    """`tallies` has every deck's share of the queue by name, `decks` the plain decks as lines."""

    day: date
    counts: Counts
    minutes: int
    held: int
    tallies: Mapping[str, Tally]
    modules: tuple[ModuleLine, ...]
    decks: tuple[DeckLine, ...]
    marked: tuple[Marked, ...]
    next_due: date | None
    interview_in: int | None
    notes: tuple[str, ...] = ()

    @property
    def summary(self) -> str:
        """`12 due · 4 new · about 14 min`"""
        named = ((self.counts.relearning, "again"), (self.counts.due, "due"), (self.counts.new, "new"))
        parts = [f"{count} {name}" for count, name in named if count]
        return " · ".join([*parts, f"about {self.minutes} min"]) if parts else "all done"


def mastery(cards: Sequence[Slip], facts: Facts) -> float:
    """The mean over a beat's cards of interval over 21 days, each at most 1: new cards count 0."""
    if not cards:
        return 0.0
    intervals = (facts.state(card.id).memory.interval for card in cards)
    return sum(min(1.0, interval / MATURE) for interval in intervals) / len(cards)


def overview(
    library: Library, facts: Facts, day: date, limits: Limits, notes: Iterable[str] = ()
) -> Overview:
    """All of Today from the decks and what is stored."""
    queue = today_queue(library.slips, facts, day, limits)
    tallies = tally(queue, library.slips, facts)
    upcoming = [state.due for state in facts.states.values() if state.due is not None and state.due > day]
    return Overview(
        day=day,
        counts=queue.counts,
        minutes=queue.minutes,
        held=queue.held.total,
        tallies=tallies,
        modules=tuple(_modules(library, facts)),
        decks=tuple(_decks(library, tallies)),
        marked=tuple(_marked(library, facts)),
        next_due=min(upcoming, default=None),
        interview_in=_until(limits.interview_on, day),
        notes=tuple(notes),
    )


def _marked(library: Library, facts: Facts) -> Iterator[Marked]:
    marked = {card: state for card, state in facts.states.items() if state.suspended or state.flagged}
    for slip in library.slips if marked else ():
        if state := marked.get(slip.id):
            yield Marked(library.cards[slip.id], state.suspended, state.flagged)


def _until(interview: date | None, day: date) -> int | None:
    return (interview - day).days if interview is not None and interview >= day else None


def _modules(library: Library, facts: Facts) -> Iterator[ModuleLine]:
    by_module: dict[str, list[Deck]] = defaultdict(list)
    for deck in library.beats:
        if deck.beat is not None:
            by_module[deck.beat.module].append(deck)
    for title, decks in by_module.items():
        beats = [deck.beat for deck in decks if deck.beat is not None]
        unlocked = gates.unlocked(beats, facts.committed)
        waiting = [b for b in beats if b.gate in unlocked and b.gate not in facts.committed]
        # The core path first: the deep dive can wait.
        ahead = min(waiting, key=lambda beat: (beat.track is Track.DEEP_DIVE, beat.number), default=None)
        lines = []
        for deck in decks:
            beat = deck.beat
            assert beat is not None
            opener = gates.opener(beat, beats)
            if beat.gate in facts.committed:
                status = "done"
            elif beat.gate not in unlocked:
                status = "locked"
            else:
                status = "next" if beat is ahead else "open"
            known = mastery(deck.slips, facts) if status == "done" else None
            lines.append(BeatLine(deck, beat, status, known, f"beat {opener.number:02d}" if opener else ""))
        yield ModuleLine(title, tuple(lines))


def _decks(library: Library, tallies: Mapping[str, Tally]) -> Iterator[DeckLine]:
    """The plain decks; beats have their own lines."""
    for deck in library.decks:
        share = tallies.get(deck.name)
        if deck.beat is None and share is not None:
            due = share.relearning + share.due
            yield DeckLine(deck, deck.title, due, share.new, share.known, share.total)
