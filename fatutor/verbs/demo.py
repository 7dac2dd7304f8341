"""`fatutor demo`: a kernel demo without the app. Without a prediction, it is only a measurement."""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import asdict

from fatutor.demo.catalogue import Demo, catalogue
from fatutor.demo.events import VERSION, Event, Failed, Progress, Result, Row, Series, Started
from fatutor.demo.foreground import run_to_end
from fatutor.demo.launcher import local
from fatutor.demo.units import exact
from fatutor.errors import FatutorError


def demo(arguments: argparse.Namespace) -> int:
    launcher = local()
    demos = catalogue(launcher)
    if arguments.name is None:
        return _list(demos, arguments.json)
    if arguments.name not in {one.name for one in demos}:
        raise FatutorError(
            f"there is no demo {arguments.name!r}", f"demos here: {', '.join(one.name for one in demos)}"
        )
    show = _print_json if arguments.json else _Table()
    outcome = run_to_end(launcher, arguments.name, _params(arguments.param), arguments.device, show)
    if isinstance(outcome, Failed) and not arguments.json:
        raise FatutorError(outcome.what, outcome.way_out)
    return 1 if isinstance(outcome, Failed) else 0


def _params(given: list[str]) -> dict[str, object]:
    pairs = [pair.partition("=") for pair in given]
    for key, equals, value in pairs:
        if not (key and equals and value):
            raise FatutorError(f"--param {key}{equals}{value} sets nothing", "write --param n=256")
    return {key: value for key, _, value in pairs}


def _list(demos: tuple[Demo, ...], as_document: bool) -> int:
    if as_document:
        print(json.dumps([{"name": one.name, "claim": one.claim, "unit": one.unit} for one in demos]))
    for one in () if as_document else demos:
        print(f"{one.name:<20} {one.claim}")
    return 0


NAMES = {
    Started: "start",
    Progress: "progress",
    Row: "row",
    Series: "series",
    Result: "result",
    Failed: "error",
}


def _print_json(event: Event) -> None:
    """The event as the kernels put it on the wire, checked and cleaned."""
    document = {"v": VERSION, "event": NAMES[type(event)], **asdict(event)}
    print(json.dumps(document, ensure_ascii=False), flush=True)


class _Table:
    """The events as lines for people: progress on stderr, the table and the verdict on stdout."""

    def __call__(self, event: Event) -> None:
        match event:
            case Started():
                print(f"{event.demo} · {event.device_name or event.device} · {event.plan}", file=sys.stderr)
            case Progress():
                share = f"{event.done:g} of {event.total:g}" if event.total else f"{event.done:g}"
                print(f"  {share}  {event.note}", file=sys.stderr)
            case Row():
                formula, measured = (_figure(value, event.unit) for value in (event.formula, event.measured))
                print(f"{event.name:<24} {formula:>16} {measured:>16}  {event.note}".rstrip())
            case Result():
                print(f"{event.verdict}: {event.why}")
                if event.derivation:
                    print(event.derivation)
                if event.limits:
                    print(event.limits)


def _figure(value: float | None, unit: str) -> str:
    return "" if value is None else exact(value, unit)
