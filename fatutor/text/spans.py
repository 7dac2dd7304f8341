"""What a laid-out page is made of: styled runs of text, in lines."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple


class Style(StrEnum):
    """What a run of text is; how it looks is up to whoever draws it. Nested, the innermost counts."""

    TEXT = "text"
    HEADING1 = "heading1"
    HEADING2 = "heading2"
    HEADING3 = "heading3"  # levels 3 to 6
    STRONG = "strong"
    EM = "em"
    CODE = "code"  # inline code, and what no lexer names in a block
    MATH = "math"
    QUOTE = "quote"  # the bar of a block quote and its plain text
    DIM = "dim"  # marks that are not the author's words: addresses, gutters, struck text
    LINK = "link"
    RULE = "rule"  # horizontal lines
    TABLE_HEAD = "table.head"
    CODE_KEYWORD = "code.keyword"
    CODE_STRING = "code.string"
    CODE_NUMBER = "code.number"
    CODE_COMMENT = "code.comment"
    CODE_FUNCTION = "code.function"
    CODE_NAME = "code.name"
    CODE_OPERATOR = "code.operator"


class Span(NamedTuple):
    """A run of text in one style. On a page it holds no line end, no tab and no control character."""

    text: str
    style: Style = Style.TEXT


Line = tuple[Span, ...]
"""One line of a page, without spaces at its end; () is a blank one."""


def plain(spans: Iterable[Span]) -> str:
    """The text of the spans without their styles."""
    return "".join(span.text for span in spans)


def tidy(line: Line) -> Line:
    """The line with neighbours of one style merged, and without empty runs or spaces at its end."""
    merged: list[Span] = []
    for text, style in line:
        if merged and merged[-1].style == style:
            merged[-1] = Span(merged[-1].text + text, style)
        elif text:
            merged.append(Span(text, style))
    while merged:
        text, style = merged.pop()
        if text := text.rstrip(" "):
            merged.append(Span(text, style))
            break
    return tuple(merged)
