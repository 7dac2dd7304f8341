"""The speaking clock: how long the answer runs against its target."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

BAR = 10


def mm_ss(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes}:{rest:02d}"


def bar(share: float, width: int = BAR) -> str:
    """`━` for what has passed, `─` for what is left."""
    full = min(width, max(0, round(share * width)))
    return "━" * full + "─" * (width - full)


class Heading(Widget):
    """Left: where we are. Right: the clock. Drops the left part's end before it drops the clock."""

    DEFAULT_CSS = "Heading { height: 1; width: 1fr; padding: 0 1; }"

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 Textual's own parameter name
        super().__init__(id=id)
        self._left = ""
        self._right = ""

    def show(self, left: str, right: str = "") -> None:
        if (left, right) != (self._left, self._right):
            self._left, self._right = left, right
            self.refresh()

    def render(self) -> Content:
        room = max(0, self.content_size.width - cell_len(self._right) - 1)
        left = Content(self._left).truncate(room, ellipsis=True)
        gap = " " * max(1, self.content_size.width - left.cell_length - cell_len(self._right))
        return Content.assemble((left.plain, "dim"), gap, self._right)
