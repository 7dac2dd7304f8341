"""Deck files below some folders: found in a stable order, and read as text."""

from __future__ import annotations

import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fatutor.deck.faults import Faults
from fatutor.deck.model import Fault


@dataclass(frozen=True, slots=True)
class DeckFile:
    """A Markdown file: where it is, the deck's name (its path below the root without the ending), and its state."""

    path: Path
    name: str
    size: int
    mtime_ns: int


def find(roots: Sequence[Path]) -> tuple[list[DeckFile], list[Fault]]:
    """All `*.md` files below the roots, root by root and sorted, and a fault for each that cannot be reached.

    A root may be a file. Hidden files and folders are skipped; a file or folder that links lead to twice
    counts once, so a loop of links ends.
    """
    finder = _Finder()
    for root in roots:
        finder.visit(root, root, name=root.stem)
    return finder.files, finder.faults


class _Finder:
    def __init__(self) -> None:
        self.files: list[DeckFile] = []
        self.faults: list[Fault] = []
        self.seen: set[tuple[int, int]] = set()

    def visit(self, path: Path, root: Path, name: str) -> None:
        try:
            status = path.stat()
            if (status.st_dev, status.st_ino) in self.seen:
                return
            self.seen.add((status.st_dev, status.st_ino))
            if not stat.S_ISDIR(status.st_mode):
                ...
        except OSError as error:
            ...
