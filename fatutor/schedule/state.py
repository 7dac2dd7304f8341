"""What is remembered about one card. Values only; the rules are in `sm2` and `rules`.

Named tuples, as cards are: a start makes one of each for every card that was ever seen.
"""

from __future__ import annotations

from datetime import date
from typing import NamedTuple


class Memory(NamedTuple):
    """SM-2's own variables, in whole numbers.

    `repetition` counts passes in a row (SM-2's n), `interval` is in days, `ease` is the ease factor
    times 100 (2.50 is 250, never under 130), `lapses` counts failures of a card that had been passed.
    """

    repetition: int = 0
    interval: int = 0
    ease: int = 250
    lapses: int = 0


class CardState(NamedTuple):
    """All that the queue needs to know of a card. The default is a card never seen.

    `due` and the other dates are study days. `relearn_on` is the study day on which the card was graded
    under 4 and has not yet had a 4: on that day it comes back until it gets one (SM-2, rule 7).
    """

    memory: Memory = Memory()
    due: date | None = None
    introduced: date | None = None  # study day of the first review
    last_review: date | None = None
    relearn_on: date | None = None
    suspended: bool = False
    buried_until: date | None = None
    flagged: bool = False
    digest: str = ""  # of the card's text at its last review

    @property
    def is_new(self) -> bool:
        return self.due is None
