"""How today's queue divides over the decks: the table that Today and `fatutor due` show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from fatutor.deck.model import Card
from fatutor.schedule.facts import Facts
from fatutor.schedule.queue import Queue


@dataclass(frozen=True, slots=True)
class Tally:
    """One deck. The first three add up over all decks to the counts of the queue they were made from.

    `known` counts cards whose last review was a pass, `total` every card, locked and suspended ones too.
    """

    relearning: int = 0
    due: int = 0
    new: int = 0
    known: int = 0
    total: int = 0


def tally(queue: Queue, cards: Iterable[Card], facts: Facts) -> dict[str, Tally]:
    """Deck name to its share of `queue`, in the order in which `cards` first names the decks."""
    relearning, due, new = (
        Counter(card.deck for card in group) for group in (queue.relearning, queue.due, queue.new)
    )
    known: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for card in cards:
        state = facts.states.get(card.id)
        known[card.deck] += state is not None and state.memory.repetition > 0
        total[card.deck] += 1
    return {deck: Tally(relearning[deck], due[deck], new[deck], known[deck], total[deck]) for deck in total}
