"""A card's lines taken apart: the prompt, and the level-3 sections with what each of them has to hold."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fatutor.deck.faults import Faults, listed, nearest, quoted
from fatutor.deck.lists import Item, is_rule, items
from fatutor.deck.model import Check, Choice, KeyPoint
from fatutor.deck.outline import CARD_COMMENTS
from fatutor.deck.scan import Line, LineKind

NAMES = ("Answer", "Key points", "Not quite", "Follow-up", "Check", "Choices", "Hint", "Source")

_CRITICAL = re.compile(r"\s*(\*\*|__)?\\?\[critical\\?\](?(1)\1)\.?$", re.IGNORECASE)
_BOX = re.compile(r"\[([ xX])\]\s+(?=\S)")


@dataclass(frozen=True, slots=True)
class Sections:
    """The lines before the first section, those of each section by its name, and where each begins.

    `checks` are all that the card makes, wherever they stand in it.
    """

    body: Sequence[Line]
    named: Mapping[str, Sequence[Line]]
    lines: Mapping[str, int]
    checks: tuple[Check, ...]

    def __contains__(self, name: str) -> bool:
        return name in self.named

    def __getitem__(self, name: str) -> Sequence[Line]:
        return self.named.get(name, ())


def split(lines: Sequence[Line], faults: Faults) -> Sections:
    """Take the lines below a card comment apart; a section unknown, empty or there twice is a fault."""
    lines = _without_last_rule(lines)
    body: list[Line] = []
    named: dict[str, Sequence[Line]] = {}
    numbers: dict[str, int] = {}
    current = body
    for line in lines:
        if line.kind is LineKind.HEADING and line.level == 3:
            current = []
            if _is_new_section(line, numbers, faults):
                named[line.value], numbers[line.value] = current, line.number
            continue
        if line.kind in CARD_COMMENTS:
            cure = "give the card a level-2 heading (## …) right above its comment"
            faults.fault(line.number, "a card comment stands within a card", cure)
        current.append(line)
    _warn_of_text_after_rule(current, faults)
    for name, below in named.items():
        if not text(below):
            cure = "write something below it, or take it out"
            faults.fault(numbers[name], f"the section {name} is empty", cure)
    return Sections(body, named, numbers, checks(lines, faults, in_card=True))


def _is_new_section(line: Line, numbers: Mapping[str, int], faults: Faults) -> bool:
    if line.value in numbers:
        what = f"the section {quoted(line.value)} is there twice"
        faults.fault(line.number, what, f"join it with the one on line {numbers[line.value]}")
        return False
    if line.value not in NAMES:
        meant = nearest(line.value, NAMES)
        other = f"a card has the sections {listed(NAMES)}; use #### within one"
        cure = f"write ### {meant}" if meant else other
        faults.fault(line.number, f"a card has no section {quoted(line.value)}", cure)
        return False
    return True


def text(lines: Iterable[Line]) -> str:
    """The lines as Markdown, without comments for authors and without blank lines at both ends."""
    shown = [line.text for line in lines if line.kind is not LineKind.COMMENT]
    first, last = 0, len(shown)
    while first < last and not shown[first].strip():
        first += 1
    while first < last and not shown[last - 1].strip():
        last -= 1
    return "\n".join(shown[first:last])


def key_points(lines: Sequence[Line], faults: Faults) -> tuple[KeyPoint, ...]:
    points: list[KeyPoint] = []
    for item in _list("Key points", lines, faults):
        line = _one_line("a key point", item, faults)
        marked = _CRITICAL.search(line) if "]" in line else None
        line = line[: marked.start()] if marked else line
        if not line:
            faults.fault(
                item.line, "a key point is empty", "write what a good answer says, or take the line out"
            )
        if "[critical]" in line:
            faults.fault(item.line, "[critical] stands within a key point", "put **[critical]** at its end")
        points.append(KeyPoint(line, critical=marked is not None))
    return tuple(points)


def choices(lines: Sequence[Line], faults: Faults) -> tuple[Choice, ...]:
    found: list[Choice] = []
    for item in _list("Choices", lines, faults):
        line = _one_line("a choice", item, faults)
        if box := _BOX.match(line):
            found.append(Choice(line[box.end() :], right=box[1] != " "))
        else:
            faults.fault(
                item.line, f"the choice {quoted(line)} has no box", "write - [ ] before it, - [x] if right"
            )
    return tuple(found)


def not_quite(lines: Sequence[Line], faults: Faults) -> tuple[str, ...]:
    return tuple(item.text for item in _list("Not quite", lines, faults) if item.text)


def follow_ups(lines: Sequence[Line], faults: Faults) -> tuple[str, ...]:
    """The items of a list, or the paragraphs of plain text."""
    found, strays = items(lines)
    if found and strays:
        what = "a follow-up is both a list and text beside it"
        faults.fault(strays[0].number, what, "make every follow-up an item, or write paragraphs only")
    if found:
        return tuple(item.text for item in found if item.text)
    return tuple(
        paragraph.strip("\n") for paragraph in re.split(r"\n(?:[ \t]*\n)+", text(lines)) if paragraph.strip()
    )


def checks(lines: Iterable[Line], faults: Faults, *, in_card: bool) -> tuple[Check, ...]:
    """The expressions in fences that open with ```` ```check ````, and in a card also all code, fenced or
    indented by four, of its section Check, where anything else would be lost.
    """
    found: list[Check] = []
    in_section = in_fence = False
    for line in lines:
        kind = line.kind
        if kind is LineKind.CODE:
            if in_section or in_fence:
                found += _check(line)
        elif kind is LineKind.FENCE:
            in_fence = line.value == "check"
        elif kind is LineKind.HEADING and line.level <= 3:
            in_section = in_card and line.value == "Check"
        elif in_section and kind in (LineKind.TEXT, LineKind.HEADING) and line.text.strip():
            if line.text.startswith(("    ", "\t")):
                found += _check(line)
            else:
                what = f"{quoted(line.text)} stands in a Check section outside of code"
                faults.fault(line.number, what, "indent it by four spaces, or write it as a # comment there")
    return tuple(found)


def _check(line: Line) -> list[Check]:
    expression, _, comment = line.text.partition("#")
    return [Check(expression.strip(), comment.strip(), line.number)] if expression.strip() else []


def _list(name: str, lines: Sequence[Line], faults: Faults) -> list[Item]:
    """The items of a section that must be one list; text beside it would be lost, so it is a fault."""
    found, strays = items(lines)
    strays = [line for line in strays if not is_rule(line.text)]
    if strays:
        what = f"{quoted(strays[0].text)} belongs to no item of the list under {name}"
        faults.fault(strays[0].number, what, "make it an item with - before it, or indent it below its item")
    return found


def _one_line(what: str, item: Item, faults: Faults) -> str:
    if not item.is_paragraph:
        cure = "write one sentence an item, all on one level"
        faults.fault(item.line, f"{what} is more than one paragraph", cure)
    return item.one_line


def _without_last_rule(lines: Sequence[Line]) -> Sequence[Line]:
    """A `---` that only parts a card from the next one is no part of it."""
    end = len(lines)
    while end and (lines[end - 1].blank or _is_rule(lines, end - 1)):
        end -= 1
    return lines[:end]


def _is_rule(lines: Sequence[Line], index: int) -> bool:
    """Whether a line is a thematic break; right under text, `---` underlines it instead."""
    line = lines[index]
    return line.kind is LineKind.TEXT and is_rule(line.text) and (index == 0 or lines[index - 1].blank)


def _warn_of_text_after_rule(lines: Sequence[Line], faults: Faults) -> None:
    for index, line in enumerate(lines):
        if _is_rule(lines, index):
            what = "the text below this rule still belongs to the card above"
            faults.warn(line.number, what, "give text between cards a heading of its own (## …)")
            return
