"""What a run says, one JSON object a line: {"v": 1, "event": "row", …}.

Standard output carries these lines and nothing else; logs and stray prints go to standard error. A line is
pure ASCII, and a number that is not finite is sent as null, which is all that JSON allows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, ClassVar, Literal

VERSION = 1

Number = int | float | None


@dataclass(frozen=True, slots=True)
class Start:
    """Where and with what a demo runs. `device` is "interpreter", "cpu" or "cuda"; `at` is UTC, ISO 8601."""

    event: ClassVar[str] = "start"
    demo: str
    device: str
    device_name: str
    versions: Mapping[str, str]
    params: Mapping[str, int | str]
    plan: str
    at: str


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps are behind us; `note` names the one that begins."""

    event: ClassVar[str] = "progress"
    done: int
    total: int
    note: str


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. A number is None where there is none to give."""

    event: ClassVar[str] = "row"
    name: str
    formula: Number
    measured: Number
    unit: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One curve of a plot."""

    event: ClassVar[str] = "series"
    name: str
    x: Sequence[float]
    y: Sequence[float]
    x_unit: str
    y_unit: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of attention, as `measure.once` takes it, so that counters read elsewhere can be looked up."""

    name: str
    impl: str
    n: int
    d: int
    heads: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Result:
    """How the claim fared, in the one quantity that the question asked for.

    `derivation` is the formula with its numbers filled in, `limits` what this device cannot show, `spread`
    half the width of the measurement where it has one, `answer` the right choice where the question offered
    some. `calls` are the calls of attention whose traffic the claim is about. `seconds` is the wall time of
    the run, filled in by whoever ran the demo.
    """

    event: ClassVar[str] = "result"
    quantity: str
    formula: Number
    measured: Number
    unit: str
    verdict: Literal["confirmed", "refuted"]
    why: str
    derivation: str
    limits: str
    spread: Number = None
    answer: str | None = None
    calls: Sequence[Call] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Error:
    """The run ends without a verdict: what is wrong in one sentence without a stop, and what to do."""

    event: ClassVar[str] = "error"
    what: str
    way_out: str = ""

    def __str__(self) -> str:
        return f"{self.what}; {self.way_out}" if self.way_out else self.what


Event = Start | Progress | Row | Series | Result | Error


def encode(event: Event) -> str:
    """One line, without its end."""
    fields = {name: _finite(value) for name, value in asdict(event).items()}
    return json.dumps({"v": VERSION, "event": event.event, **fields}, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
