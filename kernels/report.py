"""A run as a person reads it: progress on standard error, the table and the verdict on standard output."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TextIO

from kernels.wire import Error, Event, Number, Progress, Result, Row, Series, Start

HEADINGS = ("", "formula", "measured", "", "")


class Report:
    """Prints events as they come; the table waits for the result, since its columns fit all rows."""

    def __init__(self, question: str, out: TextIO, progress: TextIO) -> None:
        self._question = question
        self._out = out
        self._progress = progress
        self._rows: list[Row] = []

    def __call__(self, event: Event) -> None:
        match event:
            case Progress():
                print(f"[{event.done}/{event.total}] {event.note}", file=self._progress, flush=True)
            case Start():
                settings = " · ".join(f"{name} {value}" for name, value in event.params.items())
                self._print(f"{event.demo} · {settings} · {event.device_name}", self._question, "")
            case Row():
                self._rows.append(event)
            case Series():
                pass  # a plot; its numbers are beyond a table
            case Result():
                self._print(*_table(self._rows), "", *_verdict(event))
            case Error():
                print(event, file=self._progress)

    def _print(self, *lines: str) -> None:
        print(*lines, sep="\n", file=self._out, flush=True)


def _table(rows: Sequence[Row]) -> list[str]:
    cells = [
        HEADINGS,
        *((row.name, shown(row.formula), shown(row.measured), row.unit, row.note) for row in rows),
    ]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if place in (1, 2) else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in cells
    ]


def _verdict(result: Result) -> list[str]:
    lines = [f"{result.verdict}: {result.why}.", f"formula: {result.derivation}", f"limits: {result.limits}"]
    if result.answer is not None:
        lines.insert(0, f"answer: {result.answer}")
    return [*lines, f"{result.seconds:.1f} s"]


def shown(number: Number) -> str:
    """Whole numbers to the last digit, others to three; a dash where there is none."""
    if number is None:
        return "-"
    return f"{number:,}" if isinstance(number, int) else f"{number:.3g}"
