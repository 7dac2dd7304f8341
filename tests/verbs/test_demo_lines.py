"""What `fatutor demo` prints fits the terminal: lines end at spaces, and a figure keeps its unit."""

from __future__ import annotations

import sys

import pytest

from fatutor.demo.events import Progress, Result, Row, Started
from fatutor.verbs.demo_lines import Table, fitted

WHY = "each doubling halves them; at d = 128 with 3 tiles in flight, 256 take 256 KiB of the 227 KiB"
EVENTS = (
    Started(
        "tile-size", "interpreter", params={"n": 256}, plan="Count K and V bytes by the height of a tile."
    ),
    Progress(0, 5, "16 queries a tile"),
    Row("16 queries a tile", 1048576, 1048576, "B", "K and V, read many times"),
    Row("256 queries a tile", 65536, 65536, "B", "read 1 time"),
    Result("confirmed", why=WHY),
)
CLAIM = "Taller tiles read less, until they no longer fit."


def printed(capsys: pytest.CaptureFixture[str]) -> tuple[list[str], list[str]]:
    table = Table(CLAIM)
    for event in EVENTS:
        table(event)
    told = capsys.readouterr()
    return told.out.splitlines(), told.err.splitlines()


def test_at_80_columns(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    out, err = printed(capsys)
    assert out == [
        "                                 formula         machine",
        "16 queries a tile            1\u00a0048\u00a0576 B     1\u00a0048\u00a0576 B  K and V, read many",
        "                                                          times",
        "256 queries a tile              65\u00a0536 B        65\u00a0536 B  read 1 time",
        "Claim: Taller tiles read less, until they no longer fit.",
        "confirmed: each doubling halves them; at d = 128 with 3 tiles in flight, 256",
        "take 256 KiB of the 227 KiB",
    ]
    assert err == [
        "tile-size · n 256 · interpreter · Count K and V bytes by the height of a tile.",
        "  0 of 5  16 queries a tile",
    ]


def test_without_a_terminal_a_statement_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = printed(capsys)
    million = "1\u00a0048\u00a0576 B"
    assert out == [
        "                                 formula         machine",
        f"16 queries a tile            {million}     {million}  K and V, read many times",
        "256 queries a tile              65\u00a0536 B        65\u00a0536 B  read 1 time",
        f"Claim: {CLAIM}",
        f"confirmed: {WHY}",
    ]


@pytest.mark.parametrize(
    "figure", ["256 KiB", "8.59 GB", "79 µs", "409 TFLOP/s", "3.48 TB/s", "43 FLOP/B", "6 %"]
)
def test_a_figure_goes_to_the_next_line_with_its_unit(figure: str) -> None:
    room = len("it takes ") + figure.index(" ") + 1
    assert fitted(f"it takes {figure}", "", room) == ["it takes", figure]


def test_a_row_with_no_room_beside_it_has_its_note_below() -> None:
    head = f"{'16 queries a tile':<24} {'1 B':>16} {'1 B':>16}  "
    assert fitted("read 16 times", head, 60) == [head.rstrip(), "read 16 times"]


def test_what_is_listed_hangs_under_its_text() -> None:
    assert fitted("Count both, and time them.", "tile-size  ", 30) == [
        "tile-size  Count both, and",
        "           time them.",
    ]
