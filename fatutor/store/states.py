"""The cache of card states, inside a transaction. A card never seen has no row."""

from __future__ import annotations

from sqlalchemy import delete, select
from sqlmodel import Session, col

from fatutor.schedule.state import CardState
from fatutor.store.rows import STATE_COLUMNS, columns_of, state_of
from fatutor.store.tables import CardStateRow

_COLUMNS = tuple(col(getattr(CardStateRow, name)) for name in STATE_COLUMNS)


def all_states(session: Session) -> dict[str, CardState]:
    # Plain tuples: the ORM's objects would take five times as long.
    rows = session.connection().execute(select(col(CardStateRow.card), *_COLUMNS))
    return {card: state_of(*values) for card, *values in rows}


def state_in(session: Session, card: str) -> CardState:
    row = session.get(CardStateRow, card)
    return CardState() if row is None else state_of(*(getattr(row, name) for name in STATE_COLUMNS))


def add_state(session: Session, card: str, state: CardState) -> None:
    """For a card without a row."""
    if state != CardState():
        session.add(CardStateRow(card=card, **columns_of(state)))


def clear_states(session: Session) -> None:
    session.connection().execute(delete(CardStateRow))


def put_state(session: Session, card: str, state: CardState) -> None:
    row = session.get(CardStateRow, card)
    if row is None:
        add_state(session, card, state)
    elif state == CardState():
        session.delete(row)
    else:
        row.sqlmodel_update(columns_of(state))
