"""The rows as a person reads them: one line a point, one column a contender, and how ours compare."""

from __future__ import annotations

from collections.abc import Sequence

from kernels.bench.contenders import Contender
from kernels.bench.grid import Phase
from kernels.bench.sweep import Note, Row

UNITS: dict[Phase, str] = {"forward": "TFLOP/s", "backward": "TFLOP/s", "decode": "GB/s"}


def ratio(rows: Sequence[Row], contenders: Sequence[Contender]) -> float | None:
    """How many times as fast the best of ours is as the best peer; None if either side is absent."""
    ours = {contender.name: contender.ours for contender in contenders}
    mine = [row.ms for row in rows if ours[row.impl]]
    theirs = [row.ms for row in rows if not ours[row.impl]]
    return min(theirs) / min(mine) if mine and theirs else None


class Table:
    """Makes lines of what `sweep` yields; a heading comes first, and whenever the pass changes."""

    def __init__(self, contenders: Sequence[Contender]) -> None:
        self._contenders = contenders
        self._names: list[str] = []
        self._phase: Phase | None = None

    def lines(self, met: Sequence[Row | Note]) -> list[str]:
        rows = [entry for entry in met if isinstance(entry, Row)]
        if not rows:
            return []
        point = rows[0].point
        lines = []
        if point.phase != self._phase:
            self._phase = point.phase
            present = [contender for contender in self._contenders if not contender.obstacle]
            self._names = [contender.name for contender in present if point.phase in contender.phases]
            lines += ["", f"{point.phase}, {UNITS[point.phase]}", _line(HEADINGS, [*self._names, "ratio"])]
        found = {row.impl: row.gbps if point.phase == "decode" else row.tflops for row in rows}
        compared = ratio(rows, self._contenders)
        cells = [f"{found[name]:.0f}" if name in found else "-" for name in self._names]
        cells.append("-" if compared is None else f"{compared:.2f}")
        shape = (point.d, "yes" if point.causal else "no", point.n, point.batch, point.heads, point.heads_kv)
        return [*lines, _line([str(value) for value in shape], cells)]


HEADINGS = ("d", "causal", "N", "batch", "heads", "kv")
WIDTHS = (4, 6, 6, 6, 6, 4)


def _line(shape: Sequence[str], cells: Sequence[str]) -> str:
    left = " ".join(cell.rjust(width) for cell, width in zip(shape, WIDTHS, strict=True))
    return " ".join([left, *(cell.rjust(11) for cell in cells)])


def remarks(notes: Sequence[Note]) -> list[str]:
    """One line for each contender and reason, with the places, or their number if there are many."""
    places: dict[tuple[str, str], list[str]] = {}
    for note in notes:
        places.setdefault((note.impl, note.why), []).extend([note.where] * bool(note.where))
    return [f"{impl}: {why}{_where(where)}" for (impl, why), where in places.items()]


def _where(places: Sequence[str]) -> str:
    if not places:
        return ""
    return f" ({places[0]})" if len(places) == 1 else f" ({len(places)} rows, first {places[0]})"
