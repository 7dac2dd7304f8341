"""Deck files below some folders: found in a stable order, and read as text."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fatutor.deck.model import Fault, Place
from fatutor.text.clean import clean_line


@dataclass(frozen=True, slots=True)
class DeckFile:
    """A Markdown file as it was when found. `name` is its path below its root without the ending."""

    path: Path
    name: str
    size: int
    mtime_ns: int


def find(roots: Sequence[Path]) -> tuple[list[DeckFile], list[Fault]]:
    """All `*.md` files below the roots, root by root and sorted; what cannot be reached is a fault.

    A root may be a file. Hidden files and folders are skipped. Links are followed, but a file or folder
    that they lead to twice counts once, so a loop of links ends.
    """
    files: list[DeckFile] = []
    faults: list[Fault] = []
    seen: set[tuple[int, int]] = set()
    waiting = [_Visit(root, "", is_root=True) for root in reversed(roots)]
    while waiting:
        visit = waiting.pop()
        path = visit.path
        try:
            status = path.stat()
            identity = (status.st_dev, status.st_ino)
            if identity in seen:
                continue
            seen.add(identity)
            if stat.S_ISREG(status.st_mode):
                files.append(DeckFile(path, visit.below + path.stem, status.st_size, status.st_mtime_ns))
            elif stat.S_ISDIR(status.st_mode) and not _is_markdown(path.name):
                below = "" if visit.is_root else f"{visit.below}{path.name}/"
                waiting += [_Visit(child, below) for child in reversed(_children(path))]
            else:
                faults.append(
                    _fault(path, "this has the name of a deck, but is no file", "rename it without .md")
                )
        except OSError as error:
            faults.append(_unreadable(path, error))
    return files, faults


def read_text(path: Path) -> str | Fault:
    """The text of a file with its line ends as they are, or the one fault that says why there is none."""
    try:
        data = path.read_bytes()
    except OSError as error:
        return _unreadable(path, error)
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = 1 + data.count(b"\n", 0, error.start)
        return _fault(path, "this file is not in UTF-8", "save it as UTF-8", line)
    if "\0" in text:  # UTF-16 without a byte order mark, or no text at all
        return _fault(path, "this file holds null bytes, as UTF-16 does", "save it as UTF-8")
    return text


@dataclass(frozen=True, slots=True)
class _Visit:
    """Somewhere to look; `below` is where that lies below its root, as in `a/b/`."""

    path: Path
    below: str
    is_root: bool = False


def _children(folder: Path) -> list[Path]:
    """What may be or hold a deck, sorted by name."""
    with os.scandir(folder) as entries:
        names = [entry.name for entry in entries if not entry.name.startswith(".") and _may_hold_decks(entry)]
    return [folder / name for name in sorted(names)]


def _may_hold_decks(entry: os.DirEntry[str]) -> bool:
    try:
        return _is_markdown(entry.name) or entry.is_dir()
    except OSError:  # a link that leads to itself, and is no deck by its name
        return False


def _is_markdown(name: str) -> bool:
    return name.lower().endswith(".md")


def _unreadable(path: Path, error: OSError) -> Fault:
    reason = (error.strerror or type(error).__name__).lower()
    return _fault(
        path, f"this cannot be read ({reason})", "mend its name or its permissions, or take it away"
    )


def _fault(path: Path, what: str, cure: str, line: int = 1) -> Fault:
    return Fault(Place(clean_line(str(path)), line), what, cure)
