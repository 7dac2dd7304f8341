"""A demo's events as lines: JSON for programs, a table for people, in lines that fit their terminal."""

from __future__ import annotations

import json
import shutil
import sys
from dataclasses import asdict
from typing import TextIO

from fatutor.demo.events import VERSION, Event, Failed, Progress, Result, Row, Series, Started
from fatutor.demo.units import exact
from fatutor.text.inline import together
from fatutor.text.spans import Line, Span, plain
from fatutor.text.wrap import beside, cells, wrap

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


def say(text: str, head: str = "", *, err: bool = False) -> None:
    """A statement on stdout or stderr: in lines that fit where that is a terminal, else on one line."""
    to = sys.stderr if err else sys.stdout
    for line in fitted(text, head, _width(to)):
        print(line, file=to)


def fitted(text: str, head: str, width: int | None) -> list[str]:
    """The text beside its head, broken at spaces; a figure stays with its unit. Without a width, one line."""
    whole = f"{head}{text}".rstrip()
    if width is None or cells(whole) <= width:
        return [whole]

    def body(room: int) -> list[Line]:
        return wrap(together([Span(text)]), room)

    return [plain(line).rstrip() for line in beside(Span(head), Span(" " * cells(head)), width, body)]


def _width(stream: TextIO) -> int | None:
    return shutil.get_terminal_size().columns if stream.isatty() else None


class Table:
    """The events as lines for people: progress on stderr, the table and the verdict on stdout.

    `claim` is what the verdict is on, and `at` says where the device is, if not here: " on box".
    """

    def __init__(self, claim: str, at: str = "") -> None:
        self._claim = claim
        self._at = at
        self._headed = False
        self._progress: Progress | None = None

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                where = f"{event.device_name or event.device}{self._at}"
                sizes = (f"{name} {value}" for name, value in event.params.items())
                say(" · ".join(filter(None, (event.demo, *sizes, where, event.plan))), err=True)
            case Progress() if event != self._progress:
                self._progress = event
                share = f"{event.done:g} of {event.total:g}" if event.total else f"{event.done:g}"
                say(event.note, f"  {share}  ", err=True)
            case Row():
                if not self._headed:
                    self._headed = True
                    say("", _columns("", "formula", "machine"))
                formula, measured = (_figure(value, event.unit) for value in (event.formula, event.measured))
                say(event.note, _columns(event.name, formula, measured))
            case Result():
                verdict = f"{event.verdict}: {event.why}" if event.why else event.verdict
                for told in filter(None, (f"Claim: {self._claim}", verdict, event.derivation, event.limits)):
                    say(told)


def _columns(name: str, formula: str, machine: str) -> str:
    return f"{name:<24} {formula:>15} {machine:>15}  "


def _figure(value: float | None, unit: str) -> str:
    return "" if value is None else exact(value, unit)
