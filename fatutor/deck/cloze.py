"""Gaps in a text: `{{c1::text}}` or `{{c1::text::hint}}`, outside code and math.

A gap may hold a whole `$formula$` or `` `code` ``, braces and colons included: while the end of a gap is
looked for, those are stepped over as units.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from fatutor.deck.faults import Faults, quoted
from fatutor.deck.scan import Line, LineKind

_GAP = re.compile(r"\{\{c(\d{1,3})::")
_STOP = re.compile(r"\\|`+|\$+|\{\{c\d{1,3}::|\}\}|::|\n[ \t]*\n")
_LONGEST = 1000  # characters of a gap, a formula or a code span; keeps reading linear in the text
_CODE = (LineKind.FENCE, LineKind.CODE, LineKind.FENCE_END)


class Gap(NamedTuple):
    """One gap: its number, what stands in it, the hint ("" for none), and where it is in the source."""

    number: int
    text: str
    hint: str
    start: int
    end: int


class Variant(NamedTuple):
    """What one card of a cloze asks: the text with the gaps of that number open, and with all gaps filled."""

    number: int
    prompt: str
    answer: str


def variants(lines: Sequence[Line], faults: Faults) -> list[Variant]:
    """One variant for each gap number, lowest first. Whatever cannot be read is noted in `faults`."""
    source = "\n".join(line.text for line in lines)
    gaps = _gaps(lines, source, faults)
    answer = _fill(source, gaps, hidden=0)
    return [
        Variant(number, _fill(source, gaps, hidden=number), answer)
        for number in sorted({gap.number for gap in gaps})
    ]


def has_gaps(lines: Sequence[Line]) -> bool:
    """Whether some line outside fences looks as if it held a gap."""
    return any(_GAP.search(line.text) for line in lines if line.kind not in _CODE)


def _fill(source: str, gaps: Sequence[Gap], hidden: int) -> str:
    parts: list[str] = []
    done = 0
    for gap in gaps:
        shown = gap.text if gap.number != hidden else f"[{gap.hint or '…'}]"
        parts += (source[done : gap.start], shown)
        done = gap.end
    return "".join((*parts, source[done:]))


def _gaps(lines: Sequence[Line], source: str, faults: Faults) -> list[Gap]:
    gaps: list[Gap] = []
    for start, end in _stretches(lines):
        position = start
        while stop := _STOP.search(source, position, end):
            position = after = _after(source, stop, end)
            if not (opening := _GAP.match(stop[0])):
                if stop[0][0] == "$" and (lost := _GAP.search(source, stop.start(), after)):
                    faults.warn(
                        _line(lines, source, lost.start()),
                        "a gap inside a formula stays closed",
                        "put the gap around the whole formula: {{c1::$…$}}",
                    )
                continue
            line = _line(lines, source, stop.start())
            inside = _inside(source, stop.end(), min(end, stop.end() + _LONGEST))
            if inside is None:
                start = quoted(source[stop.start() : min(end, stop.end() + 80)])
                faults.fault(line, f"the gap {start} is never closed", "end it with }}")
                return gaps
            text, hint, position = inside
            if _GAP.search(text) or _GAP.search(hint):
                faults.fault(
                    line, "a gap stands inside another one", "end the first with }} before the second"
                )
            elif not text.strip() or int(opening[1]) == 0:
                faults.fault(line, "a gap is empty or has the number 0", "write {{c1::what is asked for}}")
            else:
                gaps.append(Gap(int(opening[1]), text, hint.strip(), stop.start(), position))
    return gaps


def _stretches(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """The spans of the joined lines that stand in no fence."""
    start = position = 0
    for line in lines:
        if line.kind in _CODE:
            if start < position:
                yield start, position
            start = position + len(line.text) + 1
        position += len(line.text) + 1
    if start < position:
        yield start, position - 1


def _after(source: str, stop: re.Match[str], end: int) -> int:
    """Where reading goes on: behind the escape, code or formula that begins here, else behind the sign."""
    sign = stop[0]
    if sign == "\\":
        return stop.end() + 1
    if sign[0] == "`":
        closing = re.compile(rf"(?<!`){sign}(?!`)|\n[ \t]*\n")
    elif sign == "$$":
        closing = re.compile(r"\$\$|\n[ \t]*\n")
    elif sign == "$" and not source[stop.end() : stop.end() + 1].isspace():
        # A dollar before a digit closes nothing, nor does one after a space: "costs $5 and $6" is plain text.
        closing = re.compile(r"(?<![\s\\])\$(?!\d)|\n[ \t]*\n")
    else:
        return stop.end()
    found = closing.search(source, stop.end(), min(end, stop.end() + _LONGEST))
    if found is None or found[0][0] == "\n":
        return stop.end()
    # "It costs $5, and {{c1::$x$}} more": what opens a gap without closing it is no formula.
    opened = _GAP.search(source, stop.end(), found.start()) if sign[0] == "$" else None
    return stop.end() if opened and "}}" not in source[opened.end() : found.start()] else found.end()


def _inside(source: str, start: int, end: int) -> tuple[str, str, int] | None:
    """Text, hint and end of the gap whose text begins at `start`, or None where nothing closes it."""
    position, hint_at = start, None
    while stop := _STOP.search(source, position, end):
        if stop[0] == "}}":
            text_end = stop.start() if hint_at is None else hint_at
            return source[start:text_end], source[text_end + 2 : stop.start()], stop.end()
        if stop[0][0] == "\n":
            return None
        if stop[0] == "::" and hint_at is None:
            hint_at = stop.start()
        position = _after(source, stop, end)
    return None


def _line(lines: Sequence[Line], source: str, position: int) -> int:
    return lines[source.count("\n", 0, position)].number
