"""Commitments and demo runs, inside a transaction."""

from __future__ import annotations

from dataclasses import fields
from datetime import date
from typing import Any, TypeVar

from sqlmodel import Session, SQLModel, col, select

from fatutor.store.failures import ConflictError, StoreError
from fatutor.store.records import Commitment, DemoRun
from fatutor.store.tables import CommitmentRow, DemoRunRow

Record = TypeVar("Record", Commitment, DemoRun)


def gates(session: Session) -> dict[str, date]:
    """Committed gates and the study day of each."""
    return {row.gate: row.study_day for row in session.exec(select(CommitmentRow))}


def add_commitment(session: Session, commitment: Commitment) -> None:
    if _row_of(session, commitment.gate) is not None:
        raise ConflictError(f"gate {commitment.gate} has its answer already", "it stays as it was given")
    session.add(CommitmentRow(**_columns(commitment)))


def commitment(session: Session, gate: str) -> Commitment | None:
    row = _row_of(session, gate)
    return None if row is None else _record(Commitment, row)


def commitments(session: Session) -> list[Commitment]:
    rows = session.exec(select(CommitmentRow).order_by(col(CommitmentRow.at), col(CommitmentRow.id)))
    return [_record(Commitment, row) for row in rows]


def add_run(session: Session, run: DemoRun) -> None:
    plain = {"params": dict(run.params), "versions": dict(run.versions)}
    session.add(DemoRunRow(**_columns(run) | plain))


def link_run(session: Session, run_id: str, entry: str | None, commitment: str | None) -> None:
    row = session.get(DemoRunRow, run_id)
    if row is None:
        raise StoreError(f"no demo run {run_id} is stored", "run the demo again")
    row.entry, row.commitment = entry or row.entry, commitment or row.commitment


def runs(session: Session, demo: str | None, card: str | None) -> list[DemoRun]:
    query = select(DemoRunRow).order_by(col(DemoRunRow.at), col(DemoRunRow.id))
    if demo is not None:
        query = query.where(DemoRunRow.demo == demo)
    if card is not None:
        query = query.where(DemoRunRow.card == card)
    return [_record(DemoRun, row) for row in session.exec(query)]


def _row_of(session: Session, gate: str) -> CommitmentRow | None:
    return session.exec(select(CommitmentRow).where(CommitmentRow.gate == gate)).first()


def _columns(record: Commitment | DemoRun) -> dict[str, Any]:
    """A record's fields, which are named as the columns are."""
    return {field.name: getattr(record, field.name) for field in fields(record)}


def _record(kind: type[Record], row: SQLModel) -> Record:
    return kind(**{field.name: getattr(row, field.name) for field in fields(kind)})
