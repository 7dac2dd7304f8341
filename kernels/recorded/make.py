"""`python -m kernels record`: the benchmark, the demonstrations and the counters, kept as one file."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import Any

from kernels.bench import command
from kernels.bench.contenders import USUAL_PEERS
from kernels.bench.grid import PHASES
from kernels.demos import DemoModule
from kernels.measure import child, counters
from kernels.runner import RefusalError

VERSION = 1

# What the counters are read for: the size of the demonstration that counts bytes, where L2 holds everything,
# and one at which a matrix of scores is 2.1 GB. Which kernels, and the shape.
WATCHED = (
    (("four-kernels", "flash"), {"n": 512, "d": 64, "heads": 1, "dtype": "float16"}),
    (("standard", "flash", "hopper"), {"n": 8192, "d": 128, "heads": 16, "dtype": "bfloat16"}),
)


def run(
    folder: Path,
    demos: Mapping[str, DemoModule],
    now: datetime,
    say: Callable[[str], None],
    *,
    quick: bool,
    seconds: float | None = None,
) -> int:
    """Write FOLDER/<gpu>.json. RefusalError without a GPU, or if nothing can be written there.

    `seconds` is how long to time each contender at each point; the benchmark's own choice where it is None.
    The file is written anew after each step: what took minutes is safe before the next is tried.
    """
    command.need_gpu("record")
    _writable(folder)
    points = command.points_of(",".join(PHASES), quick=quick)
    rivals = command.rivals_of(",".join(USUAL_PEERS))
    seconds = command.seconds_of(quick=quick) if seconds is None else seconds
    document = command.measure(points, rivals, now, say, seconds=seconds)
    path = folder / f"{slug(document['device'])}.json"
    document |= {"v": VERSION, "demos": {}, "counters": []}
    _write(document, path)
    document["counters"] = watched(say)
    _write(document, path)
    for name, events in demonstrations(demos, say):
        document["demos"][name] = events
        _write(document, path)
    say(f"written: {path}")
    return 0


def _write(document: Mapping[str, Any], path: Path) -> None:
    path.write_text(pretty(document) + "\n", encoding="utf-8")


def pretty(value: Any, levels: int = 2, margin: str = "") -> str:
    """JSON broken into lines down to the entries of each table, so that two files can be compared."""
    if levels == 0 or not value or not isinstance(value, list | dict):
        return json.dumps(value)
    inner = margin + " "
    opening, closing, entries = "[", "]", value
    names = [""] * len(value)
    if isinstance(value, dict):
        opening, closing, entries = "{", "}", value.values()
        names = [f"{json.dumps(name)}: " for name in value]
    lines = (name + pretty(entry, levels - 1, inner) for name, entry in zip(names, entries, strict=True))
    return f"{opening}\n{inner}" + f",\n{inner}".join(lines) + f"\n{margin}{closing}"


def slug(device_name: str) -> str:
    """A file's name for a device: "NVIDIA H200" is "h200"."""
    return re.sub(r"[^a-z0-9]+", "-", device_name.lower().removeprefix("nvidia ")).strip("-")


def demonstrations(
    demos: Mapping[str, DemoModule],
    say: Callable[[str], None],
    call: Callable[..., subprocess.CompletedProcess[str]] = child.call,
) -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """Each demo with its own settings, on the GPU where it has a part there, and its events but for progress.

    Each runs in a process of its own, as it does elsewhere. One that does not get to a result ends with an
    error event.
    """
    for name in demos:
        try:
            said = call("kernels", "run", name, "--json").stdout
            events = [json.loads(line) for line in said.splitlines()]
            ended = bool(events) and events[-1]["event"] in ("result", "error")
            events += [] if ended else [_failed("it ended without a result")]
        except (OSError, ValueError, subprocess.TimeoutExpired) as error:
            events = [_failed(" ".join(str(error).split()))]
        kept = [event for event in events if event["event"] != "progress"]
        say(f"demo {name}: {kept[-1].get('verdict') or kept[-1]['what']}")
        yield name, kept


def watched(
    say: Callable[[str], None], count: Callable[..., counters.Counted] = counters.count
) -> list[dict[str, Any]]:
    """Bytes of device memory, launch by launch; where they cannot be read, why."""
    entries = []
    for impls, shape in WATCHED:
        for impl in impls:
            counted = count(impl, **shape)
            read, written = (sum(getattr(k, way) for k in counted.kernels) for way in ("read", "written"))
            say(
                f"counters {impl} N={shape['n']}: "
                + (counted.why or f"{read:,} B read, {written:,} B written")
            )
            kernels = [asdict(kernel) for kernel in counted.kernels]
            entries.append({"impl": impl, **shape, "kernels": kernels, "why": counted.why})
    return entries


def _failed(what: str) -> dict[str, Any]:
    return {"event": "error", "what": what, "way_out": ""}


def _writable(folder: Path) -> None:
    """Found out before minutes are spent."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".writable"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise RefusalError(
            f"nothing can be written to {folder} ({error})", "choose a folder by --out", 1
        ) from error
