"""Lines of a deck with what each of them is, so that a `## heading` in a code fence stays code.

Follows CommonMark where it matters: a fence has three or more backticks or tildes, at most three spaces
before it, and ends with a fence at least as long; a line such as ```` ``` text ``` ```` opens none. A comment
over several lines hides what it holds. Headings are those with number signs; underlined ones are prose here.
"""

from __future__ import annotations

import re
from enum import Enum, auto
from typing import NamedTuple

from fatutor.text.clean import clean

_FIRST = frozenset(" #`~<")  # what a line begins with that may be more than text
_HEADING = re.compile(r"(#{1,6})(?:[ \t]|$)")
_FENCE = re.compile(r"(`{3,})([^`]*)$|(~{3,})(.*)$")
_CARD = re.compile(r"<!--\s*card(?![\w-])(?:(.*?)-->[ \t]*$)?")


class LineKind(Enum):
    TEXT = auto()
    HEADING = auto()  # `value` is its text, `level` the number of signs
    CARD = auto()  # a card comment; `value` is what stands in it
    BAD_CARD = auto()  # a card comment that does not end where its line does
    COMMENT = auto()  # any other comment that begins a line: for authors, never shown
    FENCE = auto()  # the line that opens a fence; `value` is its info string
    CODE = auto()  # what stands in a fence
    FENCE_END = auto()


class Line(NamedTuple):
    """One line: its number from 1, its text without the line end, and what it is."""

    number: int
    text: str
    kind: LineKind = LineKind.TEXT
    value: str = ""
    level: int = 0

    @property
    def blank(self) -> bool:
        return self.kind is LineKind.COMMENT or (self.kind is LineKind.TEXT and not self.text.strip())


class Scan(NamedTuple):
    """All lines, and where a fence or a comment opens that the file never closes (0: there is none)."""

    lines: tuple[Line, ...]
    open_fence: int = 0
    open_comment: int = 0


def unify(text: str) -> str:
    """The text as it is read: no byte order marks, `\\n` as the line end, nothing that acts on a terminal.

    Line numbers stay what an editor shows; Unicode line separators, which few editors count, become spaces.
    """
    text = text.replace("\ufeff", "").replace("\r\n", "\n").replace("\r", "\n")
    return clean(text.replace("\u2028", " ").replace("\u2029", " "))


def scan(text: str, first: int = 1) -> Scan:
    """Tell what each line is. `text` has been through `unify`; its first line counts as number `first`."""
    lines: list[Line] = []
    fence, fence_line, comment_line = "", 0, 0
    for number, text_line in enumerate(text.split("\n"), first):
        if text_line[:1] not in _FIRST and not fence_line and not comment_line:
            lines.append(Line(number, text_line))  # most lines, and the fastest way past them
            continue
        if fence_line:
            ends = _ends(fence, text_line)
            line = Line(number, text_line, LineKind.FENCE_END if ends else LineKind.CODE)
            fence_line = 0 if ends else fence_line
        elif comment_line:
            line = Line(number, text_line, LineKind.COMMENT)
            comment_line = 0 if "-->" in text_line else comment_line
        else:
            line = _line(number, text_line)
            if line.kind is LineKind.FENCE:
                bare = text_line.lstrip(" ")
                fence, fence_line = bare[: len(bare) - len(bare.lstrip(bare[0]))], number
            elif line.kind in (LineKind.COMMENT, LineKind.BAD_CARD) and "-->" not in text_line:
                comment_line = number
        lines.append(line)
    return Scan(tuple(lines), fence_line, comment_line)


def _line(number: int, text: str) -> Line:
    """What a line is that stands in no fence and in no comment."""
    bare = text.lstrip(" ")
    if bare[:1] not in ("#", "`", "~", "<") or len(text) - len(bare) > 3:
        return Line(number, text)
    if heading := _HEADING.match(bare):
        return Line(number, text, LineKind.HEADING, _heading_text(bare), len(heading[1]))
    if fence := _FENCE.match(bare):
        return Line(number, text, LineKind.FENCE, (fence[2] or fence[4] or "").strip())
    if card := _CARD.match(bare):
        return Line(number, text, LineKind.BAD_CARD if card[1] is None else LineKind.CARD, card[1] or "")
    return Line(number, text, LineKind.COMMENT if bare.startswith("<!--") else LineKind.TEXT)


def _ends(fence: str, text: str) -> bool:
    """Whether a line closes the fence that `fence` opened."""
    bare = text.lstrip(" ")
    return len(text) - len(bare) <= 3 and bare.startswith(fence) and not bare.strip(fence[0] + " \t")


def _heading_text(bare: str) -> str:
    """The words of a heading line, without the signs before and after them."""
    words = bare.lstrip("#").strip()
    trimmed = words.rstrip("#")
    return trimmed.rstrip() if not trimmed or trimmed[-1] in " \t" else words
