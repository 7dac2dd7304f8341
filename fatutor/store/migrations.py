"""The schema's history: numbered steps, never edited once released, each one run in one transaction."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sqlalchemy import Connection

_FIRST_TABLES = (
    """
    CREATE TABLE schema_version (
        version INTEGER NOT NULL PRIMARY KEY,
        applied_at {instant} NOT NULL
    )
    """,
    """
    CREATE TABLE review (
        seq INTEGER NOT NULL PRIMARY KEY,
        id VARCHAR NOT NULL,
        card VARCHAR NOT NULL,
        kind VARCHAR NOT NULL,
        at {instant} NOT NULL,
        "offset" INTEGER NOT NULL,
        study_day DATE NOT NULL,
        key INTEGER,
        quality INTEGER,
        scheduler VARCHAR,
        before JSON NOT NULL,
        after JSON NOT NULL,
        speaking_ms INTEGER,
        total_ms INTEGER,
        ticked JSON NOT NULL,
        answer VARCHAR,
        digest VARCHAR NOT NULL,
        undoes VARCHAR,
        UNIQUE (id),
        UNIQUE (undoes),
        FOREIGN KEY (undoes) REFERENCES review (id),
        CONSTRAINT review_kind CHECK (
            kind IN ('review', 'relearn', 'cram', 'suspend', 'resume', 'bury', 'flag', 'unflag', 'undo')
        ),
        CONSTRAINT review_graded CHECK (
            (kind IN ('review', 'relearn', 'cram')) = (quality IS NOT NULL AND scheduler IS NOT NULL)
        ),
        CONSTRAINT review_quality CHECK (quality BETWEEN 0 AND 5),
        CONSTRAINT review_key CHECK (key BETWEEN 0 AND 5),
        CONSTRAINT review_undo CHECK ((kind = 'undo') = (undoes IS NOT NULL)),
        CONSTRAINT review_times CHECK (speaking_ms >= 0 AND total_ms >= 0)
    )
    """,
    "CREATE INDEX review_by_card ON review (card, seq)",
    "CREATE INDEX review_by_day ON review (study_day)",
    """
    CREATE TABLE card_state (
        card VARCHAR NOT NULL PRIMARY KEY,
        repetition INTEGER NOT NULL,
        interval INTEGER NOT NULL,
        ease INTEGER NOT NULL,
        lapses INTEGER NOT NULL,
        due DATE,
        introduced DATE,
        last_review DATE,
        relearn_on DATE,
        suspended BOOLEAN NOT NULL,
        buried_until DATE,
        flagged BOOLEAN NOT NULL,
        digest VARCHAR NOT NULL,
        CONSTRAINT card_state_counts CHECK (repetition >= 0 AND lapses >= 0),
        CONSTRAINT card_state_interval CHECK (interval >= 0),
        CONSTRAINT card_state_ease CHECK (ease >= 130)
    )
    """,
    """
    CREATE TABLE commitment (
        id VARCHAR NOT NULL PRIMARY KEY,
        gate VARCHAR NOT NULL,
        text VARCHAR NOT NULL,
        at {instant} NOT NULL,
        "offset" INTEGER NOT NULL,
        study_day DATE NOT NULL,
        digest VARCHAR NOT NULL,
        UNIQUE (gate)
    )
    """,
    """
    CREATE TABLE demo_run (
        id VARCHAR NOT NULL PRIMARY KEY,
        demo VARCHAR NOT NULL,
        at {instant} NOT NULL,
        params JSON NOT NULL,
        prediction VARCHAR NOT NULL,
        predicted FLOAT,
        formula FLOAT,
        measured FLOAT,
        unit VARCHAR NOT NULL,
        verdict VARCHAR NOT NULL,
        why VARCHAR NOT NULL,
        device VARCHAR NOT NULL,
        device_name VARCHAR NOT NULL,
        versions JSON NOT NULL,
        seconds FLOAT NOT NULL,
        card VARCHAR,
        entry VARCHAR,
        commitment VARCHAR,
        FOREIGN KEY (entry) REFERENCES review (id),
        FOREIGN KEY (commitment) REFERENCES commitment (id),
        CONSTRAINT demo_run_seconds CHECK (seconds >= 0)
    )
    """,
    "CREATE INDEX demo_run_by_demo ON demo_run (demo)",
    "CREATE INDEX demo_run_by_card ON demo_run (card)",
)


def create_tables(connection: Connection) -> None:
    """1: the log, its cache, commitments and demo runs."""
    instant = "DATETIME" if connection.dialect.name == "sqlite" else "TIMESTAMP WITH TIME ZONE"
    for statement in _FIRST_TABLES:
        connection.exec_driver_sql(statement.format(instant=instant))


def add_answer(connection: Connection) -> None:
    """2: which choice was the right one, so that a run says how far off its prediction was."""
    connection.exec_driver_sql("ALTER TABLE demo_run ADD COLUMN answer VARCHAR DEFAULT '' NOT NULL")


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (create_tables, add_answer)
LATEST = len(MIGRATIONS)
