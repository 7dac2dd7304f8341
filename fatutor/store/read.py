"""What is stored, without the half second that importing SQLModel takes. Never writes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import fields
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from fatutor.schedule.facts import Facts
from fatutor.store import BUSY_SECONDS
from fatutor.store.failures import explain, foreign_schema, newer_schema, older_schema
from fatutor.store.migrations import LATEST
from fatutor.store.records import DemoRun
from fatutor.store.rows import STATE_COLUMNS, state_of
from fatutor.store.url import Location

if TYPE_CHECKING:
    from fatutor.store.store import Store

Told = TypeVar("Told")

_STATES = f"SELECT card, {', '.join(STATE_COLUMNS)} FROM card_state"
_LAST_DAY = """
    SELECT max(day) FROM (
        SELECT max(study_day) AS day FROM review AS done
        WHERE kind <> 'undo' AND NOT EXISTS (SELECT 1 FROM review WHERE undoes = done.id)
        UNION ALL SELECT max(study_day) FROM commitment
    )
"""
_LIVE, _AS_IT_IS = "mode=ro", "mode=ro&immutable=1"
_RUN_COLUMNS = tuple(field.name for field in fields(DemoRun))
_RUNS = f"SELECT {', '.join(_RUN_COLUMNS)} FROM demo_run ORDER BY at, id"


def read_facts(location: Location, backups: Path | None = None) -> Facts:
    """What the database holds; no facts at all where it does not exist yet.

    Raises StoreError for one that cannot be read or that another version wrote. `backups` is the folder
    whose latest copy a way out may name.
    """
    return _read(location, backups, _facts, lambda store: store.facts()) or Facts()


def read_runs(location: Location, backups: Path | None = None) -> list[DemoRun]:
    """The demo runs that are kept, oldest first. Raises StoreError as `read_facts` does."""
    return _read(location, backups, _runs, lambda store: store.runs()) or []


def _read(
    location: Location,
    backups: Path | None,
    ask: Callable[[sqlite3.Connection], Told],
    ask_store: Callable[[Store], Told],
) -> Told | None:
    """What `ask` reads from an SQLite file, `ask_store` from another database; None where there is none."""
    if location.file is None:
        return _by_sqlmodel(location, ask_store)
    try:
        location.file.open("rb").close()  # says more plainly than SQLite what is in the way
        return _by_sqlite(location.file, lambda connection: _current(connection, location, ask))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (sqlite3.Error, OSError, ValueError) as error:
        raise explain(error, location, backups) from error


def is_older(location: Location) -> bool:
    """Whether an older fatutor wrote the SQLite file; opening it once would bring it up to date."""
    if location.file is None or not location.file.exists():
        return False
    with suppress(sqlite3.Error, OSError, ValueError):
        return 0 < _by_sqlite(location.file, _version) < LATEST
    return False


def _by_sqlmodel(location: Location, ask: Callable[[Store], Told]) -> Told | None:
    """The slow way, for a database that is not an SQLite file."""
    from fatutor.store.database import Database
    from fatutor.store.store import Store

    with Store(Database(location)) as store:
        version = store.database.version()
        if 0 < version < LATEST:
            raise older_schema(location)
        return ask(store) if version else None


def _by_sqlite(file: Path, ask: Callable[[sqlite3.Connection], Told]) -> Told:
    """Leave no trace: an ordinary connection, even a read-only one, makes the files of a write-ahead log.

    Where there are none, nobody has the database open. It is then read as a file that cannot change, and
    once more in the ordinary way should it have changed all the same.
    """
    untouched = _stamp(file)
    if untouched is not None:
        with suppress(sqlite3.Error, ValueError):
            told = _query(file, _AS_IT_IS, ask)
            if _stamp(file) == untouched:
                return told
    return _query(file, _LIVE, ask)


def reading_url(file: Path) -> str:
    """SQLite's name for the file, to look at; no file is made beside it where nobody has it open."""
    return _url(file, _LIVE if _stamp(file) is None else _AS_IT_IS)


def _url(file: Path, mode: str) -> str:
    return f"{file.absolute().as_uri()}?{mode}"


def _stamp(file: Path) -> tuple[int, int] | None:
    """What changes with the file's content; None while a journal of unfinished writes stands beside it."""
    if any(file.with_name(file.name + ending).exists() for ending in ("-wal", "-journal")):
        return None
    status = file.stat()
    return status.st_mtime_ns, status.st_size


def _query(file: Path, mode: str, ask: Callable[[sqlite3.Connection], Told]) -> Told:
    url = _url(file, mode)
    with closing(sqlite3.connect(url, uri=True, timeout=BUSY_SECONDS, isolation_level=None)) as connection:
        connection.execute("BEGIN")  # one state of the database for all that follows
        return ask(connection)


def _current(
    connection: sqlite3.Connection, where: object, ask: Callable[[sqlite3.Connection], Told]
) -> Told | None:
    """What `ask` reads under this version's schema, None without any. Raises StoreError for another one."""
    tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    if not tables:
        return None
    if "schema_version" not in tables:
        raise foreign_schema(where)
    version = _version(connection)
    if version != LATEST:
        raise newer_schema(where) if version > LATEST else older_schema(where)
    return ask(connection)


def _version(connection: sqlite3.Connection) -> int:
    return connection.execute("SELECT coalesce(max(version), 0) FROM schema_version").fetchone()[0]


def _facts(connection: sqlite3.Connection) -> Facts:
    gates = frozenset(gate for (gate,) in connection.execute("SELECT gate FROM commitment"))
    (last_day,) = connection.execute(_LAST_DAY).fetchone()
    on = _Days()
    rows = connection.execute(_STATES)
    states = {
        card: state_of(
            n, interval, ease, lapses, on[due], on[first], on[last], on[again], away, on[until], flag, digest
        )
        for card, n, interval, ease, lapses, due, first, last, again, away, until, flag, digest in rows
    }
    return Facts(states, gates, on[last_day])


def _runs(connection: sqlite3.Connection) -> list[DemoRun]:
    return [_run(**dict(zip(_RUN_COLUMNS, row, strict=True))) for row in connection.execute(_RUNS)]


def _run(*, at: str, params: str, versions: str, **others: Any) -> DemoRun:
    instant = datetime.fromisoformat(at).replace(tzinfo=UTC)
    return DemoRun(at=instant, params=json.loads(params), versions=json.loads(versions), **others)


class _Days(dict[str | None, date | None]):
    """ISO text to date, each text parsed once: ten thousand cards share a few hundred days."""

    def __missing__(self, text: str | None) -> date | None:
        self[text] = day = None if text is None else date.fromisoformat(text)
        return day
