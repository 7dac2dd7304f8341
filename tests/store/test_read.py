from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, closing
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from fatutor.schedule.facts import Facts
from fatutor.schedule.log import EntryKind
from fatutor.schedule.state import CardState
from fatutor.store import read
from fatutor.store.failures import StoreError
from fatutor.store.read import read_facts, read_runs
from fatutor.store.records import Commitment, DemoRun
from fatutor.store.store import Store, open_store
from fatutor.store.url import Location

NEW = CardState()


@pytest.fixture
def full(store: Store, learner) -> Facts:
    """A database in which every column of a state is in use."""
    before = NEW
    for day, quality in ((1, 4), (2, 4), (9, 2)):
        learner.today = date(2026, 11, day)
        entry = learner.grades("a", before, quality)
        store.append(entry)
        before = entry.after
    for kind in (EntryKind.BURY, EntryKind.SUSPEND, EntryKind.FLAG):
        entry = learner.does("a", kind, before)
        store.append(entry)
        before = entry.after
    store.append(learner.grades("b", NEW, 5))
    store.commit(Commitment("1", "gate-01", "text", learner.now, 60, date(2026, 11, 8)))
    facts = store.facts()
    assert facts.states["a"] == before
    return facts


def beside(location: Location) -> set[str]:
    assert location.file is not None
    return {path.name for path in location.file.parent.iterdir()}


def test_no_database_gives_no_facts_and_makes_nothing(location: Location) -> None:
    assert read_facts(location) == Facts()
    assert location.file is not None
    assert not location.file.parent.exists()


def test_an_empty_file_gives_no_facts(tmp_path: Path) -> None:
    (tmp_path / "x.db").touch()
    assert read_facts(Location(file=tmp_path / "x.db")) == Facts()


def test_the_same_facts_as_the_store_while_it_is_open(location: Location, full: Facts) -> None:
    assert full.last_study_day == date(2026, 11, 9)
    assert read_facts(location) == full


def test_the_same_facts_after_it_was_closed(location: Location, store: Store, full: Facts) -> None:
    store.close()
    assert read_facts(location) == full


def test_the_day_of_a_commitment_counts(location: Location, store: Store, full: Facts, learner) -> None:
    store.commit(Commitment("2", "gate-02", "text", learner.now, 60, date(2026, 11, 30)))
    assert read_facts(location) == store.facts()
    assert read_facts(location).last_study_day == date(2026, 11, 30)


def test_reading_leaves_no_trace(location: Location, store: Store, full: Facts) -> None:
    store.close()
    assert location.file is not None
    content, stamp = location.file.read_bytes(), location.file.stat().st_mtime_ns
    read_facts(location)
    assert beside(location) == {"fatutor.db"}
    assert (location.file.read_bytes(), location.file.stat().st_mtime_ns) == (content, stamp)


def test_a_write_that_comes_between_is_noticed(
    location: Location, store: Store, full: Facts, learner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is taken as immutable only while nobody writes; then it is read once more."""
    from fatutor.store import read

    store.close()
    modes, query = [], read._query

    def slowly(file: Path, mode: str, ask: Callable[[sqlite3.Connection], Facts]) -> Facts | None:
        modes.append(mode)
        facts = query(file, mode, ask)
        if len(modes) == 1:
            with open_store(location, backups=None, now=learner.now) as other:
                other.append(learner.grades("c", NEW, 4))
        return facts

    monkeypatch.setattr(read, "_query", slowly)
    assert "c" in read_facts(location).states
    assert modes == ["mode=ro&immutable=1", "mode=ro"]


def test_answers_being_written_do_not_stop_a_reader(location: Location, full: Facts) -> None:
    with closing(sqlite3.connect(str(location.file), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        other.execute("DELETE FROM card_state")
        assert read_facts(location) == full


def test_a_read_only_folder_can_be_read(
    as_ordinary_user: Callable[[], AbstractContextManager[Path]], learner
) -> None:
    with as_ordinary_user() as folder:
        location = Location(file=folder / "data" / "fatutor.db")
        with open_store(location, backups=None, now=learner.now) as store:
            store.append(learner.grades("a", NEW, 4))
            facts = store.facts()
        (folder / "data" / "fatutor.db").chmod(0o400)
        (folder / "data").chmod(0o500)
        try:
            assert read_facts(location) == facts
        finally:
            (folder / "data").chmod(0o700)


def test_a_newer_database_is_refused(location: Location, store: Store) -> None:
    store.close()
    with closing(sqlite3.connect(str(location.file))) as connection:
        connection.execute("INSERT INTO schema_version VALUES (99, '2030-01-01 00:00:00')")
        connection.commit()
    with pytest.raises(StoreError, match="was written by a newer fatutor; install that one"):
        read_facts(location)


def test_an_older_database_asks_to_be_opened_once(
    location: Location, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fatutor.store.read.LATEST", read.LATEST + 1)
    with pytest.raises(StoreError, match="was written by an older fatutor; run fatutor once"):
        read_facts(location)


def test_another_programs_database_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("CREATE TABLE bookmarks (url TEXT)")
    with pytest.raises(StoreError, match="belongs to another program"):
        read_facts(Location(file=file))


def test_a_value_that_cannot_be_is_one_line(location: Location, full: Facts) -> None:
    with closing(sqlite3.connect(str(location.file))) as connection:
        connection.execute("UPDATE card_state SET due = 'tomorrow' WHERE card = 'b'")
        connection.commit()
    with pytest.raises(StoreError, match=r"fatutor\.db holds, or was given, an impossible value"):
        read_facts(location)


def test_other_databases_are_read_through_sqlmodel(tmp_path: Path, store: Store, full: Facts) -> None:
    by_url = Location(url=f"sqlite:///{store.database.location.file}?timeout=1")
    assert read_facts(by_url) == full
    assert read_facts(Location(url="sqlite://")) == Facts()


@pytest.fixture
def run(store: Store, learner) -> DemoRun:
    """A stored run with a value in every column, evidence for a review and a commitment."""
    entry = learner.grades("a", NEW, 4)
    given = Commitment("1", "gate-01", "text", learner.now, 60, date(2026, 11, 8))
    store.append(entry)
    store.commit(given)
    run = DemoRun(
        id="0",
        demo="bytes-moved",
        at=learner.now,
        params={"n": 512, "causal": True, "scale": None},
        prediction="4 MB",
        predicted=4e6,
        formula=4_784_128.0,
        measured=4_784_128.5,
        unit="B",
        verdict="confirmed",
        why="K and [V] are read again",
        device="cpu",
        device_name="interpreter",
        versions={"triton": "3.7.1"},
        seconds=3.8,
        card="a",
        entry=entry.id,
        commitment=given.id,
        answer="nearer",
    )
    store.add_run(run)
    return run


def test_runs_are_the_stores_own_open_or_closed(location: Location, store: Store, run: DemoRun) -> None:
    bare = DemoRun(id="1", demo="d", at=run.at - timedelta(microseconds=1))
    store.add_run(bare)
    assert read_runs(location) == store.runs() == [bare, run]
    store.close()
    assert read_runs(location) == [bare, run]
    assert beside(location) == {"fatutor.db"}
    by_url = Location(url=f"sqlite:///{location.file}?timeout=1")
    assert read_runs(by_url) == [bare, run]


def test_no_database_gives_no_runs_and_makes_nothing(location: Location) -> None:
    assert read_runs(location) == []
    assert location.file is not None
    assert not location.file.parent.exists()


def test_sqlmodel_is_not_imported(location: Location, full: Facts) -> None:
    script = f"""
import json, sys
from pathlib import Path
from fatutor.store.read import read_facts, read_runs
from fatutor.store.url import Location
location = Location(file=Path({str(location.file)!r}))
facts, runs = read_facts(location), read_runs(location)
heavy = [name for name in ("sqlmodel", "sqlalchemy") if name in sys.modules]
print(json.dumps([sorted(facts.states), heavy]))
"""
    root = Path(__file__).resolve().parents[2]
    told = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=root
    )
    assert json.loads(told.stdout) == [["a", "b"], []]


def test_a_database_of_an_older_fatutor_is_known_without_opening_it(tmp_path, monkeypatch) -> None:
    location = Location(file=tmp_path / "fatutor.db")
    assert not read.is_older(location)
    with open_store(location, backups=None, now=datetime(2026, 11, 29, tzinfo=UTC)):
        pass
    assert not read.is_older(location)
    monkeypatch.setattr(read, "LATEST", read.LATEST + 1)
    assert read.is_older(location)
