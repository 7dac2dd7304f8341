"""Events as lines."""

import json
import math

import pytest

from kernels import wire
from kernels.wire import Error, Event, Progress, Result, Row, Series, Start

EVENTS: list[tuple[Event, set[str]]] = [
    (
        Start(
            "x",
            "interpreter",
            "interpreter on x86_64",
            {"python": "3.12"},
            {"n": 4},
            "Does it.",
            "2026-01-01",
        ),
        {"demo", "device", "device_name", "versions", "params", "plan", "at"},
    ),
    (Progress(1, 4, "half"), {"done", "total", "note"}),
    (Row("tiled", 1, None, "B", "once"), {"name", "formula", "measured", "unit", "note"}),
    (Series("tiled", [1, 2], [3.0, 4.0], "N", "B"), {"name", "x", "y", "x_unit", "y_unit"}),
    (
        Result("tiled", 1, 2, "B", "refuted", "why", "1 + 1", "limits"),
        {"quantity", "formula", "measured", "unit", "verdict", "why", "derivation", "limits", "spread"}
        | {"answer", "calls", "seconds"},
    ),
    (Error("it broke", "mend it"), {"what", "way_out"}),
]


@pytest.mark.parametrize(("event", "fields"), EVENTS, ids=lambda case: getattr(case, "event", ""))
def test_an_event_is_one_line_with_exactly_its_fields(event: Event, fields: set[str]) -> None:
    line = wire.encode(event)
    said = json.loads(line)
    assert "\n" not in line
    assert line.isascii()
    assert said["v"] == 1
    assert said["event"] == event.event
    assert set(said) == fields | {"v", "event"}


def test_text_may_hold_anything() -> None:
    note = "ünïcode, \u2028 and\nnew lines"
    assert json.loads(wire.encode(Progress(0, 1, note)))["note"] == note


def test_calls_travel_within_a_result() -> None:
    calls = (wire.Call("tiled", "flash", 512, 64, 1, "float16"),)
    said = json.loads(wire.encode(Result("x", 1, 1, "B", "confirmed", "", "", "", calls=calls)))
    assert said["calls"] == [
        {"name": "tiled", "impl": "flash", "n": 512, "d": 64, "heads": 1, "dtype": "float16"}
    ]


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_what_is_not_finite_is_null(value: float) -> None:
    assert json.loads(wire.encode(Row("x", value, value, "")))["formula"] is None
    assert json.loads(wire.encode(Series("x", [1.0, value], [value, 2.0], "", "")))["y"] == [None, 2.0]


def test_an_error_reads_as_one_line() -> None:
    assert str(Error("it broke", "mend it")) == "it broke; mend it"
    assert str(Error("it broke")) == "it broke"
