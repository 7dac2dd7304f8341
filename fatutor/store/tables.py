"""The tables as SQLModel sees them. Table models do not validate, so what must hold is a CHECK as well."""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar

from sqlmodel import JSON, CheckConstraint, Field, Index, SQLModel


class ReviewRow(SQLModel, table=True):
    """The log, append-only. `seq` is the order of arrival, which a clock that was set back cannot disturb."""

    __tablename__: ClassVar[Any] = "review"
    __table_args__ = (
        CheckConstraint(
            "kind IN ('review', 'relearn', 'cram', 'suspend', 'resume', 'bury', 'flag', 'unflag', 'undo')",
            name="review_kind",
        ),
        CheckConstraint(
            "(kind IN ('review', 'relearn', 'cram')) = (quality IS NOT NULL AND scheduler IS NOT NULL)",
            name="review_graded",
        ),
        CheckConstraint("quality BETWEEN 0 AND 5", name="review_quality"),
        CheckConstraint("key BETWEEN 0 AND 5", name="review_key"),
        CheckConstraint("(kind = 'undo') = (undoes IS NOT NULL)", name="review_undo"),
        CheckConstraint("speaking_ms >= 0 AND total_ms >= 0", name="review_times"),
        Index("review_by_card", "card", "seq"),
        Index("review_by_day", "study_day"),
    )

    seq: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    id: str = Field(unique=True)
    card: str
    kind: str
    at: datetime
    offset: int
    study_day: date
    key: int | None
    quality: int | None
    scheduler: str | None
    before: dict[str, Any] = Field(sa_type=JSON)
    after: dict[str, Any] = Field(sa_type=JSON)
    speaking_ms: int | None
    total_ms: int | None
    ticked: list[int] = Field(sa_type=JSON)
    answer: str | None
    digest: str
    undoes: str | None = Field(foreign_key="review.id", unique=True)


class CardStateRow(SQLModel, table=True):
    """A cache of the log: one row for each card that has a state."""

    __tablename__: ClassVar[Any] = "card_state"
    __table_args__ = (
        CheckConstraint("repetition >= 0 AND lapses >= 0", name="card_state_counts"),
        CheckConstraint("interval >= 0", name="card_state_interval"),
        CheckConstraint("ease >= 130", name="card_state_ease"),
    )

    card: str = Field(primary_key=True)
    repetition: int
    interval: int
    ease: int
    lapses: int
    due: date | None
    introduced: date | None
    last_review: date | None
    relearn_on: date | None
    suspended: bool
    buried_until: date | None
    flagged: bool
    digest: str


class CommitmentRow(SQLModel, table=True):
    """Answers at the gates. One for each gate, never changed."""

    __tablename__: ClassVar[Any] = "commitment"

    id: str = Field(primary_key=True)
    gate: str = Field(unique=True)
    text: str
    at: datetime
    offset: int
    study_day: date
    digest: str


class DemoRunRow(SQLModel, table=True):
    """Runs of demos: the evidence."""

    __tablename__: ClassVar[Any] = "demo_run"
    __table_args__ = (
        CheckConstraint("seconds >= 0", name="demo_run_seconds"),
        Index("demo_run_by_demo", "demo"),
        Index("demo_run_by_card", "card"),
    )

    id: str = Field(primary_key=True)
    demo: str
    at: datetime
    params: dict[str, Any] = Field(sa_type=JSON)
    prediction: str
    predicted: float | None
    formula: float | None
    measured: float | None
    unit: str
    verdict: str
    why: str
    device: str
    device_name: str
    versions: dict[str, str] = Field(sa_type=JSON)
    seconds: float
    card: str | None
    entry: str | None = Field(foreign_key="review.id")
    commitment: str | None = Field(foreign_key="commitment.id")
    answer: str = Field(sa_column_kwargs={"server_default": ""})


class SchemaVersionRow(SQLModel, table=True):
    """One row for each migration that this database has had."""

    __tablename__: ClassVar[Any] = "schema_version"

    version: int = Field(primary_key=True, sa_column_kwargs={"autoincrement": False})
    applied_at: datetime
