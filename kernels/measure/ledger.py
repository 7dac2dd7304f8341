"""A ledger of bytes: what was read and written, under the names of the tensors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType


@dataclass(frozen=True, slots=True)
class Ledger:
    """Bytes by tensor. What is 0 is left out, so that == compares traffic and nothing else."""

    read: Mapping[str, int] = field(default_factory=dict)
    written: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for direction in ("read", "written"):
            entries = {name: n for name, n in getattr(self, direction).items() if n}
            object.__setattr__(self, direction, MappingProxyType(entries))

    @property
    def total(self) -> int:
        return sum(self.read.values()) + sum(self.written.values())
