"""Numbers with their nouns."""

from __future__ import annotations


def many(count: int, one: str) -> str:
    """`1 card`, `2 cards`."""
    return f"{count} {one}" if count == 1 else f"{count} {one}s"
