"""Tables and bars in characters: exact values beside every length, readable without colour."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len

from fatutor.demo.evidence import Bar, Witnesses

EIGHTHS = " ▏▎▍▌▋▊▉"
HEADS = ("", "you said", "formula", "machine", "")


def table(seen: Witnesses, width: int) -> str:
    """One row a quantity, the numbers right-aligned; stacked where `width` has no room for columns."""
    rows = [(row.name, row.said, row.formula, row.machine, row.mark) for row in seen.rows]
    if not rows:
        return ""
    lines = [HEADS, *rows]
    widths = [max(cell_len(line[i]) for line in lines) for i in range(5)]
    if sum(widths) + 10 > width:
        return "\n".join(_stacked(rows))
    return "\n".join(
        "  ".join(
            [_left(line[0], widths[0]), *(_right(line[i], widths[i] + 1) for i in (1, 2, 3)), line[4]]
        ).rstrip()
        for line in lines
    )


def _stacked(rows: Sequence[tuple[str, str, str, str, str]]) -> list[str]:
    lines: list[str] = []
    for name, *values, mark in rows:
        lines.append(f"{name}  {mark}".rstrip())
        lines += [f"  {head:<9}{value}" for head, value in zip(HEADS[1:4], values, strict=True) if value]
    return lines


def bars(charted: Sequence[Bar], width: int) -> str:
    """Horizontal bars to one scale with their values; an eighth of a cell is the smallest step."""
    if not charted:
        return ""
    names = max(cell_len(one.name) for one in charted)
    labels = max(cell_len(one.label) for one in charted)
    room = max(4, width - names - labels - 4)
    longest = max(one.value for one in charted) or 1.0
    return "\n".join(
        f"{_left(one.name, names)}  {length(one.value / longest, room)}  {one.label}" for one in charted
    )


def length(share: float, room: int) -> str:
    """A bar of `share` times `room` cells, to the nearest eighth; anything above zero shows."""
    eighths = max(round(share * room * 8), 1 if share > 0 else 0)
    return "█" * (eighths // 8) + EIGHTHS[eighths % 8].strip()


def _left(text: str, cells: int) -> str:
    return text + " " * (cells - cell_len(text))


def _right(text: str, cells: int) -> str:
    return " " * (cells - cell_len(text)) + text
