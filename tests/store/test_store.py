from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path

import pytest

from fatutor.schedule.facts import Facts
from fatutor.schedule.log import EntryKind
from fatutor.schedule.state import CardState
from fatutor.store.failures import ConflictError, StoreError
from fatutor.store.records import Commitment
from fatutor.store.store import Store
from fatutor.store.url import Location

NEW = CardState()
Reopen = Callable[[], Store]


def test_the_folder_is_made_with_the_store(location: Location, reopen: Reopen) -> None:
    assert location.file is not None
    assert not location.file.parent.exists()
    assert reopen().facts() == Facts()
    assert location.file.exists()


def test_what_is_appended_comes_back_as_it_was(store: Store, learner) -> None:
    first = learner.grades("a", NEW, 4, answer="B_r × 2 · [red]“m”\n\ttwo lines 日本")
    second = replace(
        learner.does("b", EntryKind.FLAG, NEW),
        at=datetime(2026, 11, 29, 23, 59, 59, 123456, tzinfo=UTC),
        offset=-300,
    )
    store.append(first)
    store.append(second)
    assert list(store.entries()) == [first, second]
    assert store.facts() == Facts({"a": first.after, "b": second.after}, frozenset(), learner.today)


def test_instants_come_back_in_utc(store: Store, learner) -> None:
    berlin = timezone(timedelta(hours=1))
    entry = replace(learner.grades("a", NEW, 4), at=datetime(2026, 11, 29, 10, tzinfo=berlin))
    store.append(entry)
    (stored,) = store.entries()
    assert stored.at == entry.at
    assert stored.at.tzinfo is UTC


def test_every_part_of_a_state_is_kept(store: Store, learner) -> None:
    before = NEW
    for quality, day in ((4, 29), (2, 30)):
        learner.today = date(2026, 11, day)
        entry = learner.grades("a", before, quality)
        store.append(entry)
        before = entry.after
    for kind in (EntryKind.FLAG, EntryKind.SUSPEND, EntryKind.BURY):
        entry = learner.does("a", kind, before)
        store.append(entry)
        before = entry.after
    assert before == CardState(
        memory=before.memory._replace(repetition=0, interval=1, ease=218, lapses=1),
        due=date(2026, 12, 1),
        introduced=date(2026, 11, 29),
        last_review=date(2026, 11, 30),
        relearn_on=date(2026, 11, 30),
        suspended=True,
        buried_until=date(2026, 12, 1),
        flagged=True,
        digest="d0",
    )
    assert store.facts().states == {"a": before}


class TestConflict:
    def test_two_fatutors_grade_one_card(self, reopen: Reopen, learner) -> None:
        mine, other = reopen(), reopen()
        theirs = learner.grades("a", NEW, 2)
        other.append(theirs)
        with pytest.raises(ConflictError, match="another fatutor has changed card a"):
            mine.append(learner.grades("a", NEW, 5))
        assert list(mine.entries()) == [theirs]
        assert mine.facts() == other.facts()

    def test_they_may_grade_different_cards(self, reopen: Reopen, learner) -> None:
        mine, other = reopen(), reopen()
        for store, card in ((mine, "a"), (other, "b"), (mine, "c")):
            store.append(learner.grades(card, NEW, 4))
        assert set(mine.facts().states) == {"a", "b", "c"}

    def test_after_reading_anew_it_goes_on(self, reopen: Reopen, learner) -> None:
        mine, other = reopen(), reopen()
        other.append(learner.grades("a", NEW, 4))
        entry = learner.does("a", EntryKind.SUSPEND, mine.facts().state("a"))
        mine.append(entry)
        assert other.facts().state("a") == entry.after


class TestUndo:
    def test_nothing_to_undo(self, store: Store, learner) -> None:
        assert store.last_undoable() is None
        assert learner.undoes(store) is None
        assert list(store.entries()) == []

    def test_it_restores_the_state_from_before(self, store: Store, learner) -> None:
        first = learner.grades("a", NEW, 2)
        store.append(first)
        second = learner.grades("a", first.after, 4)
        store.append(second)
        assert store.last_undoable() == second
        assert learner.undoes(store) == second
        assert store.facts().states == {"a": first.after}
        assert learner.undoes(store) == first
        assert store.facts().states == {}

    def test_it_appends_and_removes_nothing(self, store: Store, learner) -> None:
        entry = learner.grades("a", NEW, 4)
        store.append(entry)
        learner.undoes(store)
        first, undo = store.entries()
        assert first == entry
        assert (undo.kind, undo.undoes, undo.card) == (EntryKind.UNDO, entry.id, "a")
        assert (undo.before, undo.after) == (entry.after, entry.before)

    def test_any_depth_also_after_a_restart(self, reopen: Reopen, learner) -> None:
        store = reopen()
        entries = [learner.grades(f"c{n}", NEW, 4) for n in range(30)]
        for entry in entries:
            store.append(entry)
        store.close()
        store = reopen()
        for entry in reversed(entries):
            assert learner.undoes(store) == entry
        assert learner.undoes(store) is None

    def test_every_kind_of_entry_can_be_undone(self, store: Store, learner) -> None:
        for kind in (EntryKind.SUSPEND, EntryKind.BURY, EntryKind.FLAG):
            store.append(learner.does("a", kind, NEW))
            undone = learner.undoes(store)
            assert undone is not None
            assert undone.kind is kind
            assert store.facts().states == {}

    def test_grading_anew_counts_once(self, store: Store, learner) -> None:
        store.append(learner.grades("a", NEW, 2))
        learner.undoes(store)
        again = learner.grades("a", NEW, 4)
        store.append(again)
        assert list(store.entries(since=learner.today, live=True)) == [again]

    def test_the_order_is_that_of_arrival_when_the_clock_goes_back(self, reopen: Reopen, learner) -> None:
        store = reopen()
        first = learner.grades("a", NEW, 2)
        store.append(first)
        learner.now -= timedelta(hours=5)
        learner.ids = type(learner.ids)(lambda bits: 0)  # a new start: ids know nothing of the last ones
        second = learner.grades("a", first.after, 4)
        assert second.id < first.id
        store.append(second)
        assert [entry.id for entry in store.entries()] == [first.id, second.id]
        assert learner.undoes(store) == second


class TestLastStudyDay:
    def test_is_the_latest_not_the_last(self, store: Store, learner) -> None:
        store.append(learner.grades("a", NEW, 4))
        learner.today = date(2026, 11, 20)
        store.append(learner.grades("b", NEW, 4))
        assert store.facts().last_study_day == date(2026, 11, 29)

    def test_an_answer_under_a_wrong_date_can_be_undone(self, store: Store, learner) -> None:
        store.append(learner.grades("a", NEW, 4))
        learner.today = date(2031, 1, 1)
        store.append(learner.grades("b", NEW, 4))
        learner.undoes(store)
        assert store.facts().last_study_day == date(2026, 11, 29)

    def test_a_commitment_counts_too(self, store: Store, learner) -> None:
        store.commit(Commitment("1", "gate", "text", learner.now, 60, learner.today))
        assert store.facts().last_study_day == learner.today


class TestEntries:
    @pytest.fixture
    def week(self, store: Store, learner) -> list:
        entries = []
        for day in range(7):
            learner.today = date(2026, 11, 23 + day)
            for card in "ab":
                entry = learner.grades(card, store.facts().state(card), 4)
                store.append(entry)
                entries.append(entry)
        return entries

    def test_of_one_card(self, store: Store, week: list) -> None:
        assert list(store.entries(card="b")) == week[1::2]

    def test_since_a_day(self, store: Store, week: list) -> None:
        assert list(store.entries(since=date(2026, 11, 28))) == week[10:]

    def test_the_last_few(self, store: Store, week: list) -> None:
        assert list(store.entries(limit=3)) == week[-3:]
        assert list(store.entries(card="a", limit=2)) == [week[10], week[12]]
        assert list(store.entries(limit=0)) == []

    def test_live_leaves_out_what_was_undone(self, store: Store, learner, week: list) -> None:
        learner.undoes(store)
        learner.undoes(store)
        assert list(store.entries(live=True)) == week[:-2]
        assert list(store.entries(live=True, limit=1, card="b")) == [week[11]]
        assert len(list(store.entries())) == 16

    def test_long_logs_are_read_piece_by_piece(
        self, store: Store, week: list, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("fatutor.store.journal._CHUNK", 5)
        assert list(store.entries()) == week
        monkeypatch.setattr("fatutor.store.journal._CHUNK", 7)
        assert list(store.entries()) == week

    def test_answers_may_be_stored_while_the_log_is_read(self, store: Store, learner, week: list) -> None:
        reading = store.entries()
        next(reading)
        store.append(learner.grades("c", NEW, 4))
        assert len(list(reading)) == len(week) - 1


class TestRefusals:
    """Table models check nothing, so the database does."""

    @pytest.mark.parametrize(
        "wrong",
        [
            {"quality": 7},
            {"quality": "banana"},
            {"quality": None},
            {"key": 9},
            {"scheduler": None},
            {"speaking_ms": -1},
            {"kind": EntryKind.FLAG},
            {"undoes": "something"},
        ],
    )
    def test_a_wrong_entry_is_refused_whole(self, store: Store, learner, wrong: dict) -> None:
        with pytest.raises(StoreError, match="refused a value"):
            store.append(replace(learner.grades("a", NEW, 4), **wrong))
        assert list(store.entries()) == []
        assert store.facts() == Facts()

    def test_an_impossible_state_is_refused(self, store: Store, learner) -> None:
        entry = learner.grades("a", NEW, 4)
        state = entry.after._replace(memory=entry.after.memory._replace(ease=129))
        with pytest.raises(StoreError, match="card_state_ease"):
            store.append(replace(entry, after=state))
        assert list(store.entries()) == []

    def test_a_naive_instant_is_refused(self, store: Store, learner) -> None:
        with pytest.raises(StoreError, match="timezone"):
            store.append(replace(learner.grades("a", NEW, 4), at=datetime(2026, 11, 29)))

    def test_text_that_is_no_text_is_refused(self, store: Store, learner) -> None:
        with pytest.raises(StoreError):
            store.append(learner.grades("a", NEW, 4, answer="\udc80"))
        assert store.facts() == Facts()

    def test_one_id_twice_is_refused(self, store: Store, learner) -> None:
        entry = learner.grades("a", NEW, 4)
        store.append(entry)
        with pytest.raises(StoreError, match=r"review\.id"):
            store.append(replace(learner.grades("b", NEW, 4), id=entry.id))


def test_it_may_be_used_from_another_thread(store: Store, learner) -> None:
    """The screen opens it in the background and then stores answers itself."""
    entry = learner.grades("a", NEW, 4)
    thread = threading.Thread(target=store.append, args=(entry,))
    thread.start()
    thread.join()
    assert store.facts().states == {"a": entry.after}


def test_a_path_may_hold_what_a_url_may_not(tmp_path: Path, learner) -> None:
    from fatutor.store.read import read_facts
    from fatutor.store.store import open_store

    location = Location(file=tmp_path / "50% off? #1 é" / "my db")
    with open_store(location, backups=None, now=learner.now) as store:
        store.append(learner.grades("a", NEW, 4))
        written = store.facts()
    assert [path.name for path in (tmp_path / "50% off? #1 é").iterdir()] == ["my db"]
    assert read_facts(location) == written


def test_a_database_in_memory_works_too(learner) -> None:
    from fatutor.store.store import open_store

    with open_store(Location(url="sqlite://"), backups=None, now=learner.now) as store:
        store.append(learner.grades("a", NEW, 4))
        assert learner.undoes(store) is not None
        assert store.back_up(learner.today) is None
