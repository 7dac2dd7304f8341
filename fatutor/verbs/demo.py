"""`fatutor demo`: kernel demos without the app: run here or elsewhere, recorded, or looked back upon."""

from __future__ import annotations

import argparse
import json
from contextlib import closing
from dataclasses import asdict
from functools import partial

from fatutor.demo import history, remote, sheet
from fatutor.demo.catalogue import Demo
from fatutor.demo.events import Event, Failed, Result
from fatutor.demo.foreground import run_to_end
from fatutor.demo.places import Place
from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.verbs.demo_lines import Table, print_json, say
from fatutor.verbs.desk import make_desk


def demo(arguments: argparse.Namespace) -> int:
    """Exit code 1 where the run, or the far side that was checked, has failed."""
    with closing(make_desk(arguments)) as desk:
        if arguments.history:
            return _history(desk, arguments.name, as_document=arguments.json)
        if arguments.check_remote is not None:
            return _check_remote(desk, arguments.check_remote, as_document=arguments.json)
        if arguments.name is None:
            return _list(tuple(desk.demos.values()), as_document=arguments.json)
        asked = desk.demo(arguments.name)
        if arguments.recorded:
            return _recorded(desk, asked, as_events=arguments.json)
        place = _place(desk, asked, arguments)
        return _run(desk, asked, place, _params(arguments.param), as_events=arguments.json)


def _place(desk: Desk, asked: Demo, arguments: argparse.Namespace) -> Place:
    """Where the command line says, or what `auto` means here."""
    if arguments.on is not None:
        return Place(f"remote {arguments.on}", desk.remote(arguments.on), arguments.device)
    if arguments.device != "auto":
        return Place("here", desk.launcher, arguments.device)
    source = desk.sources(asked)[0]
    if isinstance(source, Place):
        return source
    raise FatutorError(
        f"{asked.name} needs a GPU, and none is here", f"--recorded shows the run {source.label}"
    )


def _run(desk: Desk, asked: Demo, place: Place, params: dict[str, object], *, as_events: bool) -> int:
    show = partial(_as_event, desk) if as_events else Table(asked.claim, place.launcher.at)
    outcome = run_to_end(place.launcher, asked.name, params, place.device, show)
    if isinstance(outcome, Failed):
        if not as_events:
            raise FatutorError(outcome.what, outcome.way_out)
        return 1
    if not as_events:
        recording = desk.recording(asked.name)
        if recording and recording.on_gpu(asked.name):
            say(sheet.recorded_line(asked.name, recording))
        _print_counters(desk, outcome)
    return 0


def _as_event(desk: Desk, event: Event, **more: object) -> None:
    """The event; a result with what a recording's hardware counters read for the same calls."""
    if isinstance(event, Result) and (recording := desk.counted(event)):
        dram = [asdict(call) | asdict(moved) for call, moved in recording.counted(event.calls)]
        more["counters"] = {"recorded": recording.provenance, "dram": dram}
    print_json(event, **more)


def _print_counters(desk: Desk, result: Result) -> None:
    for line in sheet.counted(result, desk.counted(result)).splitlines():
        told = line.lstrip(" ")
        say(told, " " * (len(line) - len(told)))


def _params(given: list[str]) -> dict[str, object]:
    pairs = [pair.partition("=") for pair in given]
    for key, equals, value in pairs:
        if not (key and equals and value):
            raise FatutorError(f"--param {key}{equals}{value} sets nothing", "write --param n=256")
    return {key: value for key, _, value in pairs}


def _recorded(desk: Desk, asked: Demo, *, as_events: bool) -> int:
    """The recorded run, which says so in every line that a program could take for a live one."""
    name, recording = asked.name, desk.recording(asked.name)
    if recording is None:
        raise FatutorError(f"no run of {name} is recorded", f"fatutor demo {name} runs it")
    if as_events:
        for event in recording.demos[name]:
            _as_event(desk, event, recorded=recording.origin(name))
        return 0
    table = Table(asked.claim, f", {recording.date}, recorded")
    say(recording.origin(name))
    for event in recording.shown(name):
        table(event)
        if isinstance(event, Result):
            _print_counters(desk, event)
    return 0


def _list(demos: tuple[Demo, ...], *, as_document: bool) -> int:
    if as_document:
        shown = ("name", "plan", "claim", "unit", "needs")
        listed = [{field: getattr(one, field) for field in shown} for one in demos]
        print(json.dumps(listed, ensure_ascii=False))
        return 0
    for one in demos:
        say(one.plan, f"{one.name:<20} ")
    return 0


def _history(desk: Desk, name: str | None, *, as_document: bool) -> int:
    runs = desk.runs(name)
    if as_document:
        print(json.dumps({"runs": [history.as_document(run) for run in runs]}, ensure_ascii=False))
        return 0
    for run in runs:
        first, second = history.lines(run, desk.time.clock.zone)
        say(first)
        say(second, "  ")
    if not runs:
        say("no run is kept yet; the app keeps those that follow a prediction")
    return 0


def _check_remote(desk: Desk, name: str, *, as_document: bool) -> int:
    launcher = desk.remote(name)
    # Any demo would do; one that would take a GPU, and all packages, shows whether they are there.
    demos = sorted(desk.demos.values(), key=lambda one: ("cuda" not in one.devices, -len(one.needs)))
    if not demos:
        raise FatutorError("there are no demos to check with", "install fatutor again")
    say(f"asking {name} to start {demos[0].name} …", err=True)
    findings = remote.check(launcher, demos[0])
    if as_document:
        listed = [
            {"what": found.what, "fine": found.fine, "told": found.told, "way_out": found.way_out}
            for found in findings
        ]
        print(json.dumps({"remote": name, "findings": listed}, ensure_ascii=False))
    else:
        for found in findings:
            way_out = f"; {found.way_out}" if found.way_out else ""
            say(f"{found.told}{way_out}", f"{'✓' if found.fine else '✗'} {found.what:<8} ")
    return 0 if all(found.fine for found in findings) else 1
