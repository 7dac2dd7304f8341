"""A cache between the processors and DRAM, replayed from what an interpreted kernel asked for.

    with tracing() as trace:
        flash.launch(...)
    dram_bytes(trace, capacity=256 * 1024)

The model: sectors of 32 bytes, any of which may lie anywhere; the one used longest ago makes room; a sector
written stays until it has to make room or the run ends, and then goes to DRAM. A read that misses brings one
sector in. A sector written is never read in first, since kernels write whole ones.

It is a model. The interpreter runs programs one after the other, a GPU hundreds at a time, whose working sets
then share the cache; and a real cache may not keep what this one keeps.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

from kernels.measure.bytes import watching

SECTOR = 32


@dataclass(frozen=True, slots=True)
class Access:
    """Sectors that one load or store touches, in ascending order, each once."""

    sectors: Sequence[int]
    reads: bool
    writes: bool


@contextmanager
def tracing() -> Iterator[list[Access]]:
    """Record what kernels launched inside the block touch. RuntimeError where kernels are compiled."""
    trace: list[Access] = []

    def record(addresses: np.ndarray, itemsize: int, *, reads: bool, writes: bool) -> None:
        # An aligned element never straddles two sectors, so its first byte tells.
        trace.append(Access(np.unique(addresses // SECTOR).tolist(), reads, writes))

    with watching(record):
        yield trace


def footprint(trace: Sequence[Access]) -> int:
    """Bytes of all sectors touched, each counted once."""
    return SECTOR * len({sector for access in trace for sector in access.sectors})


def dram_bytes(trace: Sequence[Access], capacity: int) -> int:
    """Bytes between a cache of `capacity` bytes and DRAM: sectors brought in, and sectors written back."""
    room = capacity // SECTOR
    held: OrderedDict[int, bool] = OrderedDict()  # sector: whether it has been written; the oldest use first
    moved = 0
    for access in trace:
        for sector in access.sectors:
            if sector in held:
                held.move_to_end(sector)
                held[sector] |= access.writes
                continue
            moved += access.reads
            held[sector] = access.writes
            if len(held) > room:
                _, written = held.popitem(last=False)
                moved += written
    return SECTOR * (moved + sum(held.values()))
