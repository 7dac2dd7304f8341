"""Ids for cards that have none, written into their comments; nothing else in a deck file changes."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import tempfile
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from fatutor.deck import attributes, front_matter, outline
from fatutor.deck.card import title
from fatutor.deck.faults import Faults
from fatutor.deck.files import read_text
from fatutor.deck.model import Fault, Place
from fatutor.deck.scan import LineKind, scan, unify
from fatutor.errors import FatutorError

_LINE_END = re.compile(r"\r\n|\r|\n")
_COMMENT = re.compile(r" {0,3}<!--\s*card(?![\w-])")
_LONGEST = 64 - len("-1f2e")  # of a slug


@dataclass(frozen=True, slots=True)
class Stamped:
    """An id that was written, and where."""

    id: str
    place: Place

    def __str__(self) -> str:
        return f"{self.id} (line {self.place.line})"


def stamp(path: Path, taken: Collection[str] = ()) -> list[Stamped]:
    """Write an id into every card comment of a deck that has none, and say which.

    An id is the card's title in ASCII and four hex digits of its words, unlike those in the file and those
    `taken` elsewhere. All other bytes stay, the file's mode too, and a reader meets the old file or the new
    one, never half of it. A file that is no deck is left alone. Raises FatutorError where it cannot be read
    or written.
    """
    text = read_text(path)
    if isinstance(text, Fault):
        raise FatutorError(f"{path} cannot be stamped: {text.what}", text.cure)
    starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
    parts: list[str] = []
    stamped: list[Stamped] = []
    done = 0
    for number, identity in _missing(text, set(taken)):
        comment = _COMMENT.match(text, starts[number - 1])
        if comment is None:  # control characters in the middle of it, which reading leaves out
            continue
        parts += (text[done : comment.end()], f" id={identity}")
        done = comment.end()
        stamped.append(Stamped(identity, Place(str(path), number)))
    if stamped:
        _replace(path, "".join((*parts, text[done:])))
    return stamped


def _missing(text: str, taken: set[str]) -> Iterator[tuple[int, str]]:
    """The line of each card comment without an id, and an id for it."""
    split = front_matter.split(unify(text))
    if split is None or not front_matter.read(split.yaml, Faults("")).known_format:
        return
    without: list[tuple[int, str, str]] = []
    for stretch in outline.stretches(scan(split.body, split.first).lines):
        at = outline.card_comment(stretch)
        if at is None or stretch[at].kind is not LineKind.CARD:
            continue
        pairs = attributes.pairs(stretch[at].value, 0, Faults(""))
        if "id" in pairs:
            taken.add(pairs["id"])
        else:
            words = "\n".join(line.text for line in stretch)
            without.append((stretch[at].number, title(stretch[0].value), words))
    for number, name, words in without:
        identity = _identity(name, words, taken)
        taken.add(identity)
        yield number, identity


def _identity(name: str, words: str, taken: Collection[str]) -> str:
    plain = unicodedata.normalize("NFKD", name).encode("ascii", "ignore").decode("ascii").lower()
    slug = re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST].rstrip("-") or "card"
    attempt = 0
    while True:
        digest = hashlib.blake2b(f"{attempt}\n{words}".encode(), digest_size=2).hexdigest()
        if (identity := f"{slug}-{digest}") not in taken:
            return identity
        attempt += 1


def _replace(path: Path, text: str) -> None:
    """Put a new text in the place of a file, all at once; a link stays and what it leads to changes."""
    target = path.resolve()
    part: str | None = None
    try:
        if not os.access(target, os.W_OK):
            raise PermissionError("it is read-only")
        handle, part = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
        with os.fdopen(handle, "wb") as file:
            file.write(text.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        shutil.copymode(target, part)
        Path(part).replace(target)
    except OSError as error:
        if part:
            with contextlib.suppress(OSError):
                Path(part).unlink()
        reason = error.strerror or str(error)
        raise FatutorError(
            f"{path} cannot be written ({reason.lower()})", "check its permissions and the disk"
        ) from error
