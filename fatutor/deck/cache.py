"""Decks that have been parsed before, one file for each, so that a start need not parse them again.

An entry has three lines. The first seals it: what the deck was read from, and a checksum of what follows.
The second is what a start needs of the deck, the third its blocks: most of the text, read with the rest and
made into cards when somebody looks at them. So a deck that is open shows what was there at the start,
whatever becomes of the cache or the deck meanwhile.

The folder is the learner's and may vanish, be corrupt or be read-only at any time; whatever cannot be used
is passed over in silence, and the deck is parsed. JSON, because reading it can do nothing but make values.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
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
    Slip,
    Term,
    Track,
)

VERSION = 5  # raise it whenever the parser or a value type changes what a deck is read as

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
        try:
            with self._entry(file).open("rb") as entry:
                if os.fstat(entry.fileno()).st_mtime_ns <= file.mtime_ns + _TICK_NS:
                    return None
                seal, head, blocks = entry.readline(), entry.readline(), entry.read()
        except OSError:
            return None
        return _deck(json.loads(head), _Blocks(blocks)) if seal == self._seal(file, head, blocks) else None

    def put(self, file: DeckFile, deck: Deck) -> None:
        """Keep a parsed deck, if that is possible; never half a one."""
        entry = self._entry(file)
        head = _line([*(getattr(deck, name) for name in _HEAD), _columns(deck.slips)])
        blocks = _line(deck.blocks)
        part = entry.with_suffix(f".{os.getpid()}")
        with contextlib.suppress(OSError):
            self.folder.mkdir(parents=True, exist_ok=True)
            try:
                part.write_bytes(self._seal(file, head, blocks) + head + blocks)
                part.replace(entry)
            except OSError:
                part.unlink(missing_ok=True)

    def _entry(self, file: DeckFile) -> Path:
        key = f"{file.path.absolute()}\0{file.path}\0{file.name}"
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
        return self.folder / f"{digest}.json"

    def _seal(self, file: DeckFile, head: bytes, blocks: bytes) -> bytes:
        checksum = zlib.crc32(blocks, zlib.crc32(head))
        return _line([VERSION, self.table, file.size, file.mtime_ns, checksum])


class _Blocks(Sequence[Prose | Card]):
    """The blocks of one entry, made when one of them is first looked at."""

    def __init__(self, text: bytes) -> None:
        self._text = text

    @cached_property
    def _made(self) -> tuple[Prose | Card, ...]:
        return tuple(Prose(*row) if len(row) == 2 else _card(row) for row in json.loads(self._text))

    def __getitem__(self, at: Any) -> Any:
        return self._made[at]

    def __len__(self) -> int:
        return len(self._made)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._made == tuple(other)

    def __hash__(self) -> int:
        return hash(self._made)


def _line(value: object) -> bytes:
    """JSON, with named tuples as the lists of their fields, and a dataclass as that of its own."""
    return json.dumps(value, default=_row, separators=(",", ":")).encode("ascii") + b"\n"


def _row(value: Any) -> list[object]:
    return [getattr(value, name) for name in value.__slots__]


_HEAD = [field.name for field in fields(Deck) if field.name not in ("blocks", "slips")]


def _columns(slips: Sequence[Slip]) -> list[list[Any]]:
    """Slips field by field, one value for a field that is the same in all.

    So a start reads half as much, and the slips of a deck share its name, not each with a copy of its own.
    """
    columns = [list(column) for column in zip(*slips, strict=True)]
    return [column[:1] if len(set(column)) == 1 else column for column in columns]


def _slips(columns: list[list[Any]]) -> tuple[Slip, ...]:
    count = max(map(len, columns), default=0)
    whole = [column if len(column) == count else column * count for column in columns]
    return tuple(map(Slip._make, zip(*whole, strict=True)))


def _deck(head: list[Any], blocks: Sequence[Prose | Card]) -> Deck:
    name, title, path, beat, tags, checks, faults, terms, columns = head
    return Deck(
        name,
        title,
        path,
        blocks,
        _beat(*beat) if beat else None,
        tuple(tags),
        tuple(Check(*check) for check in checks),
        tuple(Fault(Place(*place), what, cure, warning) for place, what, cure, warning in faults),
        tuple(Term(name, tuple(aliases), text, Place(*place)) for name, aliases, text, place in terms),
        _slips(columns),
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
