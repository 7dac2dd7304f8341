"""A demo's events as lines: JSON for programs, a table for people."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict

from fatutor.demo.events import VERSION, Event, Failed, Progress, Result, Row, Series, Started
from fatutor.demo.units import exact

NAMES = {
    Started: "start",
    Progress: "progress",
    Row: "row",
    Series: "series",
    Result: "result",
    Failed: "error",
}


def print_json(event: Event, **more: object) -> None:
    """The event as the kernels put it on the wire, checked and cleaned."""
    document = {"v": VERSION, "event": NAMES[type(event)], **asdict(event), **more}
    print(json.dumps(document, ensure_ascii=False), flush=True)


class Table:
    """The events as lines for people: progress on stderr, the table and the verdict on stdout.

    `at` says where the device is, if not here: " on box".
    """

    def __init__(self, at: str = "") -> None:
        self._at = at
        self._headed = False
        self._progress: Progress | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                where = f"{event.device_name or event.device}{self._at}"
                sizes = (f"{name} {value}" for name, value in event.params.items())
                print(" · ".join(filter(None, (event.demo, *sizes, where, event.plan))), file=sys.stderr)
            case Progress() if event != self._progress:
                self._progress = event
                share = f"{event.done:g} of {event.total:g}" if event.total else f"{event.done:g}"
                print(f"  {share}  {event.note}", file=sys.stderr)
            case Row():
                if not self._headed:
                    self._headed = True
                    print(_line("", "formula", "machine"))
                formula, measured = (_figure(value, event.unit) for value in (event.formula, event.measured))
                print(_line(event.name, formula, measured, event.note))
            case Result():
                print(f"{event.verdict}: {event.why}" if event.why else event.verdict)
                for more in filter(None, (event.derivation, event.limits)):
                    print(more)


def _line(name: str, formula: str, machine: str, note: str = "") -> str:
    return f"{name:<24} {formula:>16} {machine:>16}  {note}".rstrip()


def _figure(value: float | None, unit: str) -> str:
    return "" if value is None else exact(value, unit)
