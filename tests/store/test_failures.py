"""Each way in which a database can fail is one line with a way out, and nothing half-done stays behind."""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest
from sqlalchemy import Engine, event

from fatutor.errors import FatutorError
from fatutor.schedule.state import CardState
from fatutor.store.backup import back_up
from fatutor.store.failures import ConflictError, StoreError, explain
from fatutor.store.read import read_facts
from fatutor.store.store import Store, open_store
from fatutor.store.url import Location

NEW = CardState()
ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fatutor.store.database.BUSY_SECONDS", 0.02)
    monkeypatch.setattr("fatutor.store.read.BUSY_SECONDS", 0.02)


@contextmanager
def locked(location: Location) -> Iterator[None]:
    with closing(sqlite3.connect(str(location.file), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        yield
        other.execute("ROLLBACK")


def line(caught: pytest.ExceptionInfo[StoreError]) -> str:
    assert isinstance(caught.value, FatutorError)
    assert "\n" not in str(caught.value)
    return str(caught.value)


class TestLocked:
    def test_an_answer_waits_and_then_says_so(
        self, impatient: None, location: Location, reopen: Callable[[], Store], learner
    ) -> None:
        store = reopen()
        entry = learner.grades("a", NEW, 4)
        with locked(location), pytest.raises(StoreError) as caught:
            store.append(entry)
        assert line(caught) == (
            f"another program holds {location.file}; close it, or wait a moment and try again"
        )
        store.append(entry)
        assert list(store.entries()) == [entry]

    def test_undo_after_an_answer_that_was_not_stored_takes_back_the_one_before(
        self, impatient: None, location: Location, reopen: Callable[[], Store], learner
    ) -> None:
        store = reopen()
        stored = learner.grades("a", NEW, 4)
        store.append(stored)
        with locked(location):
            with pytest.raises(StoreError):
                store.append(learner.grades("b", NEW, 4))
            with pytest.raises(StoreError):
                learner.undoes(store)
        assert learner.undoes(store) == stored

    def test_reading_goes_on(
        self, impatient: None, location: Location, reopen: Callable[[], Store], learner
    ) -> None:
        store = reopen()
        store.append(learner.grades("a", NEW, 4))
        with locked(location):
            assert read_facts(location) == store.facts()
            assert store.last_undoable() is not None

    def test_one_that_locks_even_readers_out(
        self, impatient: None, location: Location, store: Store, learner
    ) -> None:
        store.close()
        with closing(sqlite3.connect(str(location.file), isolation_level=None)) as other:
            other.execute("PRAGMA locking_mode = EXCLUSIVE")
            other.execute("BEGIN EXCLUSIVE")
            with pytest.raises(StoreError, match="another program holds"):
                read_facts(location)
            with pytest.raises(StoreError, match="another program holds"):
                open_store(location, backups=None, now=learner.now)


class TestPermission:
    def test_a_folder_that_may_not_be_made(
        self,
        as_ordinary_user: Callable[[], AbstractContextManager[Path]],
        learner,
        reopen: Callable[[], Store],
    ) -> None:
        reopen().close()  # everything that is imported late is there before the user changes
        with as_ordinary_user() as folder:
            folder.chmod(0o500)
            location = Location(file=folder / "data" / "fatutor.db")
            with pytest.raises(StoreError) as caught:
                open_store(location, backups=None, now=learner.now)
            assert line(caught) == (
                f"{location.file} cannot be opened: Permission denied; set FATUTOR_HOME to another folder"
            )
            assert read_facts(location).states == {}
            folder.chmod(0o700)

    def test_a_folder_that_may_not_be_written(
        self,
        as_ordinary_user: Callable[[], AbstractContextManager[Path]],
        learner,
        reopen: Callable[[], Store],
    ) -> None:
        reopen().close()
        with as_ordinary_user() as folder:
            folder.chmod(0o500)
            with pytest.raises(StoreError, match="cannot be opened; see that its folder is yours, or set"):
                open_store(Location(file=folder / "fatutor.db"), backups=None, now=learner.now)
            folder.chmod(0o700)

    def test_a_file_that_may_not_be_written(
        self,
        as_ordinary_user: Callable[[], AbstractContextManager[Path]],
        learner,
        reopen: Callable[[], Store],
    ) -> None:
        reopen().close()
        with as_ordinary_user() as folder:
            location = Location(file=folder / "fatutor.db")
            with open_store(location, backups=None, now=learner.now) as store:
                store.append(learner.grades("a", NEW, 4))
            (folder / "fatutor.db").chmod(0o400)
            with (
                open_store(location, backups=None, now=learner.now) as store,
                pytest.raises(StoreError, match="may not be written; give yourself write permission, or set"),
            ):
                store.append(learner.grades("b", NEW, 4))
            assert set(read_facts(location).states) == {"a"}

    def test_a_file_that_may_not_be_read(
        self,
        as_ordinary_user: Callable[[], AbstractContextManager[Path]],
        learner,
        reopen: Callable[[], Store],
    ) -> None:
        reopen().close()
        with as_ordinary_user() as folder:
            location = Location(file=folder / "fatutor.db")
            open_store(location, backups=None, now=learner.now).close()
            (folder / "fatutor.db").chmod(0)
            for attempt in (
                lambda: read_facts(location),
                lambda: open_store(location, backups=None, now=learner.now),
            ):
                with pytest.raises(StoreError, match="cannot be opened"):
                    attempt()

    def test_a_folder_inside_a_file(self, tmp_path: Path, learner) -> None:
        (tmp_path / "file").touch()
        location = Location(file=tmp_path / "file" / "data" / "fatutor.db")
        with pytest.raises(StoreError, match="cannot be opened: Not a directory"):
            open_store(location, backups=None, now=learner.now)
        assert read_facts(location).states == {}


class TestFullDisk:
    def test_an_answer_that_finds_no_room(self, location: Location, store: Store, learner) -> None:
        """The database may not grow; SQLite reports it as it reports a disk without room."""
        store.append(learner.grades("a", NEW, 4))
        store.close()

        def no_growth(connection: sqlite3.Connection, _record: object) -> None:
            connection.execute("PRAGMA max_page_count = 1")  # means: not more than there are

        event.listen(Engine, "connect", no_growth)
        try:
            with open_store(location, backups=None, now=learner.now) as full:
                with pytest.raises(StoreError) as caught:
                    full.append(learner.grades("b", NEW, 4, answer="x" * 100_000))
                assert set(full.facts().states) == {"a"}
                assert len(list(full.entries())) == 1
        finally:
            event.remove(Engine, "connect", no_growth)
        assert line(caught) == f"the disk that holds {location.file} is full; free some space and try again"

    def test_writes_that_fail_half_way_lose_nothing_that_was_stored(
        self, location: Location, tmp_path: Path
    ) -> None:
        """A child whose files may not grow beyond 400 kB answers until that stops it."""
        script = tmp_path / "child.py"
        script.write_text(ANSWERING.format(file=str(location.file), limit=400_000))
        told = subprocess.run([sys.executable, script], capture_output=True, text=True, cwd=ROOT, check=False,
                              env={"PYTHONPATH": str(ROOT)})  # fmt: skip
        stored, failure = told.stdout.splitlines()
        assert failure.startswith(f"the disk that holds {location.file} ")
        assert set(read_facts(location).states) == {f"c{number}" for number in range(int(stored))}
        assert int(stored) > 10


ANSWERING = """
import resource
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from fatutor.schedule import rules
from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState
from fatutor.store.failures import StoreError
from fatutor.store.ids import Ids
from fatutor.store.store import open_store
from fatutor.store.url import Location

now, today, ids = datetime(2026, 11, 29, tzinfo=UTC), date(2026, 11, 29), Ids(Random(1).getrandbits)
resource.setrlimit(resource.RLIMIT_FSIZE, ({limit}, {limit}))
store = open_store(Location(file=Path({file!r})), backups=None, now=now)
for number in range(2000):
    after = rules.grade(CardState(), 4, today, Scheduler(), "d")
    entry = Entry(ids.new(now), f"c{{number}}", EntryKind.REVIEW, now, 0, today, CardState(), after,
                  quality=4, scheduler="sm2@365")
    try:
        store.append(entry)
    except StoreError as error:
        print(number)
        print(error)
        break
"""


class TestDamage:
    def test_a_file_that_is_no_database(self, tmp_path: Path, learner) -> None:
        file = tmp_path / "notes.db"
        file.write_text("dear diary, " * 500)
        for attempt in (
            lambda: read_facts(Location(file=file)),
            lambda: open_store(Location(file=file), backups=None, now=learner.now),
        ):
            with pytest.raises(StoreError) as caught:
                attempt()
            assert line(caught) == f"{file} is not a database; name another file; there is no copy yet"
        assert file.read_text() == "dear diary, " * 500

    def test_a_folder_where_the_file_should_be(self, tmp_path: Path, learner) -> None:
        for attempt in (
            lambda: read_facts(Location(file=tmp_path)),
            lambda: open_store(Location(file=tmp_path), backups=None, now=learner.now),
        ):
            with pytest.raises(StoreError, match="cannot be opened"):
                attempt()

    def test_a_damaged_file_names_the_last_copy(
        self, location: Location, store: Store, backups: Path, learner
    ) -> None:
        for number in range(60):
            store.append(learner.grades(f"c{number}", NEW, 4))
        store.close()
        assert location.file is not None
        back_up(location.file, backups, date(2026, 11, 28))
        content = bytearray(location.file.read_bytes())
        content[4096:] = b"\xff" * (len(content) - 4096)
        location.file.write_bytes(content)
        with pytest.raises(StoreError) as caught:
            read_facts(location, backups)
        copy = backups / "fatutor-2026-11-28.db"
        assert line(caught) == f"{location.file} is damaged; run fatutor doctor; the last copy is {copy}"
        with pytest.raises(StoreError, match="is damaged; run fatutor doctor; the last copy is"):
            open_store(location, backups=backups, now=learner.now).facts()


class TestUrls:
    @pytest.mark.parametrize(
        ("url", "told"),
        [
            ("postgres://me:secret@host/fat", "Can't load plugin"),
            ("nonsense://host/fat", "Can't load plugin"),
            ("mysql://me:secret@host/fat", "needs the Python package MySQLdb; install it beside fatutor"),
            ("://", "Could not parse"),
        ],
    )
    def test_a_url_that_leads_nowhere_is_one_line_without_its_password(
        self, url: str, told: str, learner
    ) -> None:
        for attempt in (
            lambda: read_facts(Location(url=url)),
            lambda: open_store(Location(url=url), backups=None, now=learner.now),
        ):
            with pytest.raises(StoreError, match=told) as caught:
                attempt()
            assert "secret" not in line(caught)


class DriverError(Exception):
    """As the error of a PostgreSQL driver looks."""

    def __init__(self, text: str, sqlstate: str) -> None:
        super().__init__(text)
        self.sqlstate = sqlstate


def test_a_collision_of_two_writers_is_a_conflict() -> None:
    assert isinstance(explain(DriverError("could not serialize access", "40001"), "db", None), ConflictError)


def test_a_value_that_another_database_refuses_is_told_as_such() -> None:
    told = explain(DriverError("violates foreign key constraint", "23503"), "db", None)
    assert str(told) == "db refused a value: violates foreign key constraint; please report this"


def test_only_the_first_line_of_a_driver_is_told() -> None:
    told = explain(DriverError("connection refused\n\tIs the server running?", "08001"), "db", None)
    assert str(told) == (
        "db: connection refused; see that it runs and that its URL is like postgresql+psycopg://user@host/name"
    )


def test_an_error_without_words_is_named() -> None:
    assert explain(sqlite3.ProgrammingError(), "db", None).what == "db: ProgrammingError"


def test_a_failed_store_can_be_closed_and_opened_again(
    impatient: None, location: Location, reopen: Callable[[], Store], learner
) -> None:
    store = reopen()
    entry = learner.grades("a", NEW, 4)
    with locked(location), pytest.raises(StoreError):
        store.append(entry)
    store.close()
    again = reopen()
    again.append(replace(entry, id=learner.new_id()))
    assert set(again.facts().states) == {"a"}
