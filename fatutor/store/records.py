"""What is kept beside the review log. Plain values, so that nobody above needs the database to name them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime


@dataclass(frozen=True, slots=True)
class Commitment:
    """The answer that a learner gave at a beat's gate. Never edited; its existence unlocks the next beat.

    `gate` is the id of the prove-it card, `digest` that of its text at the time.
    """

    id: str
    gate: str
    text: str
    at: datetime
    offset: int
    study_day: date
    digest: str = ""


@dataclass(frozen=True, slots=True)
class DemoRun:
    """One run of a demo, kept as evidence.

    `prediction` is what was typed or chosen, `predicted` the number it stands for in `unit` where it is
    one. `formula` and `measured` are in `unit`; `answer` is the right choice where there were some.
    `seconds` is the wall time of the run.
    `entry` or `commitment` name what the run is evidence for.
    """

    id: str
    demo: str
    at: datetime
    params: Mapping[str, object] = field(default_factory=dict)
    prediction: str = ""
    predicted: float | None = None
    formula: float | None = None
    measured: float | None = None
    unit: str = ""
    verdict: str = ""
    why: str = ""
    device: str = ""
    device_name: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    seconds: float = 0.0
    card: str | None = None
    entry: str | None = None
    commitment: str | None = None
    answer: str = ""
