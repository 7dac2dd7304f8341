from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing
from datetime import date

import pytest

from fatutor.schedule.state import CardState
from fatutor.store.doctor import Difference, damage, differences, rebuild
from fatutor.store.failures import StoreError
from fatutor.store.store import Store, open_to_read
from fatutor.store.url import Location

NEW = CardState()


@pytest.fixture
def states(store: Store, learner) -> dict[str, CardState]:
    for card, quality in (("a", 4), ("b", 2), ("c", 5)):
        store.append(learner.grades(card, NEW, quality))
    return dict(store.facts().states)


@pytest.fixture
def meddle(location: Location) -> Callable[[str], None]:
    def run(statement: str) -> None:
        with closing(sqlite3.connect(str(location.file))) as connection:
            connection.execute(statement)
            connection.commit()

    return run


def test_a_sound_database_has_nothing_to_tell(store: Store, states: dict[str, CardState]) -> None:
    assert differences(store) == []
    assert damage(store) == []


def test_differences_are_found_told_and_mended(
    store: Store, states: dict[str, CardState], meddle: Callable[[str], None]
) -> None:
    meddle("UPDATE card_state SET due = '2030-01-01' WHERE card = 'a'")
    meddle("DELETE FROM card_state WHERE card = 'b'")
    meddle("UPDATE card_state SET card = 'ghost' WHERE card = 'c'")
    found = [
        Difference("a", states["a"]._replace(due=date(2030, 1, 1)), states["a"]),
        Difference("b", NEW, states["b"]),
        Difference("c", NEW, states["c"]),
        Difference("ghost", states["c"], NEW),
    ]
    assert differences(store) == found
    assert rebuild(store) == found
    assert store.facts().states == states
    assert rebuild(store) == []


def test_a_store_to_read_shows_all_and_writes_nothing(
    store: Store, states: dict[str, CardState], location: Location, learner
) -> None:
    with open_to_read(location, backups=None) as looking:  # while another holds it open for writing
        assert (differences(looking), damage(looking)) == ([], [])
        assert looking.facts().states == states
        with pytest.raises(StoreError):
            looking.append(learner.grades("d", NEW, 4))
    store.close()
    with open_to_read(location, backups=None) as looking:
        assert looking.facts().states == states
        with pytest.raises(StoreError):
            looking.append(learner.grades("d", NEW, 4))
    assert location.file is not None
    assert [path.name for path in location.file.parent.glob(f"{location.file.name}*")] == [location.file.name]


def test_a_cache_that_cannot_be_read_is_written_anew(
    store: Store, states: dict[str, CardState], meddle: Callable[[str], None]
) -> None:
    meddle("UPDATE card_state SET due = 'tomorrow' WHERE card = 'b'")
    meddle("UPDATE card_state SET card = 'ghost', due = 'never' WHERE card = 'c'")
    with pytest.raises(StoreError, match="run fatutor doctor"):
        store.facts()
    assert differences(store) == [Difference(card, NEW, states[card]) for card in "abc"]
    rebuild(store)
    assert store.facts().states == states


def test_looking_changes_nothing(
    store: Store, states: dict[str, CardState], meddle: Callable[[str], None]
) -> None:
    meddle("DELETE FROM card_state")
    assert len(differences(store)) == 3
    assert store.facts().states == {}


def test_rebuilding_leaves_the_log_alone(
    store: Store, states: dict[str, CardState], meddle: Callable[[str], None]
) -> None:
    log = list(store.entries())
    meddle("DELETE FROM card_state")
    rebuild(store)
    assert list(store.entries()) == log


def test_loose_ends_are_told(
    store: Store, states: dict[str, CardState], meddle: Callable[[str], None], learner
) -> None:
    learner.undoes(store)
    meddle("DELETE FROM review WHERE card = 'c' AND kind = 'review'")
    assert damage(store) == ["review: a row names a missing row of review"]
