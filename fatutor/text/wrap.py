"""Lines that fit: cell widths, breaking at words, and breaking what is wider than a line."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence

from rich.cells import cell_len

from fatutor.text.spans import Line, Span, plain

GLUE = "\N{NO-BREAK SPACE}"
"""Keeps words together while wrapping; it is written as an ordinary space."""

NARROWEST = 10
"""What is indented keeps at least so many cells."""

_WORD = re.compile(r"\n|[^ \n]+")
_JOINER = "\N{ZERO WIDTH JOINER}"
_ENOUGH = 8  # cells left on a line that make it worth starting a word there that must be broken anyway


def cells(text: str) -> int:
    """The width of the text in terminal cells."""
    return len(text) if text.isascii() else cell_len(text)


def cut(text: str, start: int, room: int) -> int:
    """End of the longest run of whole graphemes from `start` that fits into `room` cells; one at least."""
    if text.isascii():
        return min(len(text), start + max(room, 1))
    end = start
    while end < len(text):
        after = _grapheme_end(text, end)
        room -= cell_len(text[end:after])
        if room < 0 and end > start:
            break
        end = after
    return end


def wrap(spans: Sequence[Span], width: int) -> list[Line]:
    """Break styled text into lines of at most `width` cells.

    Breaks fall at spaces; a word wider than a line is broken at glued spaces if it has any, else between
    graphemes. Runs of spaces inside a line stay as they are. A line feed in the text always breaks.
    """
    ranges = _fitting(plain(spans), width)
    return list(slices([Span(text.replace(GLUE, " "), style) for text, style in spans], ranges))


def beside(mark: Span, below: Span, width: int, body: Callable[[int], list[Line]]) -> list[Line]:
    """A body beside a mark, with `below` (as wide as the mark) at the start of its other lines.

    `body` lays itself out in the width it is given. Where the mark would leave it less than NARROWEST
    cells, it gets all of the width and stands under the mark.
    """
    room = width - cells(mark.text)
    if room < NARROWEST:
        return [*wrap([mark], width), *body(width)]
    first, *rest = body(room) or [()]
    return [(mark, *first), *((below, *line) for line in rest)]


def slices(spans: Iterable[Span], ranges: Iterable[tuple[int, int]]) -> Iterator[Line]:
    """The parts of the joined spans between pairs of offsets, which must ascend."""
    rest = iter(spans)
    span, offset = next(rest, Span("")), 0  # `span` begins at `offset` of the joined text
    for start, end in ranges:
        parts: list[Span] = []
        while offset < end:
            if part := span.text[max(start - offset, 0) : end - offset]:
                parts.append(Span(part, span.style))
            if offset + len(span.text) > end:
                break
            offset += len(span.text)
            span = next(rest, Span(""))
        yield tuple(parts)


def _fitting(text: str, width: int) -> Iterator[tuple[int, int]]:
    """Where each line of the text begins and ends."""
    start = end = used = 0  # the line so far is text[start:end], `used` cells wide
    for word in _WORD.finditer(text):
        first, last = word.span()
        if word[0] == "\n":
            yield start, end
            start, end, used = last, last, 0
            continue
        if end == start:
            start = end = first
        gap, size = first - end, cells(word[0])
        if end > start and used + gap + size > width and (size <= width or width - used - gap < _ENOUGH):
            yield start, end
            start, end, used, gap = first, first, 0, 0
        while used + gap + size > width:  # the word is wider than a line
            stop = cut(text, first, width - used - gap)
            if stop >= last:
                break  # a single grapheme, wider than a line
            if (glued := text.rfind(GLUE, first + 1, stop + 1)) > first:
                stop = glued
            yield start, stop
            resume = stop + (text[stop] == GLUE)
            size -= cells(text[first:resume])
            start = end = first = resume
            used = gap = 0
        end, used = last, used + gap + size
    if end > start:
        yield start, end


def _grapheme_end(text: str, start: int) -> int:
    """Where the grapheme at `start` ends: marks, selectors, joined and paired signs belong to it."""
    end = start + 1
    if _is_regional(text[start]) and end < len(text) and _is_regional(text[end]):
        end += 1
    while end < len(text):
        if text[end] == _JOINER:
            end += 2
        elif cell_len(text[end]) == 0 or "\U0001f3fb" <= text[end] <= "\U0001f3ff":
            end += 1
        else:
            break
    return min(end, len(text))


def _is_regional(character: str) -> bool:
    return "\U0001f1e6" <= character <= "\U0001f1ff"
