"""The store: the log of answers with its cache of card states, commitments, and demo runs as evidence."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import date, datetime
from pathlib import Path
from types import TracebackType
from typing import Self

from fatutor.schedule.facts import Facts
from fatutor.schedule.log import Entry, EntryKind
from fatutor.store import evidence, journal
from fatutor.store.backup import back_up
from fatutor.store.database import Database
from fatutor.store.failures import ConflictError, older_schema
from fatutor.store.migrations import LATEST
from fatutor.store.records import Commitment, DemoRun
from fatutor.store.states import all_states, put_state, state_in
from fatutor.store.url import Location


def open_store(location: Location, *, backups: Path | None, now: datetime) -> Store:
    """Open for writing: makes the folder and the file, and brings the schema up to date.

    Raises StoreError for a database that cannot be used, with the way out.
    """
    database = Database(location, backups)
    try:
        database.migrate(now)
    except BaseException:
        database.close()
        raise
    return Store(database)


def open_to_read(location: Location, *, backups: Path | None) -> Store:
    """What is there, to look at: nothing is made, brought up to date or written.

    Raises StoreError for a database that cannot be read or that another version wrote.
    """
    database = Database(location, backups, read_only=True)
    try:
        if database.version() < LATEST:
            raise older_schema(location)
    except BaseException:
        database.close()
        raise
    return Store(database)


class Store:
    """Every method is one transaction: done when it returns, and not at all where it raises StoreError."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self.database.close()

    def back_up(self, today: date) -> str | None:
        """Keep a copy of `today` unless there is one; a failure is a one-line warning. SQLite files only."""
        source, folder = self.database.location.file, self.database.backups
        return back_up(source, folder, today) if source and folder else None

    def facts(self) -> Facts:
        """All that the queue needs."""
        with self.database.reading() as session:
            gates = evidence.gates(session)
            days = [day for day in (journal.last_study_day(session), *gates.values()) if day]
            return Facts(all_states(session), frozenset(gates), max(days, default=None))

    def append(self, entry: Entry, runs: Sequence[str] = ()) -> None:
        """Store one log entry, the card's state after it, and that the demo `runs` are evidence for it.

        Raises ConflictError where the card is no longer in the state `entry.before`.
        """
        with self.database.writing() as session:
            if state_in(session, entry.card) != entry.before:
                what = f"another fatutor has changed card {entry.card}"
                raise ConflictError(what, "what was stored there stands")
            journal.add_entry(session, entry)
            put_state(session, entry.card, entry.after)
            session.flush()  # a run can only name an entry that is there
            for run in runs:
                evidence.link_run(session, run, entry.id, None)

    def last_undoable(self) -> Entry | None:
        """What `undo` would take back: the newest entry that is neither an undo nor undone."""
        with self.database.reading() as session:
            return next(iter(journal.newest(session, 1, *journal.live())), None)

    def undo(self, entry_id: str, at: datetime, offset: int, study_day: date) -> Entry | None:
        """Take back the last undoable entry and return it; None where nothing is left to undo.

        Appends an entry with id `entry_id` that names it, and gives its card the state from before.
        """
        with self.database.writing() as session:
            undone = next(iter(journal.newest(session, 1, *journal.live())), None)
            if undone is None:
                return None
            undo = Entry(
                id=entry_id,
                card=undone.card,
                kind=EntryKind.UNDO,
                at=at,
                offset=offset,
                study_day=study_day,
                before=state_in(session, undone.card),
                after=undone.before,
                undoes=undone.id,
            )
            journal.add_entry(session, undo)
            put_state(session, undone.card, undo.after)
            return undone

    def entries(
        self,
        *,
        card: str | None = None,
        since: date | None = None,
        limit: int | None = None,
        live: bool = False,
    ) -> Iterator[Entry]:
        """The log, oldest first: of one `card`, from study day `since` on, or only the last `limit` entries.

        With `live` undo entries and what they take back are left out. Long logs are read piece by piece.
        """
        conditions = [
            *([journal.of_card(card)] if card is not None else []),
            *([journal.since(since)] if since is not None else []),
            *(journal.live() if live else ()),
        ]
        if limit is not None:
            with self.database.reading() as session:
                entries = journal.newest(session, limit, *conditions)
            yield from entries
            return
        place: int | None = 0
        while place is not None:
            with self.database.reading() as session:
                entries, place = journal.page(session, place, *conditions)
            yield from entries

    def commit(self, commitment: Commitment, runs: Sequence[str] = ()) -> None:
        """Keep the answer at a gate, with the demo `runs` that are evidence for it.

        Raises ConflictError where the gate has an answer: it is never changed.
        """
        with self.database.writing() as session:
            evidence.add_commitment(session, commitment)
            session.flush()
            for run in runs:
                evidence.link_run(session, run, None, commitment.id)

    def commitment(self, gate: str) -> Commitment | None:
        with self.database.reading() as session:
            return evidence.commitment(session, gate)

    def commitments(self) -> list[Commitment]:
        """All of them, oldest first."""
        with self.database.reading() as session:
            return evidence.commitments(session)

    def add_run(self, run: DemoRun) -> None:
        with self.database.writing() as session:
            evidence.add_run(session, run)

    def link_run(self, run_id: str, *, entry: str | None = None, commitment: str | None = None) -> None:
        """Say which log entry or commitment a run is evidence for. Raises StoreError for an unknown run."""
        with self.database.writing() as session:
            evidence.link_run(session, run_id, entry, commitment)

    def runs(self, *, demo: str | None = None, card: str | None = None) -> list[DemoRun]:
        """Runs of one demo, of one card, or all, oldest first."""
        with self.database.reading() as session:
            return evidence.runs(session, demo, card)
