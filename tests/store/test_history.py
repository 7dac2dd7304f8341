"""Whatever a learner does in whatever order, the cache says what a replay of the log says."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from fatutor.deck.model import Slip
from fatutor.schedule.fold import fold
from fatutor.schedule.log import EntryKind
from fatutor.schedule.queue import today_queue
from fatutor.schedule.scheduler import Scheduler
from fatutor.store import doctor
from fatutor.store.read import read_facts
from fatutor.store.store import open_store
from fatutor.store.url import Location

CARDS = [Slip(name, "x" if name in "ab" else name, "deck", "deck", 60, None, 1) for name in "abcd"]
MARKS = (EntryKind.SUSPEND, EntryKind.RESUME, EntryKind.BURY, EntryKind.FLAG, EntryKind.UNFLAG)

actions = st.lists(
    st.one_of(
        st.tuples(st.just("grade"), st.sampled_from("abcd"), st.integers(0, 5)),
        st.tuples(st.just("set"), st.sampled_from("abcd"), st.sampled_from(MARKS)),
        st.tuples(st.just("undo")),
        st.tuples(st.just("sleep"), st.integers(1, 40)),
        st.tuples(st.just("scheduler"), st.sampled_from([Scheduler("sm2-text", 30), Scheduler("sm2", None)])),
        st.tuples(st.just("restart")),
    ),
    max_size=40,
)


@settings(max_examples=40, deadline=None)
@given(actions)
def test_the_cache_is_a_fold_over_the_log(new_learner, history: list[tuple]) -> None:
    learner = new_learner()
    expected: list[dict] = []  # the states before each thing that can be undone
    with TemporaryDirectory() as folder:
        location = Location(file=Path(folder) / "fatutor.db")
        store = open_store(location, backups=None, now=learner.now)
        for action, *what in history:
            states = dict(store.facts().states)
            if action in ("grade", "set"):
                card, how = what
                before = store.facts().state(card)
                entry = (
                    learner.grades(card, before, how)
                    if action == "grade"
                    else learner.does(card, how, before)
                )
                store.append(entry)
                expected.append(states)
            elif action == "undo":
                undone = learner.undoes(store)
                assert (undone is None) == (not expected)
                if expected:
                    assert store.facts().states == expected.pop()
            elif action == "sleep":
                learner.today += timedelta(days=what[0])
            elif action == "scheduler":
                learner.scheduler = what[0]
            else:
                store.close()
                store = open_store(location, backups=None, now=learner.now)
        with store:
            facts = store.facts()
            assert facts.states == fold(store.entries())
            assert doctor.differences(store) == []
            assert read_facts(location) == facts
            queue = today_queue(CARDS, facts, learner.today)
            assert min(queue.counts.relearning, queue.counts.due, queue.counts.new, queue.held.total) >= 0
            assert queue.counts.total <= len(CARDS)
        assert read_facts(location) == facts
