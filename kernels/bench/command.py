"""`python -m kernels bench`: a table for people, or one JSON document."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from importlib import metadata
from importlib.util import find_spec
from typing import Any, TextIO

from kernels.bench import contenders, grid
from kernels.bench.sweep import Note, Row, sweep
from kernels.bench.table import Table, remarks
from kernels.measure import roofline
from kernels.measure.clock import EventClock
from kernels.runner import RefusalError


def run(
    *, quick: bool, against: str, phases: str, as_json: bool, now: datetime, out: TextIO, progress: TextIO
) -> int:
    """Time, and print the table line by line, or with `as_json` the document on `out` and the table aside."""
    rivals = rivals_of(against)
    points = points_of(phases, quick=quick)
    table = progress if as_json else out
    document = measure(
        points, rivals, now, lambda line: print(line, file=table, flush=True), seconds=seconds_of(quick=quick)
    )
    if as_json:
        print(json.dumps(document, indent=1), file=out, flush=True)
    return 0


def seconds_of(*, quick: bool) -> float:
    """How long to time each contender at each point. Longer is steadier; quick ends within a minute."""
    return 0.1 if quick else 0.2


def rivals_of(against: str) -> list[contenders.Contender]:
    """Ours, and the peers named in a list with commas; RefusalError if one is unknown."""
    try:
        return contenders.field(_names(against))
    except ValueError as error:
        what, _, way_out = str(error).partition("; ")
        raise RefusalError(what, way_out) from error


def points_of(phases: str, *, quick: bool) -> list[grid.Point]:
    """The grid's points of the passes named in a list with commas; RefusalError if one is unknown."""
    names = _names(phases)
    for name in names:
        if name not in grid.PHASES:
            raise RefusalError(f"there is no pass called {name!r}", f"choose among {', '.join(grid.PHASES)}")
    return [point for point in (grid.quick() if quick else grid.full()) if point.phase in names]


def measure(
    points: Sequence[grid.Point],
    rivals: Sequence[contenders.Contender],
    now: datetime,
    say: Callable[[str], None],
    *,
    seconds: float,
) -> dict[str, Any]:
    """Run on the current CUDA device, telling the table's lines as they come. RefusalError without one."""
    need_gpu("bench")
    clock = EventClock()
    ceilings = roofline.measured(clock)
    about = environment(now)
    say(f"{about['device']} · driver {about['driver']} · {about['date']}")
    peak, bandwidth = ceilings.peak / 1e12, ceilings.bandwidth / 1e9
    say(f"matmul {peak:.0f} TFLOP/s · copy {bandwidth:.0f} GB/s · bf16, random normal")
    document = collect(sweep(points, rivals, clock, seconds=seconds), rivals, say)
    reached = {"matmul_tflops": round(peak, 1), "copy_gbps": round(bandwidth, 1)}
    return about | {"ceilings": reached} | document


def collect(
    met: Iterable[Sequence[Row | Note]],
    rivals: Sequence[contenders.Contender],
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Rows and notes as JSON, told as a table on the way."""
    table, rows, notes = Table(rivals), list[Row](), list[Note]()
    for entries in met:
        rows += [entry for entry in entries if isinstance(entry, Row)]
        notes += [entry for entry in entries if isinstance(entry, Note)]
        for line in table.lines(entries):
            say(line)
    for line in remarks(notes):
        say(line)
    return {
        "rows": [row.as_json() for row in rows],
        "notes": [{"impl": note.impl, "why": note.why, "where": note.where} for note in notes],
    }


def need_gpu(who: str) -> None:
    """RefusalError unless PyTorch is here and finds a CUDA device; Triton is then set to compile."""
    if find_spec("torch") is None:
        raise RefusalError(
            f"{who} needs torch, not installed here", "pip install 'fatutor[demos]'", exit_code=1
        )
    os.environ.pop("TRITON_INTERPRET", None)  # left over in a shell, it would keep our kernels off the GPU
    import torch

    if not torch.cuda.is_available():
        raise RefusalError(
            f"{who} needs a GPU, and PyTorch finds no CUDA device here",
            "run it on a machine with one",
            exit_code=1,
        )


def environment(now: datetime) -> dict[str, Any]:
    """The current CUDA device, its driver, what runs on it, and when (UTC, ISO 8601)."""
    import torch

    versions = {"python": platform.python_version(), "cuda": str(torch.version.cuda)}
    versions["cudnn"] = str(torch.backends.cudnn.version())
    for package in ("torch", "triton", "fa3-fwd"):
        try:
            versions[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return {
        "device": torch.cuda.get_device_name(),
        "driver": driver(),
        "versions": versions,
        "date": now.isoformat(timespec="seconds"),
    }


def driver(find: Callable[[str], str | None] = shutil.which) -> str:
    """The driver's version as `nvidia-smi` gives it, or "unknown"."""
    tool = find("nvidia-smi")
    if tool is None:
        return "unknown"
    query = [tool, "--query-gpu=driver_version", "--format=csv,noheader"]
    told = subprocess.run(query, capture_output=True, text=True, timeout=30, check=False).stdout.split()
    return told[0] if told else "unknown"


def _names(listed: str) -> list[str]:
    return [name.strip() for name in listed.split(",") if name.strip()]
