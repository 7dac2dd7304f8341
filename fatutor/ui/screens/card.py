"""A card that is put away or flagged, to read; here its marks come off."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.widgets import Static

from fatutor.errors import FatutorError
from fatutor.schedule.log import EntryKind
from fatutor.study import sheet
from fatutor.study.overview import Marked
from fatutor.ui.render import Prose
from fatutor.ui.screens.overlay import Overlay

if TYPE_CHECKING:
    from fatutor.ui.app import FatutorApp


class CardScreen(Overlay):
    TITLE = "Put away or flagged"
    BINDINGS = [
        ("s", "unmark('resume')", "back into the drill"),
        ("f", "unmark('unflag')", "clear the flag"),
    ]
    app: FatutorApp  # type: ignore[assignment]  # Textual types it as any App

    def __init__(self, marked: Marked) -> None:
        super().__init__()
        self.marked = marked

    def body(self) -> ComposeResult:
        keys = ["s back into the drill"] * self.marked.away + ["f clear the flag"] * self.marked.flagged
        yield Static(" · ".join([*keys, "q back"]), id="note", markup=False)
        card = self.marked.card
        points = "\n".join(f"- {point.text}" for point in card.key_points)
        yield Prose("\n\n".join(part for part in (sheet.prompt(card), "---", card.answer, points) if part))

    def action_unmark(self, kind: str) -> None:
        if not (self.marked.away if kind == EntryKind.RESUME else self.marked.flagged):
            return
        self.dismiss(None)
        try:
            self.app.desk.unmark(self.marked.card, EntryKind(kind))
        except FatutorError as reason:
            self.app.tell(reason)
        else:
            self.app.tell(f"{sheet.DEEDS[EntryKind(kind)]}; u takes that back")
