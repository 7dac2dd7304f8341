"""What the store's tests share: a database of their own, and a learner who answers cards."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from random import Random

import pytest

from fatutor.schedule import rules
from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState
from fatutor.store.ids import Ids
from fatutor.store.store import Store, open_store
from fatutor.store.url import Location

NOBODY = 65534


@dataclass
class Learner:
    """Makes log entries. Time goes on by a minute with each; `today` moves only when told."""

    now: datetime = datetime(2026, 11, 29, 10, tzinfo=UTC)
    today: date = date(2026, 11, 29)
    ids: Ids = field(default_factory=lambda: Ids(Random(7).getrandbits))
    scheduler: Scheduler = field(default_factory=Scheduler)

    def new_id(self) -> str:
        self.now += timedelta(minutes=1)
        return self.ids.new(self.now)

    def grades(self, card: str, before: CardState, quality: int, answer: str | None = None) -> Entry:
        kind = rules.kind_of(before, self.today)
        after = rules.answer(before, kind, quality, self.today, self.scheduler, "d0")
        return Entry(
            self.new_id(), card, kind, self.now, 60, self.today, before, after,
            key=quality, quality=quality, scheduler=self.scheduler.tag,
            speaking_ms=41_000, total_ms=63_000, ticked=(0, 2), answer=answer, digest="d0",
        )  # fmt: skip

    def does(self, card: str, kind: EntryKind, before: CardState) -> Entry:
        rule: dict[EntryKind, Callable[[CardState], CardState]] = {
            EntryKind.SUSPEND: rules.suspend,
            EntryKind.RESUME: rules.resume,
            EntryKind.BURY: lambda state: rules.bury(state, self.today),
            EntryKind.FLAG: rules.flag,
            EntryKind.UNFLAG: rules.unflag,
        }
        return Entry(self.new_id(), card, kind, self.now, 60, self.today, before, rule[kind](before))

    def undoes(self, store: Store) -> Entry | None:
        return store.undo(self.new_id(), self.now, 60, self.today)


@pytest.fixture
def learner() -> Learner:
    return Learner()


@pytest.fixture(scope="session")
def new_learner() -> type[Learner]:
    return Learner


@pytest.fixture
def location(tmp_path: Path) -> Location:
    return Location(file=tmp_path / "data" / "fatutor.db")


@pytest.fixture
def backups(tmp_path: Path) -> Path:
    return tmp_path / "backups"


@pytest.fixture
def reopen(location: Location, backups: Path, learner: Learner) -> Iterator[Callable[[], Store]]:
    """Each call is another fatutor on the same database."""
    stores: list[Store] = []

    def opened() -> Store:
        stores.append(open_store(location, backups=backups, now=learner.now))
        return stores[-1]

    yield opened
    for store in stores:
        store.close()


@pytest.fixture
def store(reopen: Callable[[], Store]) -> Store:
    return reopen()


@pytest.fixture
def as_ordinary_user() -> Callable[[], AbstractContextManager[Path]]:
    """A folder of one's own, inside of which permissions count, also where the tests run as root."""

    @contextmanager
    def ordinary() -> Iterator[Path]:
        with tempfile.TemporaryDirectory() as folder:
            root = os.geteuid() == 0
            if root:
                os.chown(folder, NOBODY, NOBODY)
                os.seteuid(NOBODY)
            try:
                yield Path(folder)
            finally:
                if root:
                    os.seteuid(0)

    return ordinary
