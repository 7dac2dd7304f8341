from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date, timedelta
from pathlib import Path
from threading import Thread

import pytest

from fatutor.schedule.state import CardState
from fatutor.store.backup import KEEP, back_up, copy_database, last_copy
from fatutor.store.read import read_facts
from fatutor.store.store import Store
from fatutor.store.url import Location

TODAY = date(2026, 11, 29)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def source(store: Store, learner, location: Location) -> Path:
    store.append(learner.grades("a", CardState(), 4))
    assert location.file is not None
    return location.file


def test_a_copy_holds_what_is_not_yet_in_the_main_file(store: Store, source: Path, backups: Path) -> None:
    """The last answers are in the write-ahead log while fatutor runs; copying the file would lose them."""
    assert store.back_up(TODAY) is None
    assert names(backups) == ["fatutor-2026-11-29.db"]
    assert read_facts(Location(file=backups / "fatutor-2026-11-29.db")) == store.facts()
    assert b"sm2@365" not in source.read_bytes()


def test_a_copy_is_one_file_however_it_is_opened(store: Store, source: Path, backups: Path) -> None:
    store.back_up(TODAY)
    with closing(sqlite3.connect(backups / "fatutor-2026-11-29.db")) as copy:
        assert copy.execute("SELECT card FROM review").fetchall() == [("a",)]
        assert names(backups) == ["fatutor-2026-11-29.db"]


def test_one_a_day(store: Store, source: Path, backups: Path, learner) -> None:
    store.back_up(TODAY)
    before = (backups / "fatutor-2026-11-29.db").read_bytes()
    store.append(learner.grades("b", CardState(), 4))
    store.back_up(TODAY)
    assert (backups / "fatutor-2026-11-29.db").read_bytes() == before


def test_seven_are_kept(source: Path, backups: Path) -> None:
    for day in range(10):
        assert back_up(source, backups, TODAY + timedelta(days=day)) is None
    assert KEEP == 7
    assert names(backups) == [f"fatutor-2026-12-{day:02}.db" for day in range(2, 9)]


def test_copies_before_migrations_are_not_rotated(source: Path, backups: Path) -> None:
    copy_database(source, backups / "fatutor-schema-1.db")
    for day in range(10):
        back_up(source, backups, TODAY + timedelta(days=day))
    assert "fatutor-schema-1.db" in names(backups)


def test_remains_of_a_copy_that_was_cut_off_are_swept_up(source: Path, backups: Path) -> None:
    backups.mkdir()
    (backups / "fatutor-2026-11-28.123.partial").write_bytes(b"half")
    others = backups / f"fatutor-{TODAY}.456.partial"  # another fatutor is at work on it
    others.write_bytes(b"half")
    back_up(source, backups, TODAY)
    assert names(backups) == [others.name, "fatutor-2026-11-29.db"]


def test_no_database_no_copy(tmp_path: Path, backups: Path) -> None:
    assert back_up(tmp_path / "none.db", backups, TODAY) is None
    assert not backups.exists()


def test_a_failure_is_a_warning_of_one_line(source: Path, backups: Path) -> None:
    backups.write_text("a file where the folder should be")
    warning = back_up(source, backups, TODAY)
    assert warning is not None
    assert warning.startswith(f"no backup was made in {backups}: ")
    assert "\n" not in warning


def test_a_damaged_database_does_not_push_out_good_copies(
    store: Store, source: Path, backups: Path, learner
) -> None:
    for number in range(60):
        store.append(learner.grades(f"c{number}", CardState(), 4))
    store.close()
    assert back_up(source, backups, TODAY) is None
    content = bytearray(source.read_bytes())
    content[8192:20480] = b"\xff" * 12288
    source.write_bytes(content)
    warning = back_up(source, backups, TODAY + timedelta(days=1))
    assert warning is not None
    assert names(backups) == ["fatutor-2026-11-29.db"]


def test_it_may_run_beside_the_app(store: Store, source: Path, backups: Path, learner) -> None:
    thread = Thread(target=store.back_up, args=(TODAY,))
    thread.start()
    for number in range(20):
        store.append(learner.grades(f"c{number}", CardState(), 4))
    thread.join()
    with closing(sqlite3.connect(backups / "fatutor-2026-11-29.db")) as copy:
        assert copy.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_a_copy_takes_the_place_of_the_database(
    store: Store, source: Path, backups: Path, learner, reopen: Callable[[], Store]
) -> None:
    kept = store.facts()
    store.back_up(TODAY)
    store.append(learner.grades("b", CardState(), 4))
    store.close()
    source.write_bytes((backups / "fatutor-2026-11-29.db").read_bytes())
    assert reopen().facts() == kept


def test_the_last_copy(source: Path, backups: Path) -> None:
    assert last_copy(backups) is None
    back_up(source, backups, TODAY)
    assert last_copy(backups) == backups / "fatutor-2026-11-29.db"
    copy_database(source, backups / "fatutor-schema-1.db")
    assert last_copy(backups) == backups / "fatutor-schema-1.db"
