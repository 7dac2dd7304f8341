"""Today's queue: what to ask, in which order and how much of it. Every count on a screen comes from here."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from operator import attrgetter

from fatutor.deck.model import Slip
from fatutor.schedule.facts import Facts
from fatutor.schedule.gates import drillable
from fatutor.schedule.interleave import interleave
from fatutor.schedule.rules import in_drill
from fatutor.schedule.state import CardState

GRADING_SECONDS = 20  # to read the model answer, tick the key points and grade


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a learner wants: new cards a day, minutes a sitting (None: no cap), the interview's day."""

    new_per_day: int = 8
    minutes: int | None = None
    interview_on: date | None = None


@dataclass(frozen=True, slots=True)
class Counts:
    relearning: int = 0
    due: int = 0
    new: int = 0

    @property
    def total(self) -> int:
        return self.relearning + self.due + self.new


@dataclass(frozen=True, slots=True)
class Queue:
    """Cards by group, each group by priority. `held` counts what the minutes left no room for."""

    relearning: tuple[Slip, ...] = ()
    due: tuple[Slip, ...] = ()
    new: tuple[Slip, ...] = ()
    held: Counts = Counts()

    @property
    def cards(self) -> tuple[Slip, ...]:
        """All of them in the order to ask, group by group.

        Neighbours have different topics as far as that is possible. Whoever only counts need not order.
        """
        ordered: list[Slip] = []
        for group in (self.relearning, self.due, self.new):
            ordered += interleave(group, attrgetter("topic"), after=ordered)
        return tuple(ordered)

    @property
    def counts(self) -> Counts:
        return Counts(len(self.relearning), len(self.due), len(self.new))

    @property
    def minutes(self) -> int:
        """How long the queue takes, rounded up."""
        return -(-sum(map(seconds, (*self.relearning, *self.due, *self.new))) // 60)


def seconds(card: Slip) -> int:
    """The estimate for one card: its time to speak and a while to grade."""
    return card.target_seconds + GRADING_SECONDS


def today_queue(cards: Sequence[Slip], facts: Facts, today: date, limits: Limits = Limits()) -> Queue:
    """Relearning first, then due (longest overdue for its interval first), then new, within `limits`.

    To drill some decks or tags only, pass only their cards. The allowance of new cards stays one for the
    day: `facts` tells how many were introduced anywhere, so that a learner can spend it where they like but
    not twice. Of cards with one `base` at most one is asked a day.
    """
    groups = _Groups.of(cards, facts, today)
    unseen = len(groups.new)
    groups.part_siblings()
    in_turn = _in_turn(groups.new, groups.introduced)
    allowance = _new_today(facts, today, limits, unseen)
    kept, held = _cap((groups.relearning, groups.due, in_turn[:allowance]), limits.minutes)
    relearning, due, new = map(tuple, kept)
    return Queue(relearning, due, new, Counts(*map(len, held)))


@dataclass(slots=True)
class _Groups:
    """The cards that could be asked today: those seen before by priority, new ones in the order of the decks.

    `asked` are bases that had their turn today. `introduced` has, for each deck in order, how many of its
    cards have ever been introduced.
    """

    relearning: list[Slip] = field(default_factory=list)
    due: list[Slip] = field(default_factory=list)
    new: list[Slip] = field(default_factory=list)
    asked: set[str] = field(default_factory=set)
    introduced: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, cards: Sequence[Slip], facts: Facts, today: date) -> _Groups:
        groups = cls(introduced=dict.fromkeys([card.deck for card in cards], 0))
        overdue: list[tuple[float, str, Slip]] = []
        for card in cards:
            state = facts.states.get(card.id)
            if state is not None:
                groups.introduced[card.deck] += state.introduced is not None
                if state.last_review == today:
                    groups.asked.add(card.base)
            if not drillable(card, facts.committed) or (state is not None and not in_drill(state, today)):
                continue
            if state is None or state.due is None:
                groups.new.append(card)
            elif state.relearn_on == today:
                groups.relearning.append(card)
            elif state.due <= today:
                overdue.append((-_lateness(state, state.due, today), card.id, card))
        groups.due = [card for _, _, card in sorted(overdue)]  # no two have one id, so no cards are compared
        return groups

    def part_siblings(self) -> None:
        """Keep one card of each base, the most urgent, and none where the base has had its turn today.

        Relearning is exempt: SM-2 wants every card of the day that fell under 4 again.
        """
        taken = self.asked | {card.base for card in self.relearning}
        for group in (self.due, self.new):
            kept: list[Slip] = []
            for card in group:
                if card.base not in taken:
                    taken.add(card.base)
                    kept.append(card)
            group[:] = kept


def _lateness(state: CardState, due: date, today: date) -> float:
    """Days overdue as a share of the interval: a day matters more to a card asked every other day."""
    return (today - due).days / max(1, state.memory.interval)


def _in_turn(unseen: list[Slip], introduced: Mapping[str, int]) -> list[Slip]:
    """The deck with the fewest cards introduced so far is next, every deck in its own order.

    `introduced` names all decks in their order, which settles ties. What was introduced on earlier days
    counts, so that a deck whose turn does not come today gets it tomorrow, and a deck that was just added
    comes first; answering a card does not move the others.
    """
    turns = dict(introduced)
    place = {deck: number for number, deck in enumerate(introduced)}
    keyed: list[tuple[int, int, Slip]] = []
    for card in unseen:
        keyed.append((turns[card.deck], place[card.deck], card))
        turns[card.deck] += 1
    return [card for _, _, card in sorted(keyed, key=lambda turn: turn[:2])]


def _new_today(facts: Facts, today: date, limits: Limits, unseen: int) -> int:
    """How many new cards are left for today: the daily limit, or more to have seen all by the interview."""
    introduced = sum(state.introduced == today for state in facts.states.values())
    quota = limits.new_per_day
    if limits.interview_on is not None and (days := (limits.interview_on - today).days) > 0:
        quota = max(quota, -(-(unseen + introduced) // days))
    return max(0, quota - introduced)


def _cap(
    groups: Sequence[Sequence[Slip]], minutes: int | None
) -> tuple[list[Sequence[Slip]], list[Sequence[Slip]]]:
    """What fits into `minutes`, by priority and at least one card, and what has to wait."""
    if minutes is None:
        return list(groups), [()] * len(groups)
    left = minutes * 60
    kept: list[Sequence[Slip]] = []
    first = True
    for group in groups:
        fitting = 0
        for card in group:
            left -= seconds(card)
            if left < 0 and not first:
                break
            fitting += 1
            first = False
        kept.append(group[:fitting])
    return kept, [group[len(some) :] for group, some in zip(groups, kept, strict=True)]
