"""Markdown laid out as lines of styled text at a given width. Whatever was written is on the page.

The page knows nothing of a screen: a widget turns its spans into colours, the plain mode prints its text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from markdown_it.token import Token

from fatutor.text.clean import clean
from fatutor.text.code import code_lines
from fatutor.text.inline import inline
from fatutor.text.markdown import DEEPEST, parse
from fatutor.text.spans import Line, Span, Style, plain, tidy
from fatutor.text.tables import table_lines
from fatutor.text.tex import to_unicode
from fatutor.text.wrap import beside, cells, wrap

__all__ = ["Line", "Page", "Span", "Style", "layout"]

_HEADINGS = {"h1": Style.HEADING1, "h2": Style.HEADING2}
_BOX = re.compile(r"\[[ xX]\] ")
_SPACES = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Page:
    """Text that is ready to be drawn, line by line."""

    lines: tuple[Line, ...]

    @property
    def plain(self) -> str:
        """The page without its styles."""
        return "\n".join(map(plain, self.lines))


def layout(markdown: str, width: int) -> Page:
    """Lay Markdown out in lines of at most `width` cells; only a single wider grapheme may exceed that.

    Takes any text: it is cleaned, raw HTML shows as typed, and TeX between dollars becomes Unicode.
    """
    source = clean(markdown)
    lines = _Layout(source.split("\n")).blocks(parse(source), max(1, width), Style.TEXT)
    return Page(tuple(map(tidy, lines)))


class _Layout:
    """Lays out the blocks of one text. Each method returns lines that fit into the width it is given."""

    def __init__(self, source: list[str]) -> None:
        self.source = source

    def blocks(self, tokens: Sequence[Token], width: int, base: Style, tight: bool = False) -> list[Line]:
        """The blocks with a blank line between two, except in a tight list and under a minor heading."""
        lines: list[Line] = []
        close = True
        for token, inside in _siblings(tokens):
            block = self.block(token, inside, width, base)
            if lines and block and not close:
                lines.append(())
            lines += block
            close = tight or (token.type == "heading_open" and token.tag not in _HEADINGS)
        return lines

    def block(self, token: Token, inside: Sequence[Token], width: int, base: Style) -> list[Line]:
        match token.type:
            case "paragraph_open":
                return wrap(inline(inside[0], base), width)
            case "heading_open":
                return _heading(token, inside[0], width)
            case "blockquote_open" if token.level < DEEPEST - 1:
                bar = Span("▎ ", Style.QUOTE)
                return beside(bar, bar, width, lambda room: self.blocks(inside, room, Style.QUOTE))
            case "bullet_list_open" | "ordered_list_open" if token.level < DEEPEST - 2:
                return self.items(token, inside, width, base)
            case "table_open":
                return table_lines(inside, width, base)
            case "fence" | "code_block":
                return code_lines(token.content, token.info, width)
            case "math_block":
                return _display(token.content, width)
            case "hr":
                return [(Span("─" * width, Style.RULE),)]
            case _:  # nested so deep that the parser gave up
                return self.verbatim(token, width, base)

    def items(self, opening: Token, inside: Sequence[Token], width: int, base: Style) -> list[Line]:
        """A list. Numbers are right-aligned; the box of a task stands in place of its bullet."""
        tight = all(token.hidden for token in inside if _is_paragraph(token, opening.level + 2))
        items = list(_siblings(inside))
        number = int(opening.attrs.get("start", 1))
        digits = len(str(number + len(items) - 1))
        lines: list[Line] = []
        for item, content in items:
            mark = f"{number:>{digits}}{item.markup} " if opening.tag == "ol" else _take_box(content) or "• "
            number += 1
            if lines and not tight:
                lines.append(())
            body = partial(self.blocks, content, base=base, tight=tight)
            lines += beside(Span(mark, base), Span(" " * len(mark), base), width, body)
        return lines

    def verbatim(self, token: Token, width: int, base: Style) -> list[Line]:
        """The source of a block, line by line."""
        first, end = token.map or (0, 0)
        rows = [Span(row.expandtabs(), base) for row in self.source[first:end]]
        return [line for row in rows for line in wrap([row], width)]


def _siblings(tokens: Sequence[Token]) -> Iterator[tuple[Token, Sequence[Token]]]:
    """The blocks of one level: the token that is or opens each, and what stands between it and its end."""
    at = 0
    while at < len(tokens):
        start, depth = at, tokens[at].nesting
        at += 1
        while depth:
            depth += tokens[at].nesting
            at += 1
        yield tokens[start], tokens[start + 1 : at - 1]


def _is_paragraph(token: Token, level: int) -> bool:
    return token.type == "paragraph_open" and token.level == level


def _take_box(content: Sequence[Token]) -> str:
    """The box at the start of a task, which is taken off its text; "" for any other item."""
    text = content[1].children if len(content) > 1 and content[0].type == "paragraph_open" else None
    if not text or not (box := _BOX.match(text[0].content)):
        return ""
    text[0].content = text[0].content[box.end() :]
    return box[0].lower()


def _heading(token: Token, text: Token, width: int) -> list[Line]:
    """A heading; that of the first level is underlined, which tells it from text even without styles."""
    lines = wrap(inline(text, _HEADINGS.get(token.tag, Style.HEADING3)), width)
    if token.tag == "h1" and lines:
        longest = max(cells(plain(line)) for line in lines)
        lines.append((Span("─" * min(longest, width), Style.RULE),))
    return lines


def _display(tex: str, width: int) -> list[Line]:
    """A formula on lines of its own, indented; TeX that is not understood keeps the lines it was typed in."""
    indent = Span("    ")
    rows = [Span(_SPACES.sub(" ", row), Style.MATH) for row in to_unicode(tex).split("\n")]
    return beside(indent, indent, width, lambda room: [line for row in rows for line in wrap([row], room)])
