"""The YAML between two `---` lines at the top of a deck: split off, read, and judged key by key."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import yaml

from fatutor.deck.faults import Faults, listed, nearest, quoted
from fatutor.deck.model import Beat, Track
from fatutor.deck.scan import unify
from fatutor.text.clean import clean_line

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # the C one is several times faster, where it exists

FORMAT = 1
_BEAT_KEYS = ("module", "beat", "kind", "minutes", "path", "outcome")
_KEYS = ("fatutor", "title", "tags", "glossary", *_BEAT_KEYS)
_EXAMPLES = {
    "fatutor": f"fatutor: {FORMAT}",
    "title": "title: what the deck is about",
    "tags": "tags: [io, roofline]",
    "glossary": "glossary: true, or leave it out",
    "module": "module: the title that all its beats share",
    "beat": "beat: 1",
    "kind": "kind: concept",
    "minutes": "minutes: 5",
    "path": "path: core, or path: deep-dive",
    "outcome": "outcome: what a reader can do afterwards",
}


class Split(NamedTuple):
    """A deck's text in two: the YAML, which begins at line 2, and the body, which begins at line `first`."""

    yaml: str
    body: str
    first: int
    closed: bool = True


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter says; whatever was missing or wrong is empty here and a fault elsewhere.

    `beat` lacks its gate as yet, since only the cards can tell it. `known_format` is false for a file
    that announces another version of the format, whose body had better not be read.
    """

    title: str = ""
    tags: tuple[str, ...] = ()
    beat: Beat | None = None
    is_lesson: bool = False  # some key of a beat is there, readable or not
    is_glossary: bool = False
    known_format: bool = True


class _Entry(NamedTuple):
    value: object
    raw: str
    line: int


def opens(text: str) -> bool:
    """Whether a text as it stands in its file begins with front matter."""
    return unify(text[:100]).split("\n")[0].rstrip() == "---"


def split(text: str) -> Split | None:
    """Split front matter from body, or None where the text does not open with a `---` line.

    `text` has been through `scan.unify`. Only `---` closes the front matter; a rule further down is prose.
    """
    lines = text.split("\n")
    if lines[0].rstrip() != "---":
        return None
    for index, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return Split("\n".join(lines[1:index]), "\n".join(lines[index + 1 :]), index + 2)
    return Split("\n".join(lines[1:]), "", len(lines) + 1, closed=False)


def read(text: str, faults: Faults) -> FrontMatter:
    """Read the YAML of a `Split`, noting in `faults` every key that is missing, ill-typed or unknown."""
    entries = _entries(text, faults)
    if entries is None:
        return FrontMatter()
    for key, entry in entries.items():
        if key not in _KEYS:
            meant = nearest(key, _KEYS)
            cure = f"did you mean {meant}?" if meant else f"the keys are {listed(_KEYS)}"
            faults.warn(entry.line, f"unknown key {quoted(key)} in the front matter", cure)
    fields = _Fields(entries, faults)
    version = fields.number("fatutor")
    known = version in (None, FORMAT)
    if not known:
        faults.fault(
            entries["fatutor"].line,
            f"this deck is written in format {version}, and only format {FORMAT} is known here",
            "install a newer fatutor",
        )
    title = fields.text("title")
    tags = fields.tags()
    is_glossary = fields.glossary()
    is_lesson = any(key in entries for key in _BEAT_KEYS)
    beat = _beat(fields) if is_lesson else None
    return FrontMatter(title, tags, beat, is_lesson, is_glossary, known)


def _beat(fields: _Fields) -> Beat | None:
    before = fields.faults.count
    beat = Beat(
        module=fields.text("module"),
        number=fields.number("beat") or 0,
        kind=fields.text("kind"),
        minutes=fields.number("minutes") or 0,
        track=fields.track() or Track.CORE,
        outcome=fields.text("outcome"),
        gate="",
    )
    return beat if fields.faults.count == before else None


@dataclass(frozen=True, slots=True)
class _Fields:
    """The entries, read by type; a value of the wrong type is a fault and reads as empty."""

    entries: Mapping[str, _Entry]
    faults: Faults

    def text(self, key: str) -> str:
        if (entry := self._entry(key)) is None:
            return ""
        if isinstance(entry.value, str) and (value := clean_line(entry.value).strip()):
            return value
        cure = f'write {key}: "{entry.raw}"' if entry.raw.strip() else f"write {_EXAMPLES[key]}"
        self.faults.fault(entry.line, f"{key} is not text", cure)
        return ""

    def number(self, key: str) -> int | None:
        if (entry := self._entry(key)) is None:
            return None
        if type(entry.value) is int and entry.value > 0:
            return entry.value
        self.faults.fault(entry.line, f"{key} is not a whole number from 1", f"write {_EXAMPLES[key]}")
        return None

    def track(self) -> Track | None:
        if (entry := self._entry("path")) is None:
            return None
        if entry.value in list(Track):
            return Track(str(entry.value))
        self.faults.fault(entry.line, f"path is {quoted(entry.raw)}", f"write {_EXAMPLES['path']}")
        return None

    def tags(self) -> tuple[str, ...]:
        entry = self.entries.get("tags")
        if entry is None or entry.value is None:
            return ()
        value = entry.value
        if isinstance(value, list) and all(isinstance(tag, str) and tag.strip() for tag in value):
            return tuple(dict.fromkeys(clean_line(tag).strip() for tag in value))
        self.faults.fault(entry.line, "tags is not a list of words", f"write {_EXAMPLES['tags']}")
        return ()

    def glossary(self) -> bool:
        entry = self.entries.get("glossary")
        if entry is None:
            return False
        if entry.value is not True:
            self.faults.fault(entry.line, "glossary is not true", f"write {_EXAMPLES['glossary']}")
        elif lesson := next((key for key in _BEAT_KEYS if key in self.entries), None):
            what = f"a glossary is no beat, and this one says {lesson}"
            self.faults.fault(self.entries[lesson].line, what, "move the terms to a file of their own")
        return entry.value is True

    def _entry(self, key: str) -> _Entry | None:
        entry = self.entries.get(key)
        if entry is None:
            self.faults.fault(1, f"the front matter has no {key}", f"write {_EXAMPLES[key]}")
        return entry


def _entries(text: str, faults: Faults) -> dict[str, _Entry] | None:
    """The top level of the mapping, or None (and a fault) where it is none."""
    loader = _Loader(text)
    entries: dict[str, _Entry] = {}
    line = 2
    try:
        node = loader.get_single_node()
        if node is None:
            return entries
        if not isinstance(node, yaml.MappingNode):
            faults.fault(
                2, "the front matter is no list of keys", f"write lines such as {_EXAMPLES['title']}"
            )
            return None
        for key_node, value_node in node.value:
            line = key_node.start_mark.line + 2
            key = clean_line(str(loader.construct_object(key_node, deep=True)))
            if key in entries:
                faults.fault(
                    line, f"{key} is there twice", f"keep one; the other is on line {entries[key].line}"
                )
                continue
            raw = value_node.value if isinstance(value_node, yaml.ScalarNode) else ""
            entries[key] = _Entry(loader.construct_object(value_node, deep=True), clean_line(raw), line)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or "it is not YAML"
        faults.fault(
            mark.line + 2 if mark else line,
            f"the front matter cannot be read ({clean_line(str(problem))})",
            'put a value in quotes if it holds ": " or begins with a sign, as in title: "Why: the bytes"',
        )
        return None
    except (ValueError, OverflowError, RecursionError):  # such as a date in month 13
        faults.fault(line, "the front matter holds a value that YAML cannot read", "put the value in quotes")
        return None
    finally:
        loader.dispose()
    return entries
