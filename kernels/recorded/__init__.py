"""Runs made on real GPUs by `python -m kernels record`, for machines without one.

A recording is a JSON document: device, driver, versions, date; ceilings, rows and notes of the benchmark; for
each demonstration the events that it ended with; and what the hardware counters read.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


def names(folder: Path = FOLDER) -> list[str]:
    """The GPUs of which there is a recording."""
    return sorted(path.stem for path in folder.glob("*.json"))


def load(name: str, folder: Path = FOLDER) -> dict[str, Any]:
    """The recording of that name, "h200" say; LookupError that names those there are."""
    if name not in names(folder):
        raise LookupError(f"there is no recording called {name!r}; there are {names(folder)}")
    return json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
