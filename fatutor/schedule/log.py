"""The log of everything a learner did.

It is append-only and is the truth; a table of card states is only ever a `fold` over it.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum

from fatutor.schedule.state import CardState


class EntryKind(StrEnum):
    REVIEW = "review"  # a grade that moves the schedule
    RELEARN = "relearn"  # the same day again after a grade under 4; moves nothing but `relearn_on`
    CRAM = "cram"  # studied ahead or for practice; moves nothing
    SUSPEND = "suspend"
    RESUME = "resume"
    BURY = "bury"
    FLAG = "flag"
    UNFLAG = "unflag"
    UNDO = "undo"  # takes back the entry that `undoes` names


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the log.

    `id` sorts by time. `at` is an aware instant in UTC; `offset` is what the local clock was ahead of
    UTC, in minutes; `study_day` is the day as computed then and never recomputed. `key` is the key
    pressed and `quality` its SM-2 quality (0-5). Times are milliseconds of a monotonic clock.
    """

    id: str
    card: str
    kind: EntryKind
    at: datetime
    offset: int
    study_day: date
    before: CardState
    after: CardState
    key: int | None = None
    quality: int | None = None
    scheduler: str | None = None
    speaking_ms: int | None = None
    total_ms: int | None = None
    ticked: tuple[int, ...] = ()
    answer: str | None = None
    digest: str = ""
    undoes: str | None = None
