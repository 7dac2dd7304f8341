"""The grading keys, each with the interval that it would store; a click is the key."""

from __future__ import annotations

from collections.abc import Mapping

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

GAP = 3  # cells between two keys


class GradeKeys(Widget):
    """As many keys a line as fit, none broken over two lines."""

    DEFAULT_CSS = "GradeKeys { width: 1fr; height: auto; }"

    class Picked(Message):
        """A key was clicked."""

        def __init__(self, key: str) -> None:
            super().__init__()
            self.key = key

    def __init__(self) -> None:
        super().__init__()
        self._labels: Mapping[str, str] = {}
        self._proposed = ""

    def show(self, labels: Mapping[str, str], proposed: str) -> None:
        """`labels` by key; the key `proposed` stands out, none if it is empty."""
        self._labels, self._proposed = labels, proposed
        self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._lines(width))

    def render(self) -> Content:
        return Content("\n").join(
            Content(" " * GAP).join(
                Content.styled(self._labels[key], "bold $accent" if key == self._proposed else "")
                for key in line
            )
            for line in self._lines(self.content_size.width)
        )

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        lines = self._lines(self.content_size.width)
        if offset is None or offset.y >= len(lines):
            return
        at = 0
        for key in lines[offset.y]:
            end = at + cell_len(self._labels[key])
            if at <= offset.x < end:
                self.post_message(self.Picked(key))
            at = end + GAP

    def _lines(self, width: int) -> list[list[str]]:
        """The keys, line by line."""
        lines: list[list[str]] = [[]]
        used = 0
        for key, label in self._labels.items():
            if lines[-1] and used + GAP + cell_len(label) > width:
                lines.append([])
                used = 0
            used += cell_len(label) + (GAP if lines[-1] else 0)
            lines[-1].append(key)
        return lines
