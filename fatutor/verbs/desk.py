"""From a command line and an environment to a desk."""

from __future__ import annotations

import argparse
import os
import secrets
import sys
from datetime import datetime, tzinfo
from pathlib import Path
from time import monotonic

from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.paths import Paths, bundle_root, paths
from fatutor.settings import read_settings
from fatutor.store.ids import Ids
from fatutor.store.url import locate
from fatutor.study.ports import Time


class SystemClock:
    """The machine's own clock and time zone."""

    @property
    def zone(self) -> tzinfo:
        zone = datetime.now().astimezone().tzinfo
        assert zone is not None, "astimezone always names a zone"
        return zone

    def now(self) -> datetime:
        return datetime.now().astimezone()

    def monotonic(self) -> float:
        return monotonic()


def make_desk(arguments: argparse.Namespace) -> Desk:
    """Raises FatutorError for settings or paths that cannot be used."""
    where = paths(os.environ)
    settings, notes = read_settings(where.settings)
    clock, ids = SystemClock(), Ids(secrets.randbits)
    return Desk(
        paths=where,
        settings=settings,
        location=locate(arguments.db, os.environ, where),
        roots=deck_roots(where, [*settings.decks, *(arguments.decks or ())]),
        time=Time(clock, settings.rollover),
        new_id=lambda: ids.new(clock.now()),
        notes=notes,
    )


def deck_roots(where: Paths, more: list[Path]) -> list[Path]:
    """The bundled decks, the learner's own, and those that were named. A named one must be there."""
    for path in more:
        if not path.exists():
            raise FatutorError(f"there are no decks at {path}", "name a Markdown file or a folder of them")
    own = [where.own_decks] if where.own_decks.is_dir() else []
    return [bundle_root() / "decks", *own, *more]


def is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stdout.isatty()
