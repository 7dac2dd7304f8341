"""Collects what is wrong in one file while the rest of it is still being read."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, field

from fatutor.deck.model import Fault, Place


@dataclass(slots=True)
class Faults:
    """The faults of the file shown to people as `path`, in the order in which they were found.

    `count` is how many are no mere warnings: a reader compares before and after to see whether a card broke.
    """

    path: str
    found: list[Fault] = field(default_factory=list)
    count: int = 0

    def fault(self, line: int, what: str, cure: str) -> None:
        """Note something that leaves its card (or file) out until it is mended."""
        self.found.append(Fault(Place(self.path, line), what, cure))
        self.count += 1

    def warn(self, line: int, what: str, cure: str) -> None:
        """Note something worth a look that takes nothing away."""
        self.found.append(Fault(Place(self.path, line), what, cure, warning=True))


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The known word that `word` was probably meant to be, if any comes close."""
    by_folded = {name.casefold(): name for name in known}
    close = difflib.get_close_matches(word.casefold(), by_folded, n=1)
    return by_folded[close[0]] if close else None


def listed(names: Iterable[str]) -> str:
    """`a, b or c`."""
    *head, last = names
    return f"{', '.join(head)} or {last}" if head else last


def quoted(text: str, limit: int = 40) -> str:
    """The text as a short quotation for a message."""
    text = " ".join(text.split())
    return f'"{text if len(text) <= limit else text[: limit - 1].rstrip() + "…"}"'
