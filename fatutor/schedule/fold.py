"""From the log to card states, by the rules. The states stored beside an entry are never trusted here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fatutor.errors import FatutorError
from fatutor.schedule import rules
from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.scheduler import scheduler_of
from fatutor.schedule.state import CardState


def fold(log: Iterable[Entry]) -> dict[str, CardState]:
    """Card to state after the whole `log`, in its order. Cards whose every entry was undone are left out."""
    by_card: dict[str, list[Entry]] = {}
    for entry in log:
        by_card.setdefault(entry.card, []).append(entry)
    states = ((card, replay(entries)) for card, entries in by_card.items())
    return {card: state for card, state in states if state != CardState()}


def replay(log: Sequence[Entry]) -> CardState:
    """The state of one card after its `log`, which holds its undo entries too."""
    state = CardState()
    for entry in live(log):
        state = apply(entry, state)
    return state


def live(log: Sequence[Entry]) -> list[Entry]:
    """What counts: the log without undo entries and without the entries that they take back."""
    undone = {entry.undoes for entry in log if entry.kind is EntryKind.UNDO}
    return [entry for entry in log if entry.kind is not EntryKind.UNDO and entry.id not in undone]


def apply(entry: Entry, state: CardState) -> CardState:
    """The state after `entry`. Raises FatutorError where the entry lacks what its kind needs."""
    match entry.kind:
        case EntryKind.REVIEW | EntryKind.RELEARN | EntryKind.CRAM as kind:
            if entry.quality is None or entry.scheduler is None:
                raise FatutorError(
                    f"log entry {entry.id} of card {entry.card} has no quality or no scheduler",
                    "restore a copy from the backups folder",
                )
            scheduler = scheduler_of(entry.scheduler)
            return rules.answer(state, kind, entry.quality, entry.study_day, scheduler, entry.digest)
        case EntryKind.SUSPEND:
            return rules.suspend(state)
        case EntryKind.RESUME:
            return rules.resume(state)
        case EntryKind.BURY:
            return rules.bury(state, entry.study_day)
        case EntryKind.FLAG:
            return rules.flag(state)
        case EntryKind.UNFLAG:
            return rules.unflag(state)
        case EntryKind.UNDO:
            raise ValueError("an undo is not applied: what it takes back is left out")
