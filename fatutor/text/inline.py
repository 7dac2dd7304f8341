"""Running text: what stands inside a paragraph, a heading or a table cell, as styled spans."""

from __future__ import annotations

import re
from collections.abc import Sequence

from markdown_it.token import Token

from fatutor.text.clean import clean
from fatutor.text.spans import Span, Style, plain
from fatutor.text.tex import to_unicode
from fatutor.text.wrap import GLUE, cells

_SPACES = re.compile(r"[ \t\n]+")
_DEFINITION = re.compile(r"\[[^\]]+\]:")
_OPENINGS = {"strong_open": Style.STRONG, "em_open": Style.EM, "s_open": Style.DIM, "link_open": Style.LINK}
_KEPT_WHOLE = 24  # a formula up to so many cells is not broken over two lines
# What reads badly on two lines: a number and its unit or its next thousands, an exponent, `d = 128`.
_TOGETHER = re.compile(
    r"(?<=\d)[ ](?:%|(?:[KMGT]i?)?B(?:/s)?\b|[MGTP]?FLOPs?(?:/[sB])?\b|[mµn]?s\b|\d{3}\b)"
    r"|\^\([^()\n]{1,22}\)"
    r"|(?<![^\s(])\S{1,4}[ ][=≤≥≈<>][ ](?=\S)"
)


def inline(token: Token, base: Style) -> list[Span]:
    """The spans of an `inline` token; a line feed among them is a break that the author asked for."""
    return together(_spans(token.children or [], base))


def together(spans: list[Span]) -> list[Span]:
    """The spans with glue in place of the spaces at which no line should end."""
    text = plain(spans)
    glued = {at for match in _TOGETHER.finditer(text) for at in range(*match.span()) if text[at] == " "}
    if not glued:
        return spans
    pieces: list[Span] = []
    start = 0
    for span in spans:
        letters = (GLUE if start + at in glued else letter for at, letter in enumerate(span.text))
        pieces.append(Span("".join(letters), span.style))
        start += len(span.text)
    return pieces


def _spans(tokens: Sequence[Token], base: Style) -> list[Span]:
    spans: list[Span] = []
    styles = [base]
    links: list[tuple[Token, int]] = []  # what is open, and where its text begins
    for at, token in enumerate(tokens):
        kind = token.type
        if kind == "text":
            spans.append(Span(_words(token.content), styles[-1]))
        elif kind == "softbreak":
            following = tokens[at + 1].content if at + 1 < len(tokens) else ""
            spans.append(Span("\n" if _DEFINITION.match(following) else " ", styles[-1]))
        elif kind == "hardbreak":
            spans.append(Span("\n", styles[-1]))
        elif kind == "code_inline":
            spans.append(Span(token.content.replace("\t", " "), Style.CODE))
        elif kind == "math_inline":
            spans.append(Span(_glued(to_unicode(token.content)), Style.MATH))
        elif kind == "image":
            alt = plain(_spans(token.children or [], base))
            spans.append(Span(f"[image: {alt}]" if alt else "[image]", styles[-1]))
            spans += _address(token, "src", styles[-1])
        elif kind in _OPENINGS:
            styles.append(_OPENINGS[kind])
            if kind == "s_open":
                spans.append(Span("~~", Style.DIM))
            elif kind == "link_open":
                links.append((token, len(spans)))
        elif token.nesting < 0:
            if kind == "s_close":
                spans.append(Span("~~", Style.DIM))
            styles.pop()
            if kind == "link_close":
                opening, start = links.pop()
                spans += _address(opening, "href", styles[-1], shown=plain(spans[start:]))
        else:
            spans.append(Span(_words(token.content), styles[-1]))
    return spans


def _words(text: str) -> str:
    """Text with its spaces run together. An entity may have brought in what was cleaned away before."""
    return _SPACES.sub(" ", clean(text))


def _glued(formula: str) -> str:
    text = _SPACES.sub(" ", formula).strip()
    return text.replace(" ", GLUE) if cells(text) <= _KEPT_WHOLE else text


def _address(token: Token, name: str, style: Style, shown: str = "") -> list[Span]:
    """Where a link or an image leads, in brackets, unless its text says so already."""
    address = _words(str(token.attrs.get(name, "")))
    title = _words(str(token.attrs.get("title", "")))
    if address in (shown, f"mailto:{shown}"):
        address = ""
    told = " ".join(part for part in (address, f'"{title}"' if title else "") if part)
    return [Span(" (", style), Span(told, Style.DIM), Span(")", style)] if told else []
