from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Barrier, Thread

import pytest
from sqlalchemy import Connection, Engine, create_engine, inspect
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import CreateTable
from sqlmodel import SQLModel

from fatutor.schedule.log import EntryKind
from fatutor.schedule.state import CardState
from fatutor.store.database import Database
from fatutor.store.failures import StoreError
from fatutor.store.migrations import LATEST, MIGRATIONS
from fatutor.store.store import Store, open_store
from fatutor.store.url import Location


def schema(engine: Engine) -> dict[str, object]:
    """All that a schema is: columns, keys, constraints and indexes of every table."""
    look = inspect(engine)
    return {
        name: (
            [(c["name"], str(c["type"]), c["nullable"], c["default"]) for c in look.get_columns(name)],
            look.get_pk_constraint(name)["constrained_columns"],
            sorted(
                (c["name"], " ".join(str(c["sqltext"]).split())) for c in look.get_check_constraints(name)
            ),
            sorted(c["column_names"] for c in look.get_unique_constraints(name)),
            sorted((i["name"], i["column_names"], i["unique"]) for i in look.get_indexes(name)),
            sorted(
                (f["constrained_columns"], f["referred_table"], f["referred_columns"])
                for f in look.get_foreign_keys(name)
            ),
        )
        for name in look.get_table_names()
    }


def test_the_migrated_schema_is_that_of_the_models(location: Location, store: Store, tmp_path: Path) -> None:
    modelled = create_engine(f"sqlite:///{tmp_path / 'models.db'}")
    SQLModel.metadata.create_all(modelled)
    migrated = create_engine(f"sqlite:///{location.file}")
    try:
        assert schema(migrated) == schema(modelled)
    finally:
        modelled.dispose()
        migrated.dispose()


def test_the_models_suit_postgresql_as_well() -> None:
    """The type of an instant is the one word in which the two databases differ."""
    ddl = str(CreateTable(SQLModel.metadata.tables["review"]).compile(dialect=postgresql.dialect()))
    assert "at TIMESTAMP WITH TIME ZONE NOT NULL" in ddl


def test_pragmas(store: Store) -> None:
    with store.database.reading() as session:
        ask = session.connection().exec_driver_sql
        found = {
            name: ask(f"PRAGMA {name}").scalar() for name in ("journal_mode", "synchronous", "foreign_keys")
        }
        timeout = ask("PRAGMA busy_timeout").scalar()
    assert found == {"journal_mode": "wal", "synchronous": 2, "foreign_keys": 1}
    assert timeout == 1500


def test_each_migration_leaves_its_record(store: Store, learner) -> None:
    with store.database.reading() as session:
        rows = session.connection().exec_driver_sql("SELECT version, applied_at FROM schema_version").all()
    assert rows == [(number + 1, "2026-11-29 10:00:00.000000") for number in range(LATEST)]


def test_opening_again_changes_nothing(
    location: Location, reopen: Callable[[], Store], backups: Path
) -> None:
    reopen().close()
    reopen().close()
    assert not backups.exists()
    with closing(sqlite3.connect(str(location.file))) as connection:
        assert connection.execute("SELECT count(*) FROM schema_version").fetchone() == (LATEST,)


class TestStep:
    """One more migration, on a database that has content."""

    @staticmethod
    def add_note(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE commitment ADD COLUMN note VARCHAR")

    @staticmethod
    def fail(connection: Connection) -> None:
        connection.exec_driver_sql("ALTER TABLE commitment ADD COLUMN note VARCHAR")
        connection.exec_driver_sql("ALTER TABLE no_such_table ADD COLUMN note VARCHAR")

    @pytest.fixture
    def database(self, store: Store, learner, location: Location, backups: Path):
        store.append(learner.grades("a", CardState(), 4))
        store.close()
        database = Database(location, backups)
        yield database
        database.close()

    @staticmethod
    def columns(file: Path | None) -> list[str]:
        with closing(sqlite3.connect(str(file))) as connection:
            return [row[1] for row in connection.execute("PRAGMA table_info(commitment)")]

    def test_it_runs_once_and_after_a_copy(self, database: Database, learner, backups: Path) -> None:
        steps = (*MIGRATIONS, self.add_note)
        database.migrate(learner.now, steps)
        database.migrate(learner.now, steps)
        assert database.version(steps) == LATEST + 1
        assert "note" in self.columns(database.location.file)
        (copy,) = backups.iterdir()
        assert copy.name == f"fatutor-schema-{LATEST}.db"
        assert "note" not in self.columns(copy)
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("SELECT card FROM review").fetchall() == [("a",)]

    def test_one_that_fails_leaves_the_database_as_it_was(
        self, database: Database, learner, backups: Path
    ) -> None:
        with pytest.raises(StoreError, match="no_such_table"):
            database.migrate(learner.now, (*MIGRATIONS, self.fail))
        assert database.version() == LATEST
        assert "note" not in self.columns(database.location.file)
        assert [path.name for path in backups.iterdir()] == [f"fatutor-schema-{LATEST}.db"]

    def test_without_a_copy_it_does_not_begin(self, database: Database, learner, backups: Path) -> None:
        backups.write_text("a file where the folder should be")
        with pytest.raises(StoreError, match="cannot be opened"):
            database.migrate(learner.now, (*MIGRATIONS, self.add_note))
        assert "note" not in self.columns(database.location.file)

    def test_a_newer_database_is_refused(self, database: Database, learner, location: Location) -> None:
        database.migrate(learner.now, (*MIGRATIONS, self.add_note))
        with pytest.raises(StoreError) as caught:
            open_store(location, backups=None, now=learner.now)
        assert str(caught.value) == (
            f"{location.file} was written by a newer fatutor; install that one, or name another database"
        )


def test_the_database_of_another_program_is_left_alone(tmp_path: Path, learner) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(StoreError, match="belongs to another program; name another file"):
        open_store(Location(file=file), backups=None, now=learner.now)
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("SELECT name FROM sqlite_master").fetchall() == [("bookmarks",)]


def test_an_empty_file_becomes_a_database(tmp_path: Path, learner) -> None:
    file = tmp_path / "new.db"
    file.touch()
    with open_store(Location(file=file), backups=None, now=learner.now) as store:
        assert store.database.version() == LATEST


@pytest.mark.parametrize("attempt", range(15))  # the lock that was not waited for showed once in ten
def test_two_starts_at_the_same_time_make_one_database(location: Location, learner, attempt: int) -> None:
    barrier, failures = Barrier(4), []

    def start() -> None:
        barrier.wait()
        try:
            open_store(location, backups=None, now=learner.now).close()
        except StoreError as error:
            failures.append(error)

    threads = [Thread(target=start) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_kinds_in_the_schema_are_those_of_the_log(store: Store) -> None:
    with store.database.reading() as session:
        checks = inspect(session.connection()).get_check_constraints("review")
    (text,) = (check["sqltext"] for check in checks if check["name"] == "review_kind")
    assert set(re.findall(r"'([a-z]+)'", str(text))) == {kind.value for kind in EntryKind}


def test_runs_of_the_first_version_are_kept_and_have_no_answer(location: Location, learner) -> None:
    database = Database(location)
    database.migrate(learner.now, MIGRATIONS[:1])
    database.close()
    with closing(sqlite3.connect(str(location.file))) as connection:
        connection.execute(
            "INSERT INTO demo_run (id, demo, at, params, prediction, unit, verdict, why, device,"
            " device_name, versions, seconds) VALUES ('1', 'same-answer', '2026-11-29 10:00:00.000000',"
            " '{}', '2', '', 'confirmed', '', '', '', '{}', 1)"
        )
        connection.commit()
    with open_store(location, backups=None, now=learner.now) as store:
        (run,) = store.runs()
    assert (run.demo, run.prediction, run.answer) == ("same-answer", "2", "")
