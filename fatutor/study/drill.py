"""One sitting of cards, with no screen: prompt, commit, reveal, tick, grade; and undo of any depth.

Each grade is on disk before the next card shows. The sitting holds no truth of its own: what is stored
decides the queue, so a sitting that dies is resumed by starting another.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from enum import Enum

from fatutor.deck.library import Library
from fatutor.deck.model import Card
from fatutor.errors import FatutorError
from fatutor.schedule import rules
from fatutor.schedule.facts import Facts
from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState
from fatutor.store.failures import ConflictError
from fatutor.study.committed import Committed, judge
from fatutor.study.ports import Ledger, Time
from fatutor.study.proposal import Proposal, propose


class Phase(Enum):
    PROMPT = "prompt"
    REVEALED = "revealed"
    DONE = "done"


@dataclass(slots=True)
class Turn:
    """One card on the table."""

    card: Card
    state: CardState
    day: date  # pinned when the card is shown: midnight during an answer changes nothing
    kind: EntryKind
    shown_at: float
    answered_at: float | None = None
    committed: Committed | None = None
    ticked: set[int] = field(default_factory=set)
    runs: list[str] = field(default_factory=list)  # demo runs that are evidence for this answer

    @property
    def changed(self) -> bool:
        """The card's text is not what it was at the last review."""
        return bool(self.state.digest) and self.state.digest != self.card.digest


@dataclass(frozen=True, slots=True)
class Graded:
    """What a sitting remembers of an answer, for the summary."""

    card: Card
    entry: Entry


class Drill:
    """A sitting over the cards of `queue`, in order; cards graded under 4 come back at the end."""

    def __init__(
        self,
        library: Library,
        ledger: Ledger,
        queue: Sequence[str],
        *,
        facts: Facts,
        time: Time,
        scheduler: Scheduler,
        new_id: Callable[[], str],
    ) -> None:
        self._library = library
        self._ledger = ledger
        self._time = time
        self._scheduler = scheduler
        self._new_id = new_id
        self._take_up(facts)
        self._queue = deque(queue)
        self.graded: list[Graded] = []
        self.turn: Turn | None = None
        self._show_next()

    # -- where we are -------------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        if self.turn is None:
            return Phase.DONE
        return Phase.REVEALED if self.turn.answered_at is not None else Phase.PROMPT

    @property
    def position(self) -> tuple[int, int]:
        """Which card this is, counted from 1, and how many the sitting has as things stand."""
        done = len(self.graded)
        on_table = self.turn is not None
        return done + on_table, done + on_table + len(self._queue)

    @property
    def left(self) -> int:
        """How many cards are still to come, the one on the table included."""
        return len(self._queue) + (self.turn is not None)

    def seconds(self) -> float:
        """How long the learner has been answering; stands still once revealed."""
        if self.turn is None:
            return 0.0
        end = self.turn.answered_at if self.turn.answered_at is not None else self._time.monotonic()
        return max(0.0, end - self.turn.shown_at)

    # -- the turn -----------------------------------------------------------------------------------

    def answer(self, typed: str = "") -> Committed:
        """Commit an answer and reveal. Raises FatutorError, and moves nothing, where it commits nothing."""
        turn = self._on_table(Phase.PROMPT)
        turn.committed = judge(turn.card, typed)
        turn.answered_at = self._time.monotonic()
        return turn.committed

    def tick(self, point: int) -> None:
        """Mark key point `point` (from 0) as said, or take the mark back."""
        turn = self._on_table(Phase.REVEALED)
        if 0 <= point < len(turn.card.key_points):
            turn.ticked ^= {point}

    def proposal(self) -> Proposal | None:
        turn = self._on_table(Phase.REVEALED)
        verdict = turn.committed.right if turn.committed else None
        return propose(turn.card, frozenset(turn.ticked), verdict, self.seconds())

    def preview(self, quality: int) -> CardState:
        """The state that a grade of `quality` would store; the very function that stores it."""
        turn = self._on_table(Phase.REVEALED)
        return rules.answer(turn.state, turn.kind, quality, turn.day, self._scheduler, turn.card.digest)

    def grade(self, quality: int, key: int) -> Graded:
        """Store the grade and go on. Raises FatutorError where it could not be stored; the card stays."""
        turn = self._on_table(Phase.REVEALED)
        entry = replace(
            self._entry(turn, turn.kind, self.preview(quality)),
            key=key,
            quality=quality,
            scheduler=self._scheduler.tag,
            speaking_ms=round(self.seconds() * 1000),
            total_ms=round(max(0.0, self._time.monotonic() - turn.shown_at) * 1000),
            ticked=tuple(sorted(turn.ticked)),
            answer=turn.committed.text if turn.committed and turn.committed.text else None,
            digest=turn.card.digest,
        )
        self._append(entry, turn.runs)
        graded = Graded(turn.card, entry)
        self.graded.append(graded)
        if entry.after.relearn_on == turn.day:
            self._queue.append(turn.card.id)
        self._show_next()
        return graded

    def suspend(self) -> Card:
        """Take the card out of every queue until it is resumed (undo brings it back at once)."""
        return self._set_aside(EntryKind.SUSPEND, rules.suspend)

    def bury(self) -> Card:
        """Put the card off until tomorrow."""
        return self._set_aside(EntryKind.BURY, lambda state: rules.bury(state, self._on_table().day))

    def flag(self) -> bool:
        """Set or clear the card's flag; the card stays. Returns whether it is flagged now."""
        turn = self._on_table()
        raised = not turn.state.flagged
        after = rules.flag(turn.state) if raised else rules.unflag(turn.state)
        self._append(self._entry(turn, EntryKind.FLAG if raised else EntryKind.UNFLAG, after))
        turn.state = after
        return raised

    def undo(self) -> Entry | None:
        """Take back the last thing stored, in this sitting or an earlier one, and put its card on the table.

        Returns what was taken back, or None where nothing is left. The table stays as it is for a flag,
        which took no card away, for a card whose deck is gone, and for one that is put away again.
        """
        now = self._time.now()
        undone = self._ledger.undo(self._new_id(), now, self._time.offset(now), self._today())
        if undone is None:
            return None
        self._take_up(self._ledger.facts())
        self.graded = [graded for graded in self.graded if graded.entry.id != undone.id]
        card = self._library.cards.get(undone.card)
        on_table = self.turn if self.turn is not None and self.turn.card.id == undone.card else None
        if undone.kind in (EntryKind.FLAG, EntryKind.UNFLAG):
            if on_table is not None:
                on_table.state = undone.before
        elif undone.kind is EntryKind.RESUME:
            if on_table is not None:
                self._show_next()
        elif card is not None:
            if self.turn is not None and self.turn.card.id != card.id:
                self._queue.appendleft(self.turn.card.id)
            while card.id in self._queue:
                self._queue.remove(card.id)
            self._show(card)
        return undone

    def reread(self, library: Library) -> None:
        """Take up edited decks. The card on the table shows its new text; what was answered stays."""
        self._library = library
        if self.turn is not None:
            fresh = library.cards.get(self.turn.card.id)
            if fresh is None:
                self._show_next()
            else:
                self.turn.card = fresh
                self.turn.ticked = {i for i in self.turn.ticked if i < len(fresh.key_points)}

    # -- inside -------------------------------------------------------------------------------------

    def _on_table(self, phase: Phase | None = None) -> Turn:
        if self.turn is None:
            raise FatutorError("no card is on the table", "start another drill")
        if phase is not None and self.phase is not phase:
            hint = "reveal first" if phase is Phase.REVEALED else "the answer is already committed"
            raise FatutorError(f"that works on the other side of the card; {hint}")
        return self.turn

    def _take_up(self, facts: Facts) -> None:
        self._states = dict(facts.states)
        self._last_study_day = facts.last_study_day

    def _today(self) -> date:
        return self._time.study_day(self._last_study_day)[0]

    def _show_next(self) -> None:
        while self._queue:
            card = self._library.cards.get(self._queue.popleft())
            if card is not None and self._is_asked(card):
                self._show(card)
                return
        self.turn = None

    def _is_asked(self, card: Card) -> bool:
        """Whether it still is: another fatutor may have answered it, or its day of relearning may be over."""
        state, day = self._states.get(card.id, CardState()), self._today()
        return rules.in_drill(state, day) and rules.kind_of(state, day) is not EntryKind.CRAM

    def _show(self, card: Card) -> None:
        state = self._states.get(card.id, CardState())
        day = self._today()
        self.turn = Turn(card, state, day, rules.kind_of(state, day), self._time.monotonic())

    def _set_aside(self, kind: EntryKind, rule: Callable[[CardState], CardState]) -> Card:
        turn = self._on_table()
        self._append(self._entry(turn, kind, rule(turn.state)))
        self._show_next()
        return turn.card

    def _append(self, entry: Entry, runs: Sequence[str] = ()) -> None:
        try:
            self._ledger.append(entry, runs)
        except ConflictError:
            # Another fatutor answered this card meanwhile: take up what it stored, and let the learner go on.
            self._take_up(self._ledger.facts())
            self._show_next()
            raise
        self._states[entry.card] = entry.after
        self._last_study_day = max(entry.study_day, self._last_study_day or entry.study_day)

    def _entry(self, turn: Turn, kind: EntryKind, after: CardState) -> Entry:
        now = self._time.now()
        return Entry(
            id=self._new_id(),
            card=turn.card.id,
            kind=kind,
            at=now,
            offset=self._time.offset(now),
            study_day=turn.day,
            before=turn.state,
            after=after,
        )
