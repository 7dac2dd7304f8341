"""One open database: its engine, its schema, and transactions whose failures are one line with a way out."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from time import monotonic, sleep

from sqlalchemy import Connection, Engine, event, func, insert, inspect
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import SQLAlchemyError
from sqlmodel import Session, create_engine, select

from fatutor.store import BUSY_SECONDS
from fatutor.store.backup import before_migration
from fatutor.store.failures import explain, foreign_schema, newer_schema
from fatutor.store.migrations import MIGRATIONS
from fatutor.store.read import reading_url
from fatutor.store.tables import SchemaVersionRow
from fatutor.store.url import Location

Migration = Callable[[Connection], None]


class Database:
    """A place for transactions. A missing folder is made here, a missing file with the first transaction.

    One that is `read_only` makes and changes nothing.
    """

    def __init__(self, location: Location, backups: Path | None = None, *, read_only: bool = False) -> None:
        self.location = location
        self.backups = backups
        with self._explained():
            if read_only and location.file is not None:
                self._engine = _engine_to_read(location.file)
            else:
                self._engine = _engine(location)
        self._writer = self._engine.execution_options(fatutor_writes=True)

    @contextmanager
    def reading(self) -> Iterator[Session]:
        """A transaction that sees one state of the database."""
        with self._explained(), Session(self._engine) as session, session.begin():
            yield session

    @contextmanager
    def writing(self) -> Iterator[Session]:
        """A transaction that nobody else's can come between: all of it is kept, or nothing."""
        with self._explained(), Session(self._writer) as session, session.begin():
            yield session

    def migrate(self, now: datetime, steps: Sequence[Migration] = MIGRATIONS) -> None:
        """Bring the schema up to date, a transaction a step, after a copy of a database that has content.

        Raises StoreError for a newer database, for one that is not fatutor's, and where no copy can be made.
        """
        version = self.version(steps)
        if 0 < version < len(steps) and self.location.file and self.backups:
            with self._explained():
                before_migration(self.location.file, self.backups, version)
        for number, step in enumerate(steps, start=1):
            if number <= version:
                continue
            with self.writing() as session:
                connection = session.connection()
                if self._version(connection) < number:  # else another fatutor was first
                    step(connection)
                    connection.execute(insert(SchemaVersionRow).values(version=number, applied_at=now))

    def version(self, steps: Sequence[Migration] = MIGRATIONS) -> int:
        """The schema's version, 0 for an empty database. Raises StoreError for one that is newer."""
        with self.reading() as session:
            version = self._version(session.connection())
        if version > len(steps):
            raise newer_schema(self.location)
        return version

    def _version(self, connection: Connection) -> int:
        tables = inspect(connection).get_table_names()
        if SchemaVersionRow.__tablename__ in tables:
            return connection.execute(select(func.max(SchemaVersionRow.version))).scalar() or 0
        if tables and connection.dialect.name == "sqlite":
            raise foreign_schema(self.location)
        return 0

    def close(self) -> None:
        self._engine.dispose()

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error, OSError, ImportError, ValueError) as error:
            raise explain(error, self.location, self.backups) from error


def _engine(location: Location) -> Engine:
    url = (
        make_url(location.url) if location.file is None else URL.create("sqlite", database=str(location.file))
    )
    compact = partial(json.dumps, ensure_ascii=False, separators=(",", ":"))
    if url.get_backend_name() != "sqlite":
        return create_engine(url, isolation_level="SERIALIZABLE", json_serializer=compact)
    if location.file is not None:
        location.file.parent.mkdir(parents=True, exist_ok=True)
    engine = create_engine(url, connect_args={"timeout": BUSY_SECONDS}, json_serializer=compact)
    event.listen(engine, "connect", _prepare)
    event.listen(engine, "begin", _begin)
    return engine


def _engine_to_read(file: Path) -> Engine:
    def connect() -> sqlite3.Connection:
        return sqlite3.connect(
            reading_url(file), uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )

    engine = create_engine("sqlite://", creator=connect)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions begin in `_begin`, not where the driver sees fit
    for pragma in ("foreign_keys = ON", "synchronous = FULL"):
        connection.execute(f"PRAGMA {pragma}")
    _keep_a_write_ahead_log(connection)


def _keep_a_write_ahead_log(connection: sqlite3.Connection) -> None:
    """Changing the journal of a new file takes a lock for which SQLite does not always wait."""
    patience = monotonic() + BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            return
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY  # the low byte is the kind
            if not busy or monotonic() > patience:
                raise
        sleep(0.01)


def _begin(connection: Connection) -> None:
    """Writers lock at once: a lock that is asked for half-way can fail after reading what is then stale."""
    writes = connection.get_execution_options().get("fatutor_writes", False)
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
