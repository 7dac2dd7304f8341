"""Markdown lists of a section, item by item, and whatever stands there outside of them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from fatutor.deck.scan import Line, LineKind

_MARKER = re.compile(r"( {0,3}(?:[-*+]|\d{1,9}[.)]))([ \t]+|$)")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")


@dataclass(slots=True)
class Item:
    """One item: the line of its marker, and its lines without marker and indentation."""

    line: int
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """The item as Markdown of its own."""
        return "\n".join(self.lines).strip()

    @property
    def one_line(self) -> str:
        """The item with its wrapped lines joined."""
        return " ".join(" ".join(self.lines).split())

    @property
    def is_paragraph(self) -> bool:
        """Whether it is one paragraph only, so that joining its lines loses nothing."""
        for line in self.text.split("\n"):
            if not line.strip() or _MARKER.match(line) or _opens_fence(line):
                return False
        return True


def is_rule(text: str) -> bool:
    """Whether the line is a thematic break, such as `---`."""
    return text.lstrip(" ")[:1] in ("-", "*", "_") and bool(_RULE.match(text))


def items(lines: Sequence[Line]) -> tuple[list[Item], list[Line]]:
    """The items of the list in `lines`, and the lines with text that belong to none of them.

    As in CommonMark, an item goes on with lines that are indented as far as its text; an unindented line
    right below it is a wrapped line of it, unless a blank one stands between.
    """
    found: list[Item] = []
    strays: list[Line] = []
    item: Item | None = None
    indent, after_blank = 0, True
    for line in lines:
        if line.kind is LineKind.COMMENT:
            continue
        if not line.text.strip():
            after_blank = True
            if item:
                item.lines.append("")
            continue
        is_text = line.kind is LineKind.TEXT and not is_rule(line.text)
        if item and _indent(line.text) >= indent:
            item.lines.append(_dedent(line.text, indent))
        elif is_text and (marker := _MARKER.match(line.text)):
            gap = len(marker[2].expandtabs(4))
            indent = len(marker[1]) + (gap if 1 <= gap <= 4 else 1)
            item = Item(line.number, [line.text[marker.end() :].strip()])
            found.append(item)
        elif item and is_text and not after_blank:
            item.lines.append(line.text.strip())
        else:
            strays.append(line)
            item = None
        after_blank = False
    return found, strays


def _indent(text: str) -> int:
    if text[:1] not in (" ", "\t"):
        return 0
    lead = text[: len(text) - len(text.lstrip(" \t"))]
    return len(lead.expandtabs(4))


def _dedent(text: str, width: int) -> str:
    bare = text.lstrip(" \t")
    return " " * (_indent(text) - width) + bare


def _opens_fence(text: str) -> bool:
    return text.lstrip().startswith(("```", "~~~"))
