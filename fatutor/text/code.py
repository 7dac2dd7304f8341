"""Code blocks: coloured by the language they name, and folded where a line is too long."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING

from fatutor.text.clean import clean_line
from fatutor.text.spans import Line, Span, Style, plain
from fatutor.text.wrap import NARROWEST, cells, cut, slices, wrap

if TYPE_CHECKING:
    from pygments.lexer import Lexer

CHECK = "check"
"""The language of arithmetic claims: Python expressions, one a line, each of which must be true."""

_TAB = 4
_LONGEST = (
    20_000  # characters; a lexer may take far more than linear time, and nobody reads that for its colours
)
_BREAKS = (" #", " == ", " ")  # before a remark, before what a claim comes to, between words
_STYLES = (
    ("Token.Keyword", Style.CODE_KEYWORD),
    ("Token.Operator.Word", Style.CODE_KEYWORD),
    ("Token.Comment.Preproc", Style.CODE_KEYWORD),
    ("Token.Name.Function", Style.CODE_FUNCTION),
    ("Token.Name.Class", Style.CODE_FUNCTION),
    ("Token.Name.Decorator", Style.CODE_FUNCTION),
    ("Token.Name", Style.CODE_NAME),
    ("Token.Literal.String", Style.CODE_STRING),
    ("Token.Literal.Number", Style.CODE_NUMBER),
    ("Token.Comment", Style.CODE_COMMENT),
    ("Token.Operator", Style.CODE_OPERATOR),
)


def code_lines(code: str, info: str, width: int) -> list[Line]:
    """A block indented by two; the first word of `info` names its language.

    Where a line is folded, ↪ takes the place of the indent; claims (`check`) have an equals sign there. What
    else `info` says, and a language that no lexer goes by, stands above the block.
    """
    info = clean_line(info)
    language, _, remark = info.partition(" ")
    lexer = _lexer("python" if language == CHECK else language.lower())
    lines = wrap([Span(remark if lexer else info, Style.DIM)], width)
    indented = width - 2 >= NARROWEST
    for row in _rows(code.rstrip("\n").expandtabs(_TAB), lexer):
        mark = "= " if language == CHECK and row else "  "
        for part in _folded(row, width - 2 if indented else width):
            lines.append((Span(mark, Style.DIM), *part) if indented else part)
            mark = "↪ "
    return lines


def _rows(code: str, lexer: Lexer | None) -> Iterator[list[Span]]:
    """The styled spans of each line of the code."""
    row: list[Span] = []
    for text, style in _spans(code, lexer):
        first, *rest = text.split("\n")
        if first:
            row.append(Span(first, style))
        for part in rest:
            yield row
            row = [Span(part, style)] if part else []
    yield row


def _spans(code: str, lexer: Lexer | None) -> list[Span]:
    if lexer and len(code) <= _LONGEST:
        spans = [Span(text, _style(str(token))) for token, text in lexer.get_tokens(code)]
        if plain(spans) == code:  # a lexer colours; it must not edit
            return spans
    return [Span(code, Style.CODE)]


def _folded(row: list[Span], room: int) -> list[Line]:
    """The line in parts of at most `room` cells, every character kept, broken at a good place."""
    text = plain(row)
    if cells(text) <= room:
        return [tuple(row)]
    ranges: list[tuple[int, int]] = []
    start = 0
    while start < len(text):
        end = cut(text, start, room)
        if end < len(text):
            near = (start + end) // 2
            spaces = (text.rfind(before, near, end + len(before) - 1) for before in _BREAKS)
            end = next((space + 1 for space in spaces if space >= 0), end)
        ranges.append((start, end))
        start = end
    return list(slices(row, ranges))


@lru_cache(maxsize=32)
def _lexer(language: str) -> Lexer | None:
    """By name, never guessed from the code. Pygments loads with the first block that names a language."""
    if not language:
        return None
    from pygments.lexers import get_all_lexers, get_lexer_by_name

    if not any(language in aliases for _, aliases, _, _ in get_all_lexers(plugins=False)):
        return None
    return get_lexer_by_name(language, stripnl=False, ensurenl=False)


@lru_cache(maxsize=256)
def _style(token: str) -> Style:
    return next((style for prefix, style in _STYLES if token.startswith(prefix)), Style.CODE)
