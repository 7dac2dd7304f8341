"""Copies of an SQLite database: complete or absent, one a day of which seven stay, one before a migration."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import date
from pathlib import Path

KEEP = 7
_DAILY = "fatutor-????-??-??.db"
_HALVES = "fatutor-????-??-??.*.partial*"


def back_up(source: Path, folder: Path, today: date) -> str | None:
    """Copy the database at `source` into `folder` unless there is a copy of `today`, and drop the oldest.

    Opens its own connections, so it may run in a thread while answers are stored. A failure is no reason to
    stop: it comes back as a one-line warning, and every earlier copy stays.
    """
    target = folder / f"fatutor-{today.isoformat()}.db"
    if not source.exists() or target.exists():
        return None
    try:
        copy_database(source, target)
        # What a kill left half-copied goes too, but of today it may be another fatutor's, still at work.
        halves = [half for half in folder.glob(_HALVES) if not half.name.startswith(target.stem)]
        for old in (*sorted(folder.glob(_DAILY))[:-KEEP], *halves):
            old.unlink(missing_ok=True)
    except (OSError, sqlite3.Error) as error:
        return f"no backup was made in {folder}: {error}"
    return None


def before_migration(source: Path, folder: Path, version: int) -> None:
    """Keep the database as it was at schema `version`. Raises OSError or sqlite3.Error."""
    copy_database(source, folder / f"fatutor-schema-{version}.db")


def last_copy(folder: Path) -> Path | None:
    """The latest copy in `folder`, of either kind."""
    copies: list[tuple[float, Path]] = []
    with suppress(OSError):
        copies = [(copy.stat().st_mtime, copy) for copy in folder.glob("fatutor-*.db")]
    return max(copies, default=(0, None))[1]


def copy_database(source: Path, target: Path) -> None:
    """Copy through SQLite, which sees a consistent state, check the copy, and only then give it its name."""
    target.parent.mkdir(parents=True, exist_ok=True)
    partial = target.with_suffix(f".{os.getpid()}.partial")  # another fatutor may be copying too
    try:
        with (
            closing(sqlite3.connect(f"{source.absolute().as_uri()}?mode=ro", uri=True)) as original,
            closing(sqlite3.connect(partial)) as copy,
        ):
            original.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")  # one file, with nothing beside it
            (verdict,) = copy.execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"{source} is damaged: {verdict}")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
