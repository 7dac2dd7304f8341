"""How today's queue divides over the decks: the table that Today and `fatutor due` show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fatutor.deck.model import Slip
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


def tally(queue: Queue, cards: Sequence[Slip], facts: Facts) -> dict[str, Tally]:
    """Deck name to its share of `queue`, in the order in which `cards` first names the decks."""
    states = facts.states
    passed = (card for card in cards if (state := states.get(card.id)) and state.memory.repetition)
    groups = (queue.relearning, queue.due, queue.new, passed, cards)
    relearning, due, new, known, total = (Counter(card.deck for card in group) for group in groups)
    return {deck: Tally(relearning[deck], due[deck], new[deck], known[deck], total[deck]) for deck in total}
