"""The roofline: what a chip can reach at a given intensity, and where its two ceilings meet.

    attainable = min(peak rate, bandwidth · intensity)        ridge = peak rate / bandwidth

Left of the ridge bytes set the time, right of it operations. Williams, Waterman & Patterson 2009.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from kernels.measure.clock import Clock, interleaved

# What the driver calls the cards whose datasheet is in the table. Others that share a chip's name (PCIe, NVL)
# have other bandwidths, so they are measured.
CHIPS = {
    "NVIDIA A100-SXM4-80GB": "A100",
    "NVIDIA A100-SXM4-40GB": "A100_40G",
    "NVIDIA H100 80GB HBM3": "H100",
    "NVIDIA H200": "H200",
    "NVIDIA B200": "B200",
}


@dataclass(frozen=True, slots=True)
class Roofline:
    """Two ceilings, in FLOP/s and B/s, and where they come from."""

    peak: float
    bandwidth: float
    source: str

    @property
    def ridge(self) -> float:
        """FLOP/B from which on the peak is within reach."""
        return self.peak / self.bandwidth

    def attainable(self, intensity: float) -> float:
        """FLOP/s at most, at this many FLOP/B."""
        return min(self.peak, self.bandwidth * intensity)


def sheet(chip: str, bandwidth: str = "hbm") -> Roofline:
    """By the datasheet: bf16 matrix products and device memory. KeyError for what `hardware.toml` lacks.

    bandwidth="hbm_rounded" takes the rounded figure that texts quote, where there is one.
    """
    figures = _table()[chip]
    return Roofline(
        figures["bf16"]["value"], figures[bandwidth]["value"], f"datasheet of the {figures['name']}"
    )


def of(device_name: str, clock: Clock) -> Roofline:
    """By the datasheet if the card is in the table, otherwise measured now on the current CUDA device."""
    return sheet(CHIPS[device_name]) if device_name in CHIPS else measured(clock)


def measured(clock: Clock, device: str = "cuda", *, side: int = 8192, copied: int = 1 << 30) -> Roofline:
    """What this device reaches: a bf16 product of two random side × side matrices, a copy of `copied` bytes.

    Random, since matrix products of zeros draw less power and run faster. A copy counts as read and written.
    """
    import torch

    a, b = torch.randn(2, side, side, dtype=torch.bfloat16, device=device)
    source = torch.empty(copied, dtype=torch.int8, device=device).fill_(1)
    target = torch.empty_like(source)
    timings = interleaved({"product": lambda: a @ b, "copy": lambda: target.copy_(source)}, clock)
    return Roofline(
        2 * side**3 / timings["product"].median,
        2 * copied / timings["copy"].median,
        f"measured ({clock.name})",
    )


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(Path(__file__).with_name("hardware.toml").read_text(encoding="utf-8"))
