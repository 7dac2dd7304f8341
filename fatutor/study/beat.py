"""A beat with its gate: committing an answer, right or wrong, unlocks the next beat."""

from __future__ import annotations

from collections.abc import Callable

from fatutor.deck.library import Library
from fatutor.deck.model import Card, Deck
from fatutor.errors import FatutorError
from fatutor.store.records import Commitment, DemoRun
from fatutor.study.committed import judge
from fatutor.study.ports import Ledger, Time


class Lesson:
    """One sitting with one beat."""

    def __init__(
        self,
        library: Library,
        deck: Deck,
        ledger: Ledger,
        *,
        time: Time,
        new_id: Callable[[], str],
    ) -> None:
        if deck.beat is None:
            raise FatutorError(f"{deck.title} is a deck without a beat", "drill it instead")
        self.deck = deck
        self.beat = deck.beat
        self.gate: Card | None = library.cards.get(deck.beat.gate)
        self._ledger = ledger
        self._time = time
        self._new_id = new_id
        self.commitment = ledger.commitment(deck.beat.gate)
        self._runs: list[str] = []  # demo runs of before the commitment, evidence for it once it is made

    @property
    def changed(self) -> bool:
        """The gate's text is not what it was when its answer was committed."""
        return (
            self.commitment is not None
            and self.gate is not None
            and bool(self.commitment.digest)
            and self.commitment.digest != self.gate.digest
        )

    def commit(self, typed: str) -> Commitment:
        """Store the answer at the gate, for good. Raises FatutorError where it commits nothing."""
        if self.commitment is not None:
            raise FatutorError(
                "this gate has its answer", "it stays as committed; drill the card to answer again"
            )
        if self.gate is None:
            raise FatutorError("this beat's gate card is broken", f"run: fatutor check {self.deck.path}")
        text = judge(self.gate, typed).text
        if not text:
            raise FatutorError("an empty answer commits nothing", "one line is enough, right or wrong")
        now = self._time.now()
        day, _ = self._time.study_day(self._ledger.facts().last_study_day)
        commitment = Commitment(
            id=self._new_id(),
            gate=self.gate.id,
            text=text,
            at=now,
            offset=self._time.offset(now),
            study_day=day,
            digest=self.gate.digest,
        )
        self._ledger.commit(commitment, self._runs)
        self.commitment = commitment
        return commitment

    def evidence(self, run: DemoRun) -> None:
        """Keep a stored run as evidence for the commitment, the one that is made or the one to come."""
        if self.commitment is None:
            self._runs.append(run.id)
        else:
            self._ledger.link_run(run.id, commitment=self.commitment.id)
