"""Does the cache of card states say what the log says? Looks, tells, and rebuilds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sqlmodel import Session

from fatutor.schedule.fold import replay
from fatutor.schedule.state import CardState
from fatutor.store import journal
from fatutor.store.states import add_state, all_states, clear_states
from fatutor.store.store import Store


@dataclass(frozen=True, slots=True)
class Difference:
    """One card whose cached state is not what its log gives."""

    card: str
    cached: CardState
    replayed: CardState


def damage(store: Store) -> list[str]:
    """What SQLite finds wrong with the file itself, a line each; nothing for other databases."""
    with store.database.reading() as session:
        connection = session.connection()
        if connection.dialect.name != "sqlite":
            return []
        found = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
        loose = [
            f"{row[0]}: a row names a missing row of {row[2]}"
            for row in connection.exec_driver_sql("PRAGMA foreign_key_check")
        ]
    return [line for line in found if line != "ok"] + loose


def differences(store: Store) -> list[Difference]:
    """Every card whose cached state differs from a replay of its log, by card id."""
    with store.database.reading() as session:
        return list(_differences(session))


def rebuild(store: Store) -> list[Difference]:
    """Write the cache anew from the log, in one transaction; returns what was mended."""
    with store.database.writing() as session:
        mended = list(_differences(session))
        clear_states(session)
        for card, log in journal.by_card(session):
            add_state(session, card, replay(log))
    return mended


def _differences(session: Session) -> Iterator[Difference]:
    never_seen = CardState()
    try:
        cached = all_states(session)
    except ValueError:  # a date that is none, say: then no row can be trusted
        cached = {}
    for card, log in journal.by_card(session):
        state, replayed = cached.pop(card, never_seen), replay(log)
        if state != replayed:
            yield Difference(card, state, replayed)
    for card, state in sorted(cached.items()):
        yield Difference(card, state, never_seen)
