"""Card states and log entries as columns and JSON, and back. Needs no database: any row will do."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import date
from typing import Any

from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.state import CardState, Memory

MEMORY = Memory._fields
REST = tuple(name for name in CardState._fields if name != "memory")
STATE_COLUMNS = MEMORY + REST
STATE_DATES = frozenset({"due", "introduced", "last_review", "relearn_on", "buried_until"})


def state_of(
    repetition: int,
    interval: int,
    ease: int,
    lapses: int,
    due: date | None,
    introduced: date | None,
    last_review: date | None,
    relearn_on: date | None,
    suspended: bool,
    buried_until: date | None,
    flagged: bool,
    digest: str,
) -> CardState:
    """A state from the values of `STATE_COLUMNS` in their order. SQLite gives its booleans as 0 and 1."""
    return CardState(
        Memory(repetition, interval, ease, lapses),
        due,
        introduced,
        last_review,
        relearn_on,
        bool(suspended),
        buried_until,
        bool(flagged),
        digest,
    )


def columns_of(state: CardState) -> dict[str, Any]:
    """The value of each of `STATE_COLUMNS`."""
    return {name: getattr(state.memory, name) for name in MEMORY} | {
        name: getattr(state, name) for name in REST
    }


_NEVER_SEEN = columns_of(CardState())


def to_json(state: CardState) -> dict[str, Any]:
    """What differs from a card never seen, with dates as ISO text."""
    return {
        name: value.isoformat() if isinstance(value, date) else value
        for name, value in columns_of(state).items()
        if value != _NEVER_SEEN[name]
    }


def from_json(stored: Mapping[str, Any]) -> CardState:
    values = {
        name: date.fromisoformat(value) if name in STATE_DATES else value for name, value in stored.items()
    }
    return state_of(**{**_NEVER_SEEN, **values})


def entry_columns(entry: Entry) -> dict[str, Any]:
    """The value of each column of a log row but its place in the order."""
    plain = {field.name: getattr(entry, field.name) for field in fields(Entry)}
    return plain | {
        "kind": entry.kind.value,
        "before": to_json(entry.before),
        "after": to_json(entry.after),
        "ticked": list(entry.ticked),
    }


def entry_of(row: Any) -> Entry:
    """A log entry from anything that has the columns as attributes."""
    return Entry(
        id=row.id,
        card=row.card,
        kind=EntryKind(row.kind),
        at=row.at,
        offset=row.offset,
        study_day=row.study_day,
        before=from_json(row.before),
        after=from_json(row.after),
        key=row.key,
        quality=row.quality,
        scheduler=row.scheduler,
        speaking_ms=row.speaking_ms,
        total_ms=row.total_ms,
        ticked=tuple(row.ticked),
        answer=row.answer,
        digest=row.digest,
        undoes=row.undoes,
    )
