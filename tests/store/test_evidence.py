from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from fatutor.schedule.state import CardState
from fatutor.store.failures import ConflictError, StoreError
from fatutor.store.records import Commitment, DemoRun
from fatutor.store.store import Store


@pytest.fixture
def given(learner) -> Commitment:
    return Commitment(
        learner.new_id(), "fa-01-gate", "it is\nmemory [bound]", learner.now, 60, learner.today, "d"
    )


@pytest.fixture
def run(learner) -> DemoRun:
    return DemoRun(
        id=learner.new_id(),
        demo="bytes-moved",
        at=learner.now,
        params={"n": 512, "dtype": "fp16", "causal": True, "scale": None},
        prediction="4 MB",
        predicted=4e6,
        formula=4_784_128.0,
        measured=4_784_128.0,
        unit="B",
        verdict="under",
        why="K and V are read again",
        device="cpu",
        device_name="interpreter",
        versions={"triton": "3.7.1"},
        seconds=3.8,
        card="a",
    )


class TestCommitments:
    def test_one_is_kept_as_given_and_opens_the_gate(self, store: Store, given: Commitment) -> None:
        assert store.commitment("fa-01-gate") is None
        store.commit(given)
        assert store.commitment("fa-01-gate") == given
        assert store.facts().committed == {"fa-01-gate"}

    def test_a_second_is_refused(self, store: Store, given: Commitment, learner) -> None:
        store.commit(given)
        with pytest.raises(
            ConflictError, match="gate fa-01-gate has its answer already; it stays as it was given"
        ):
            store.commit(replace(given, id=learner.new_id(), text="better"))
        assert store.commitments() == [given]

    def test_they_come_oldest_first(self, store: Store, given: Commitment, learner) -> None:
        later = replace(given, id="0", gate="fa-02-gate", at=given.at + timedelta(days=1))
        store.commit(later)
        store.commit(given)
        assert store.commitments() == [given, later]

    def test_undo_leaves_them_alone(self, store: Store, given: Commitment, learner) -> None:
        store.commit(given)
        assert learner.undoes(store) is None
        assert store.commitments() == [given]


class TestRuns:
    def test_one_comes_back_as_it_was(self, store: Store, run: DemoRun) -> None:
        store.add_run(run)
        assert store.runs() == [run]

    def test_one_without_numbers_too(self, store: Store, run: DemoRun) -> None:
        bare = DemoRun(id="1", demo="d", at=run.at)
        store.add_run(bare)
        assert store.runs() == [bare]

    def test_by_demo_and_by_card(self, store: Store, run: DemoRun) -> None:
        other = replace(run, id="2", demo="onepass", card="b", at=run.at + timedelta(minutes=1))
        third = replace(run, id="3", card="b", at=run.at + timedelta(minutes=2))
        for one in (third, other, run):
            store.add_run(one)
        assert store.runs(demo="bytes-moved") == [run, third]
        assert store.runs(card="b") == [other, third]
        assert store.runs(demo="bytes-moved", card="b") == [third]

    def test_evidence_for_a_review_and_for_a_commitment(
        self, store: Store, run: DemoRun, given: Commitment, learner
    ) -> None:
        entry = learner.grades("a", CardState(), 4)
        store.add_run(run)
        store.append(entry)
        store.commit(given)
        store.link_run(run.id, entry=entry.id)
        assert store.runs() == [replace(run, entry=entry.id)]
        store.link_run(run.id, commitment=given.id)
        assert store.runs() == [replace(run, entry=entry.id, commitment=given.id)]

    def test_an_answer_and_a_commitment_bring_their_runs_along(
        self, store: Store, run: DemoRun, given: Commitment, learner
    ) -> None:
        other = replace(run, id="2")
        store.add_run(run)
        store.add_run(other)
        entry = learner.grades("a", CardState(), 4)
        store.append(entry, [run.id])
        store.commit(given, [other.id])
        assert store.runs() == [replace(run, entry=entry.id), replace(other, commitment=given.id)]

    def test_an_answer_whose_evidence_is_missing_is_not_kept_by_halves(self, store: Store, learner) -> None:
        with pytest.raises(StoreError, match="no demo run nothing is stored"):
            store.append(learner.grades("a", CardState(), 4), ["nothing"])
        assert list(store.entries()) == [] and store.facts().states == {}

    def test_a_link_moves_to_the_answer_given_after_an_undo(
        self, store: Store, run: DemoRun, learner
    ) -> None:
        store.add_run(run)
        for quality in (2, 4):
            entry = learner.grades("a", CardState(), quality)
            store.append(entry)
            store.link_run(run.id, entry=entry.id)
            (linked,) = store.runs()
            assert linked.entry == entry.id
            learner.undoes(store)

    def test_links_lead_somewhere(self, store: Store, run: DemoRun) -> None:
        store.add_run(run)
        with pytest.raises(StoreError, match="FOREIGN KEY"):
            store.link_run(run.id, entry="nowhere")
        with pytest.raises(StoreError, match="no demo run nothing is stored"):
            store.link_run("nothing", entry="nowhere")
        assert store.runs() == [run]

    def test_the_time_of_a_run_cannot_be_negative(self, store: Store, run: DemoRun) -> None:
        with pytest.raises(StoreError, match="demo_run_seconds"):
            store.add_run(replace(run, seconds=-1.0))
