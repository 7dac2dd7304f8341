"""The hardware table as expressions see it: `A100.hbm` is a number."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType

from fatutor.errors import FatutorError
from fatutor.paths import bundle_root

Hardware = Mapping[str, Mapping[str, float]]
"""Figures by chip, then by name; FLOP/s, B/s, B and Hz as `kernels/measure/hardware.toml` explains them."""


def bundled() -> Path:
    """Where the table lies that comes with fatutor."""
    return bundle_root() / "kernels" / "measure" / "hardware.toml"


def read(path: Path) -> Hardware:
    """Read the table and add each chip's ridge (FLOP/B); raises FatutorError where it cannot be read.

    A chip with an `hbm_rounded` also gets the `ridge_rounded` that texts quote: 156 for the A100.
    """
    try:
        with path.open("rb") as file:
            table = tomllib.load(file)
        chips = {
            chip: {name: entry["value"] for name, entry in figures.items() if isinstance(entry, dict)}
            for chip, figures in table.items()
        }
        for figures in chips.values():
            figures["ridge"] = figures["bf16"] / figures["hbm"]
            if "hbm_rounded" in figures:
                figures["ridge_rounded"] = figures["bf16"] / figures["hbm_rounded"]
    except (
        OSError,
        tomllib.TOMLDecodeError,
        AttributeError,
        KeyError,
        TypeError,
        ZeroDivisionError,
    ) as error:
        raise FatutorError(
            f"the hardware table {path} cannot be read ({error})", "install fatutor again"
        ) from error
    return MappingProxyType({chip: MappingProxyType(figures) for chip, figures in chips.items()})
