"""The key points of a revealed card as a checklist with a cursor."""

from __future__ import annotations

from collections.abc import Sequence

from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from fatutor.deck.model import KeyPoint
from fatutor.text.page import Page
from fatutor.ui.render import CRITICAL, Prose, laid_out, to_content


class KeyPoints(Widget):
    DEFAULT_CSS = "KeyPoints { width: 1fr; height: auto; }"

    class Picked(Message):
        """A point was clicked."""

        def __init__(self, point: int) -> None:
            super().__init__()
            self.point = point

    def __init__(self) -> None:
        super().__init__()
        self._points: Sequence[KeyPoint] = ()
        self._ticked: frozenset[int] = frozenset()
        self.cursor = 0

    def show(self, points: Sequence[KeyPoint], ticked: frozenset[int]) -> None:
        self._points, self._ticked = points, ticked
        self.cursor = min(self.cursor, max(0, len(points) - 1))
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        self.cursor = max(0, min(len(self._points) - 1, self.cursor + by))
        self.refresh()

    def line_of(self, point: int) -> int:
        """The first line of a point, counted from the top of this widget."""
        return sum(len(self._text(i).lines) for i in range(point))

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return sum(len(self._text(i, width).lines) for i in range(len(self._points)))

    def render(self) -> Content:
        lines: list[Content] = []
        for i in range(len(self._points)):
            mark = "x" if i in self._ticked else " "
            here = "▸" if i == self.cursor else " "
            head = Content.assemble((here, "$accent"), f"[{mark}] ", (f"{i + 1:>{self._digits}}  ", "dim"))
            for row, line in enumerate(to_content(self._text(i)).split("\n", allow_blank=True)):
                lines.append((head if not row else Content(" " * self._indent)) + line)
        return Content("\n").join(lines)

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        at = 0
        for i in range(len(self._points)):
            at += len(self._text(i).lines)
            if offset.y < at:
                self.post_message(self.Picked(i))
                return

    @property
    def _digits(self) -> int:
        return len(str(len(self._points)))

    @property
    def _indent(self) -> int:
        """The cells before a point's text: `▸[x] 1  `."""
        return 7 + self._digits

    def _text(self, point: int, width: int | None = None) -> Page:
        measure = min(width if width is not None else self.content_size.width, Prose.MEASURE)
        key_point = self._points[point]
        note = CRITICAL if key_point.critical else ""
        return laid_out(key_point.text + note, max(1, measure - self._indent))
