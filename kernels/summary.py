"""Runs every demonstration here and prints a line for each: `python -m kernels.summary`.

Each runs in a process of its own, as it does from the app, on the device that suits it. Exit code 1 if one of
them ended without a verdict.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable
from typing import Any, TextIO

from kernels.demos import modules
from kernels.measure import child
from kernels.report import shown

WIDTHS = (20, 11, 9, 14, 14, 8)
HEADINGS = ("demo", "device", "verdict", "formula", "measured", "unit", "seconds")


def main(
    names: Iterable[str], out: TextIO, call: Callable[..., subprocess.CompletedProcess[str]] = child.call
) -> int:
    """Run the demos of these names, and return the exit code."""
    print(_line(HEADINGS), file=out)
    failed = False
    for name in names:
        events = _events(name, call)
        device = next((event["device"] for event in events if event["event"] == "start"), "-")
        last = events[-1]
        failed |= last["event"] != "result"
        if last["event"] == "result":
            numbers = (shown(last["formula"]), shown(last["measured"]))
            cells = (name, device, last["verdict"], *numbers, last["unit"], f"{last['seconds']:.1f}")
        else:
            cells = (name, device, "failed", "-", "-", "", last.get("what", "it ended without a result"))
        print(_line(cells), file=out, flush=True)
    return int(failed)


def _events(name: str, call: Callable[..., subprocess.CompletedProcess[str]]) -> list[dict[str, Any]]:
    """What the demo said; at least one event."""
    try:
        said = call("kernels", "run", name, "--json").stdout
        return [json.loads(line) for line in said.splitlines()] or [{"event": "nothing"}]
    except (OSError, ValueError, subprocess.TimeoutExpired) as error:
        return [{"event": "error", "what": " ".join(str(error).split())}]


def _line(cells: tuple[str, ...]) -> str:
    *columns, last = cells
    aligned = [
        cell.rjust(width) if place in (3, 4) else cell.ljust(width)
        for place, (cell, width) in enumerate(zip(columns, WIDTHS, strict=True))
    ]
    return "  ".join((*aligned, last)).rstrip()


if __name__ == "__main__":
    sys.exit(main(modules(), sys.stdout))
