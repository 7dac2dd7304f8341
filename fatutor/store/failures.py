"""What can go wrong with a database, said in one line with a way out."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from fatutor.errors import FatutorError
from fatutor.store.backup import last_copy


class StoreError(FatutorError):
    """The database could not do what was asked. Nothing of the attempt was kept."""


class ConflictError(StoreError):
    """What was to be changed is no longer as it was read: another fatutor was first."""


def newer_schema(where: object) -> StoreError:
    return StoreError(f"{where} was written by a newer fatutor", "install that one, or name another database")


def older_schema(where: object) -> StoreError:
    return StoreError(f"{where} was written by an older fatutor", "run fatutor once to bring it up to date")


def foreign_schema(where: object) -> StoreError:
    return StoreError(f"{where} belongs to another program", "name another file")


# By primary result code of SQLite: what happened, and the way out. `{where}` is the database, `{copy}` a
# sentence that names the last backup.
_SQLITE = {
    sqlite3.SQLITE_BUSY: ("another program holds {where}", "close it, or wait a moment and try again"),
    sqlite3.SQLITE_LOCKED: ("another program holds {where}", "close it, or wait a moment and try again"),
    sqlite3.SQLITE_READONLY: ("{where} may not be written", "give yourself write permission, or {elsewhere}"),
    sqlite3.SQLITE_PERM: ("{where} may not be opened", "give yourself permission, or {elsewhere}"),
    sqlite3.SQLITE_CANTOPEN: ("{where} cannot be opened", "see that its folder is yours, or {elsewhere}"),
    sqlite3.SQLITE_FULL: ("the disk that holds {where} is full", "free some space and try again"),
    sqlite3.SQLITE_IOERR: ("the disk that holds {where} failed", "see that it has space and is well"),
    sqlite3.SQLITE_CORRUPT: ("{where} is damaged", "run fatutor doctor; {copy}"),
    sqlite3.SQLITE_NOTADB: ("{where} is not a database", "name another file; {copy}"),
    sqlite3.SQLITE_CONSTRAINT: ("{where} refused a value: {cause}", "please report this"),
}
_OTHER = ("{where}: {cause}", "run fatutor doctor; {copy}")
_EXAMPLE = "postgresql+psycopg://user@host/name"
_ELSEWHERE = "set FATUTOR_HOME to another folder"

# PostgreSQL's codes for two transactions that met: serialization failure, deadlock, a key taken meanwhile.
_COLLISIONS = {"40001", "40P01", "23505"}


def explain(error: Exception, where: object, backups: Path | None) -> StoreError:
    """The line for an `error` of sqlite3, of SQLAlchemy (which keeps the driver's own in `orig`) or the OS.

    `where` is the database as shown to people, `backups` the folder whose latest copy a way out may name.
    """
    cause = getattr(error, "orig", None) or error
    if isinstance(cause, sqlite3.Error):
        # Errors of the module itself, such as a closed connection, carry no code.
        code = getattr(cause, "sqlite_errorcode", None)
        what, way_out = _OTHER if code is None else _SQLITE.get(code & 0xFF, _OTHER)
        words = {"where": where, "cause": _line(cause), "elsewhere": _ELSEWHERE, "copy": _copy(backups)}
        return StoreError(what.format_map(words), way_out.format_map(words))
    if isinstance(cause, OSError):
        return StoreError(f"{where} cannot be opened: {cause.strerror or _line(cause)}", _ELSEWHERE)
    if isinstance(cause, ModuleNotFoundError):
        return StoreError(f"{where} needs the Python package {cause.name}", "install it beside fatutor")
    if isinstance(cause, ValueError):
        what = f"{where} holds, or was given, an impossible value: {_line(cause)}"
        return StoreError(what, f"run fatutor doctor; {_copy(backups)}")
    sqlstate = str(getattr(cause, "sqlstate", ""))
    if sqlstate in _COLLISIONS:
        return ConflictError("another fatutor wrote at the same moment", "try again")
    if sqlstate.startswith("23"):
        return StoreError(f"{where} refused a value: {_line(cause)}", "please report this")
    return StoreError(f"{where}: {_line(cause)}", f"see that it runs and that its URL is like {_EXAMPLE}")


def _copy(backups: Path | None) -> str:
    copy = last_copy(backups) if backups else None
    return f"the last copy is {copy}" if copy else "there is no copy yet"


def _line(error: Exception) -> str:
    """The first line of an error's own words."""
    return str(error).partition("\n")[0] or type(error).__name__
