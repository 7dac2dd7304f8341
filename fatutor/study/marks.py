"""Marks come off outside a sitting too: a card put away comes back into the drill, a flag is cleared."""

from __future__ import annotations

from collections.abc import Callable

from fatutor.deck.model import Card
from fatutor.errors import FatutorError
from fatutor.schedule import rules
from fatutor.schedule.log import Entry, EntryKind
from fatutor.study.ports import Ledger, Time

RULES = {EntryKind.RESUME: rules.resume, EntryKind.UNFLAG: rules.unflag}


def unmark(card: Card, kind: EntryKind, ledger: Ledger, *, time: Time, new_id: Callable[[], str]) -> Entry:
    """Store that a mark came off; `kind` is RESUME or UNFLAG. Raises FatutorError where there is none."""
    facts = ledger.facts()
    before = facts.state(card.id)
    after = RULES[kind](before)
    if after == before:
        raise FatutorError(f"{card.title} has no such mark any more")
    now = time.now()
    entry = Entry(
        id=new_id(),
        card=card.id,
        kind=kind,
        at=now,
        offset=time.offset(now),
        study_day=time.study_day(facts.last_study_day)[0],
        before=before,
        after=after,
    )
    ledger.append(entry)
    return entry
