"""The review log, inside a transaction: rows come on at the end, and none is ever changed or removed."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date
from itertools import groupby

from sqlalchemy import ColumnElement, exists, func, select
from sqlmodel import Session, SQLModel

from fatutor.schedule.log import Entry, EntryKind
from fatutor.store.rows import entry_columns, entry_of
from fatutor.store.tables import ReviewRow

_CHUNK = 2000  # rows fetched at a time

# Columns and not objects: a log is read whole, and the ORM would take several times as long.
_LOG = SQLModel.metadata.tables[str(ReviewRow.__tablename__)]
_UNDO = _LOG.alias("undo")


def add_entry(session: Session, entry: Entry) -> None:
    last = session.connection().execute(select(func.max(_LOG.c.seq))).scalar()
    session.add(ReviewRow(seq=(last or 0) + 1, **entry_columns(entry)))


def live() -> tuple[ColumnElement[bool], ...]:
    """What counts: entries that are neither an undo nor undone."""
    return _LOG.c.kind != EntryKind.UNDO.value, ~exists().where(_UNDO.c.undoes == _LOG.c.id)


def of_card(card: str) -> ColumnElement[bool]:
    return _LOG.c.card == card


def since(day: date) -> ColumnElement[bool]:
    return _LOG.c.study_day >= day


def last_study_day(session: Session) -> date | None:
    """Of what counts: an answer under a wrong date can be undone, and the day is right again."""
    query = select(_LOG.c.study_day).where(*live()).order_by(_LOG.c.study_day.desc()).limit(1)
    return session.connection().execute(query).scalar()


def newest(session: Session, limit: int, *conditions: ColumnElement[bool]) -> list[Entry]:
    """The last `limit` entries that meet the conditions, oldest first."""
    query = select(_LOG).where(*conditions).order_by(_LOG.c.seq.desc()).limit(limit)
    return [entry_of(row) for row in session.connection().execute(query)][::-1]


def page(session: Session, after: int, *conditions: ColumnElement[bool]) -> tuple[list[Entry], int | None]:
    """The next entries in order after place `after`, and the place to go on from; None at the end."""
    query = select(_LOG).where(_LOG.c.seq > after, *conditions).order_by(_LOG.c.seq).limit(_CHUNK)
    rows = session.connection().execute(query).all()
    return [entry_of(row) for row in rows], rows[-1].seq if len(rows) == _CHUNK else None


def by_card(session: Session) -> Iterator[tuple[str, list[Entry]]]:
    """Each card's part of the log, one card at a time, so that a long log needs little memory."""
    query = select(_LOG).order_by(_LOG.c.card, _LOG.c.seq).execution_options(yield_per=_CHUNK)
    for card, rows in groupby(session.connection().execute(query), key=lambda row: row.card):
        yield card, [entry_of(row) for row in rows]
