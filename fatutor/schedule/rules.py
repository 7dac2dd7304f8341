"""What each action does to a card's state. Pure: a state, a day and a grade in, the next state out.

`answer` is the only way from a grade to a state: it makes what is stored, what the keys announce, and what
a replay of the log gives.
"""

from __future__ import annotations

from datetime import date, timedelta

from fatutor.schedule.grades import SETTLED
from fatutor.schedule.log import EntryKind
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState


def kind_of(state: CardState, today: date) -> EntryKind:
    """What a grade given `today` would be: a review, the day's relearning, or practice ahead of time."""
    if state.relearn_on == today:
        return EntryKind.RELEARN
    if state.due is None or state.due <= today:
        return EntryKind.REVIEW
    return EntryKind.CRAM


def answer(
    state: CardState, kind: EntryKind, quality: int, today: date, scheduler: Scheduler, digest: str
) -> CardState:
    """The state after a grade of `kind`. `digest` is that of the card's text as it was shown."""
    match kind:
        case EntryKind.REVIEW:
            return grade(state, quality, today, scheduler, digest)
        case EntryKind.RELEARN:
            return relearn(state, quality)
        case EntryKind.CRAM:
            return state
    raise ValueError(f"{kind} carries no grade")


def grade(state: CardState, quality: int, today: date, scheduler: Scheduler, digest: str) -> CardState:
    """A review: the memory moves, and a quality under 4 brings the card back on the same day."""
    memory = scheduler.review(state.memory, quality)
    return CardState(
        memory=memory,
        due=today + timedelta(days=memory.interval),
        introduced=state.introduced or today,
        last_review=today,
        relearn_on=None if quality >= SETTLED else today,
        suspended=state.suspended,
        buried_until=state.buried_until,
        flagged=state.flagged,
        digest=digest,
    )


def relearn(state: CardState, quality: int) -> CardState:
    """The same day again: ends with the first quality of 4 or more and moves nothing else."""
    return state._replace(relearn_on=None) if quality >= SETTLED else state


def suspend(state: CardState) -> CardState:
    """Out of the drill until resumed."""
    return state._replace(suspended=True)


def resume(state: CardState) -> CardState:
    return state._replace(suspended=False)


def bury(state: CardState, today: date) -> CardState:
    """Out of the drill for the rest of `today`."""
    return state._replace(buried_until=today + timedelta(days=1))


def flag(state: CardState) -> CardState:
    """Marked by the learner to look at later; the schedule takes no notice."""
    return state._replace(flagged=True)


def unflag(state: CardState) -> CardState:
    return state._replace(flagged=False)


def in_drill(state: CardState, today: date) -> bool:
    """Neither suspended nor buried on `today`."""
    return not state.suspended and (state.buried_until is None or state.buried_until <= today)
