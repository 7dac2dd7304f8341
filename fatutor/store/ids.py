"""Ids that sort by time: 48 bits of milliseconds, then 64 random bits, as 28 hexadecimal digits."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Ids:
    """A source of ids. Each is greater than the one before, even where the clock stands still or goes back.

    `random_bits(n)` gives n random bits: `secrets.randbits`, or `random.Random(seed).getrandbits` in tests.
    """

    def __init__(self, random_bits: Callable[[int], int]) -> None:
        self._random_bits = random_bits
        self._last = 0

    def new(self, at: datetime) -> str:
        """An id for the aware instant `at`."""
        milliseconds = (at - EPOCH) // timedelta(milliseconds=1)
        self._last = max(self._last + 1, milliseconds << 64 | self._random_bits(64))
        return f"{self._last:028x}"
