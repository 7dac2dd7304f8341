"""What a sitting needs from outside: a clock and somewhere to write. Both come in through parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, tzinfo
from typing import Protocol

from fatutor.schedule import day
from fatutor.schedule.facts import Facts
from fatutor.schedule.log import Entry
from fatutor.store.records import Commitment


class Clock(Protocol):
    @property
    def zone(self) -> tzinfo:
        """The learner's own time zone."""
        ...

    def now(self) -> datetime:
        """The instant, aware."""
        ...

    def monotonic(self) -> float:
        """Seconds that only ever grow; for durations."""
        ...


@dataclass(frozen=True, slots=True)
class Time:
    """A clock with the learner's rollover hour: instants, study days and durations from one place."""

    clock: Clock
    rollover: float = 4

    def now(self) -> datetime:
        return self.clock.now()

    def monotonic(self) -> float:
        return self.clock.monotonic()

    def offset(self, instant: datetime) -> int:
        """How far the local clock is ahead of UTC at an instant, in minutes."""
        return day.utc_offset(instant, self.clock.zone)

    def study_day(self, last_stored: date | None) -> tuple[date, str | None]:
        """Today's study day, never before the last one stored, and a note where the clock was set back."""
        computed = day.study_day(self.clock.now(), self.clock.zone, self.rollover)
        return day.settle(computed, last_stored)


class Ledger(Protocol):
    """Where answers are written: each call is one transaction that is on disk when it returns.

    Every method raises FatutorError where nothing was written. `runs` are ids of stored demo runs that are
    evidence for what is written.
    """

    def facts(self) -> Facts: ...

    def append(self, entry: Entry, runs: Sequence[str] = ()) -> None: ...

    def undo(self, entry_id: str, at: datetime, offset: int, study_day: date) -> Entry | None: ...

    def commit(self, commitment: Commitment, runs: Sequence[str] = ()) -> None: ...

    def commitment(self, gate: str) -> Commitment | None: ...

    def link_run(self, run: str, *, commitment: str) -> None: ...
