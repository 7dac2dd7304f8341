"""What is stored, as the queue sees it: values read once, handed in by whoever can read them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date

from fatutor.schedule.state import CardState


@dataclass(frozen=True, slots=True)
class Facts:
    """`states` by card id (a missing card was never seen), `committed` gate ids, the last study day."""

    states: Mapping[str, CardState] = field(default_factory=dict)
    committed: frozenset[str] = frozenset()
    last_study_day: date | None = None

    def state(self, card: str) -> CardState:
        return self.states.get(card, CardState())
