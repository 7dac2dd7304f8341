"""Tables, bars and curves in characters: exact values beside every length, readable without colour."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.cells import cell_len, set_cell_size

from fatutor.demo.events import Series
from fatutor.demo.evidence import Bar, Witnesses
from fatutor.demo.units import exact, human

EIGHTHS = " ▏▎▍▌▋▊▉"
HEADS = ("", "you said", "formula", "machine", "", "")
LONGEST_NUMBER = 20  # cells; 137 438 953 472 FLOP takes as many
SAME_SLOPE = 0.3  # between neighbouring points; what bends more is no power law
MOST_POINTS = 12  # bars of one curve; more points are thinned, evenly, ends kept


def table(seen: Witnesses, width: int) -> str:
    """One row a quantity, the numbers right-aligned; a note where its row has room for one.

    Words in place of numbers stand in lines of their own, and so does all of it where `width` has no room
    for columns.
    """
    rows = [(row.name, row.said, row.formula, row.machine, row.mark, row.note) for row in seen.rows]
    in_words = [row for row in rows if any(cell_len(cell) > LONGEST_NUMBER for cell in row[1:4])]
    numbers = [row for row in rows if row not in in_words]
    return "\n".join(_stacked(in_words, width) + (_columns(numbers, width) or _stacked(numbers, width)))


_Cells = tuple[str, str, str, str, str, str]


def _columns(rows: Sequence[_Cells], width: int) -> list[str]:
    """A head and the rows in columns, without columns that say nothing; no line where they do not fit."""
    names, marks = (max((cell_len(row[at]) for row in rows), default=0) for at in (0, 4))
    rooms = {
        at: max(cell_len(row[at]) for row in (HEADS, *rows))
        for at in (1, 2, 3)
        if any(row[at] for row in rows)
    }
    span = sum(rooms.values()) + 3 * len(rooms)
    if names + span + 2 + marks > width:
        return []
    lines: list[str] = []
    for row in (HEADS, *rows) if rooms else rows:
        name, mark, note = row[0], row[4], row[5]
        line = _left(name, names)
        if any(row[1:4]):
            line += "".join(f"   {_right(row[at], room)}" for at, room in rooms.items())
            line += f"  {_left(mark, marks)}" if marks else ""
            note = note if cell_len(f"{line}  {note}") <= width else ""
        else:
            note = _right(note, span - 2)  # it has nothing else, so that stands where numbers would
        lines.append(f"{line}  {note}".rstrip())
    return lines


def _stacked(rows: Sequence[_Cells], width: int) -> list[str]:
    """Two lines a row, or a line for each number where two do not do."""
    lines: list[str] = []
    for name, *values, mark, note in rows:
        lines.append(f"{name}  {mark or note * (not any(values))}".rstrip())
        said = [f"{head} {value}" for head, value in zip(HEADS[1:4], values, strict=True) if value]
        together = "  " + " · ".join(said)
        lines += [together] if said and cell_len(together) <= width else [f"  {one}" for one in said]
    return lines


def bars(charted: Sequence[Bar], width: int) -> str:
    """Horizontal bars to one scale with their values; an eighth of a cell is the smallest step."""
    longest = max((one.value for one in charted), default=0.0) or 1.0
    return _drawn([(one.name, one.value / longest, one.label) for one in charted], width)


@dataclass(frozen=True, slots=True)
class Scale:
    """From a value to the share of a full bar. `origin` is where a logarithmic one begins, else None."""

    longest: float
    origin: float | None = None

    def share(self, value: float) -> float:
        if self.origin is None:
            return max(0.0, value / self.longest)
        return math.log(value / self.origin) / math.log(self.longest / self.origin)


def scale(charted: Sequence[Series]) -> Scale:
    """Logarithmic where a law shows: positive values over at least a factor of 8, x over at least 4.

    Its origin is a power of ten at half the smallest value or below, so that every bar has a length.
    """
    x = [value for one in charted for value in one.x]
    y = [value for one in charted for value in one.y]
    if min(x + y) > 0 and max(x) / min(x) >= 4 and max(y) / min(y) >= 8:
        return Scale(max(y), 10.0 ** math.floor(math.log10(min(y) / 2)))
    return Scale(max(y) if max(y) > 0 else 1.0)


def curves(series: Sequence[Series], width: int) -> str:
    """Each series as labelled bars, one for each x. Those in the same units share a scale."""
    drawn = [one for one in series if one.x]
    blocks: list[str] = []
    for one in drawn:
        fellows = [other for other in drawn if (other.x_unit, other.y_unit) == (one.x_unit, one.y_unit)]
        by = scale(fellows)
        points = [
            (exact(x, ""), by.share(y), exact(y, one.y_unit)) for x, y in (zip(one.x, one.y, strict=True))
        ]
        blocks.append(f"{_caption(one, by)}\n{_drawn(_thinned(points), width)}")
    return "\n\n".join(blocks)


def _caption(one: Series, by: Scale) -> str:
    """tiled by N · log scale from 10 kB · grows like N^1.9"""
    x = one.x_unit or "x"
    words = [f"{one.name} by {x}"]
    if by.origin is not None:
        words.append(f"log scale from {human(by.origin, one.y_unit)}")
        power = law(one)
        if power is not None:
            words.append(f"goes like {x if x.isidentifier() else 'x'}^{power:.2f}")
    if len(one.x) > MOST_POINTS:
        words.append(f"{MOST_POINTS} of {len(one.x)} points")
    return " · ".join(words)


def law(one: Series) -> float | None:
    """The power of x that y goes like; None where the slope on log axes is not much the same throughout."""
    points = [(math.log(x), math.log(y)) for x, y in zip(one.x, one.y, strict=True)]
    slopes = [(y - v) / (x - u) for (u, v), (x, y) in pairwise(points) if x != u]
    if not slopes or max(slopes) - min(slopes) > SAME_SLOPE:
        return None
    (u, v), (x, y) = points[0], points[-1]
    return (y - v) / (x - u) if x != u else None


def _thinned(points: Sequence[tuple[str, float, str]]) -> list[tuple[str, float, str]]:
    last = len(points) - 1
    if last < MOST_POINTS:
        return list(points)
    return [points[round(i * last / (MOST_POINTS - 1))] for i in range(MOST_POINTS)]


def _drawn(rows: Sequence[tuple[str, float, str]], width: int) -> str:
    """Rows of a name, the share of a full bar, and a label, in at most `width` cells where names allow it."""
    if not rows:
        return ""
    labels = max(cell_len(label) for _, _, label in rows)
    names = min(max(cell_len(name) for name, _, _ in rows), max(8, width - labels - 12))
    room = max(4, width - names - labels - 4)
    return "\n".join(
        f"{_left(_cut(name, names), names)}  {length(share, room)}  {label}" for name, share, label in rows
    )


def length(share: float, room: int) -> str:
    """A bar of `share` times `room` cells, to the nearest eighth; anything above zero shows."""
    eighths = max(round(share * room * 8), 1 if share > 0 else 0)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _cut(text: str, cells: int) -> str:
    return text if cell_len(text) <= cells else set_cell_size(text, cells - 1) + "…"


def _left(text: str, cells: int) -> str:
    return text + " " * (cells - cell_len(text))


def _right(text: str, cells: int) -> str:
    return " " * (cells - cell_len(text)) + text
