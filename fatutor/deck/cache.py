"""Decks that have been parsed before, one JSON file for each, so that a start need not parse them again.

The folder is the learner's and may vanish, be corrupt or be read-only at any time; whatever cannot be used
is passed over in silence, and the deck is parsed. JSON, because reading it can do nothing but make values.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fatutor.deck.files import DeckFile
from fatutor.deck.model import (
    AnswerForm,
    Beat,
    Card,
    Check,
    Choice,
    Deck,
    Fault,
    KeyPoint,
    Kind,
    Level,
    Place,
    Prose,
    Response,
    Term,
    Track,
)

VERSION = 3  # raise it whenever the parser or a value type changes what a deck is read as

# A file changed twice within one tick of its clock looks unchanged, so an entry counts only if it is clearly
# younger than the deck it was made from. FAT has the coarsest clock, of two seconds.
_TICK_NS = 2_000_000_000


class Cache:
    """The entries in one folder, for decks read with the hardware table whose digest is `table`."""

    def __init__(self, folder: Path, table: str) -> None:
        self.folder = folder
        self.table = table

    def get(self, file: DeckFile) -> Deck | None:
        """The deck as it was parsed last, if the file has not changed since."""
        entry = self._entry(file)
        try:
            if entry.stat().st_mtime_ns <= file.mtime_ns + _TICK_NS:
                return None
            state, deck = json.loads(entry.read_bytes())
            return _deck(deck) if state == self._state(file) else None
        except (OSError, ValueError, TypeError, IndexError, KeyError, RecursionError):
            return None

    def put(self, file: DeckFile, deck: Deck) -> None:
        """Keep a parsed deck, if that is possible; never half a one."""
        entry = self._entry(file)
        text = json.dumps([self._state(file), deck], default=_row, separators=(",", ":"))
        part = entry.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                part.write_bytes(text.encode("ascii"))
                part.replace(entry)
            except OSError:
                part.unlink(missing_ok=True)

    def _entry(self, file: DeckFile) -> Path:
        key = f"{file.path.absolute()}\0{file.path}\0{file.name}"
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self.folder / f"{digest}.json"

    def _state(self, file: DeckFile) -> list[object]:
        return [VERSION, self.table, file.size, file.mtime_ns]


def _row(value: Any) -> list[object]:
    """A dataclass as the list of its fields; named tuples become lists of themselves."""
    return [getattr(value, name) for name in value.__slots__]


def _deck(row: list[Any]) -> Deck:
    name, title, path, blocks, beat, tags, checks, faults, terms = row
    return Deck(
        name,
        title,
        path,
        tuple(Prose(*block) if len(block) == 2 else _card(block) for block in blocks),
        _beat(*beat) if beat else None,
        tuple(tags),
        tuple(Check(*check) for check in checks),
        tuple(Fault(Place(*place), what, cure, warning) for place, what, cure, warning in faults),
        tuple(Term(name, tuple(aliases), text, Place(*place)) for name, aliases, text, place in terms),
    )


def _beat(module: str, number: int, kind: str, minutes: int, track: str, outcome: str, gate: str) -> Beat:
    return Beat(module, number, kind, minutes, Track(track), outcome, gate)


def _each(value_type: Callable[..., Any]) -> Callable[[list[list[Any]]], tuple[Any, ...]]:
    return lambda rows: tuple([value_type(*row) for row in rows])


def _response(row: list[Any]) -> Response:
    form, value, unit, tolerance, choices = row
    return Response(AnswerForm(form), value, unit, tolerance, _each(Choice)(choices))


_READERS: Mapping[str, Callable[[Any], Any]] = {
    "kind": Kind,
    "place": lambda row: Place(*row),
    "response": _response,
    "key_points": _each(KeyPoint),
    "not_quite": tuple,
    "follow_ups": tuple,
    "checks": _each(Check),
    "level": lambda level: Level(level) if level else None,
    "tags": tuple,
    "after": tuple,
}
_COLUMNS = [(field, _READERS[name]) for field, name in enumerate(Card._fields) if name in _READERS]


def _card(row: list[Any]) -> Card:
    for field, reader in _COLUMNS:
        row[field] = reader(row[field])
    return Card(*row)
