"""Tables: columns that fit, or, where they cannot, one `header: cell` below the other."""

from __future__ import annotations

from collections.abc import Sequence

from markdown_it.token import Token

from fatutor.text.inline import inline
from fatutor.text.spans import Line, Span, Style, plain
from fatutor.text.wrap import GLUE, cells, wrap

Cell = list[Span]

_GAP = "  "
_NARROW = 30  # below this only a table that fits as it is stands in columns
_LONG_WORD = 20  # a column may be made too narrow for words longer than this


def table_lines(tokens: Sequence[Token], width: int, base: Style) -> list[Line]:
    """What stands between `table_open` and `table_close`, in at most `width` cells."""
    rows: list[list[Cell]] = []
    sides: list[str] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "th_open":
            sides.append(str(token.attrs.get("style", "")).removeprefix("text-align:"))
        elif token.type == "inline":
            rows[-1].append(inline(token, base if len(rows) > 1 else Style.TABLE_HEAD))
    columns = max(map(len, rows))
    for row in rows:
        row += [[] for _ in range(columns - len(row))]
    sides += [""] * (columns - len(sides))
    widths = _widths(rows, width)
    return _grid(rows, widths, sides) if widths else _stack(rows, width)


def _widths(rows: list[list[Cell]], width: int) -> list[int] | None:
    """The width of each column, or None if the longest words do not fit side by side."""
    columns = [[plain(cell) for cell in column] for column in zip(*rows, strict=True)]
    natural = [max(1, *map(cells, column)) for column in columns]
    room = width - len(_GAP) * (len(columns) - 1)
    if sum(natural) <= room:
        return natural
    least = [min(_LONG_WORD, _longest_word(column)) for column in columns]
    spare = room - sum(least)
    if width < _NARROW or spare < 0:
        return None
    while spare:  # to the column whose longest cell now takes most lines
        fullest = max(range(len(least)), key=lambda column: natural[column] / least[column])
        least[fullest] += 1
        spare -= 1
    return least


def _longest_word(column: list[str]) -> int:
    return max(1, *(cells(word) for text in column for word in text.replace(GLUE, " ").split(" ")))


def _grid(rows: list[list[Cell]], widths: list[int], sides: list[str]) -> list[Line]:
    head, *body = [_row(row, widths, sides) for row in rows]
    apart = any(len(row) > 1 for row in body)
    lines = [*head, tuple(Span("─" * width + _GAP, Style.RULE) for width in widths)]
    for number, row in enumerate(body):
        if apart and number:
            lines.append(())
        lines += row
    return lines


def _row(row: list[Cell], widths: list[int], sides: list[str]) -> list[Line]:
    """The cells side by side, each in its column and at its side of it."""
    wrapped = [wrap(cell, width) for cell, width in zip(row, widths, strict=True)]
    lines: list[Line] = []
    for at in range(max(map(len, wrapped))):
        line: list[Span] = []
        for parts, width, side in zip(wrapped, widths, sides, strict=True):
            part = parts[at] if at < len(parts) else ()
            free = max(0, width - cells(plain(part)))
            left = free if side == "right" else free // 2 if side == "center" else 0
            line += [Span(" " * left), *part, Span(" " * (free - left) + _GAP)]
        lines.append(tuple(line))
    return lines


def _stack(rows: list[list[Cell]], width: int) -> list[Line]:
    """Each row as a paragraph of its cells, each with its header before it."""
    head, *body = rows
    if not body:
        return [line for cell in head for line in wrap(cell, width)]
    lines: list[Line] = []
    for number, row in enumerate(body):
        if number:
            lines.append(())
        for name, cell in zip(head, row, strict=True):
            lines += wrap([*name, Span(": ", Style.TABLE_HEAD), *cell] if name else cell, width)
    return lines
