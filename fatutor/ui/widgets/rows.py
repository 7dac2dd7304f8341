"""A column of rows with a cursor: some rows can be opened, the others only read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.style import Style
from textual.visual import Visual
from textual.widget import Widget


@dataclass(frozen=True, slots=True)
class Row:
    """`left` and `right` are plain text, never markup. A row with a `target` can be opened.

    `mark` stands in the cursor's column when the cursor is elsewhere. `look` styles the whole row.
    """

    left: str
    right: str = ""
    target: object = None
    mark: str = " "
    look: str = ""


class Rows(Widget):
    DEFAULT_CSS = "Rows { width: 1fr; max-width: 100; height: auto; padding: 0 1; }"

    class Opened(Message):
        def __init__(self, target: object) -> None:
            super().__init__()
            self.target = target

    def __init__(self, id: str | None = None) -> None:  # noqa: A002 Textual's own parameter name
        super().__init__(id=id)
        self._rows: Sequence[Row] = ()
        self.cursor = 0

    @property
    def target(self) -> object:
        """What the cursor is on; None where no row can be opened."""
        return self._rows[self.cursor].target if self.cursor < len(self._rows) else None

    def show(self, rows: Sequence[Row], at: object = None) -> None:
        """Take up new rows; the cursor goes to the row whose target is `at`, or stays where it can."""
        self._rows = rows
        wanted = [i for i, row in enumerate(rows) if at is not None and row.target == at]
        self.cursor = wanted[0] if wanted else min(self.cursor, max(0, len(rows) - 1))
        if self.target is None:
            self.cursor = next((i for i, row in enumerate(rows) if row.target is not None), 0)
        self.refresh(layout=True)

    def move(self, by: int) -> None:
        """Go to the next row that can be opened, in the direction of `by`."""
        step = 1 if by > 0 else -1
        at = self.cursor + step
        while 0 <= at < len(self._rows):
            if self._rows[at].target is not None:
                self.cursor = at
                self.refresh()
                self.reveal_cursor()
                return
            at += step
        self.reveal_cursor(self.cursor + step * len(self._rows))

    def reveal_cursor(self, line: int | None = None) -> None:
        at = self.cursor if line is None else max(0, min(len(self._rows) - 1, line))
        if isinstance(self.parent, Widget):
            region = Region(0, self.virtual_region.y + at, 1, 1)
            self.parent.scroll_to_region(region, animate=False)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(self._rows)

    def render_line(self, y: int) -> Strip:
        """One row, drawn when it shows: of a thousand decks a screen shows twenty."""
        width = self.content_size.width
        if y >= len(self._rows) or not width:
            return super().render_line(y)
        line = self._line(y, self._rows[y])
        if (selected := self.text_selection) and (span := selected.get_span(y)):
            start, end = span
            style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            line = line.stylize(style, start, len(line) if end == -1 else end)
        (strip,) = Visual.to_strips(self, line, width, 1, self.visual_style, apply_selection=False)
        return strip.apply_offsets(0, y)

    def render(self) -> Content:
        return Content("\n").join([self._line(i, row) for i, row in enumerate(self._rows)])

    def _line(self, i: int, row: Row) -> Content:
        width = self.content_size.width
        here = i == self.cursor and row.target is not None
        mark = "▸" if here else row.mark
        room = max(0, width - 2 - (cell_len(row.right) + 1 if row.right else 0))
        left = Content(row.left).truncate(room, ellipsis=True)
        gap = " " * max(0, width - 2 - left.cell_length - cell_len(row.right))
        look = "bold $accent" if here else row.look
        return Content.assemble((f"{mark} ", "$accent"), (left.plain, look), gap, (row.right, row.look))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is not None and offset.y < len(self._rows) and self._rows[offset.y].target is not None:
            self.cursor = offset.y
            self.refresh()
            self.post_message(self.Opened(self.target))
