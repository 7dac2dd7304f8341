"""A sheet laid over a screen: something to read and scroll, and the usual keys go back."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static


class Overlay(ModalScreen[None]):
    """Subclasses set `TITLE`, say in `body` what stands below it, and bind their own key to `dismiss`."""

    BINDINGS = [
        ("q,escape,space,enter", "dismiss", "back"),
        ("down,j", "move(1)", "on"),
        ("up,k", "move(-1)", "back"),
        ("pagedown", "page(1)", "one page on"),
        ("pageup", "page(-1)", "one page back"),
    ]
    AUTO_FOCUS = ""

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="sheet", can_focus=False):
            yield Static(self.TITLE or "", id="title", markup=False)
            yield from self.body()

    def body(self) -> ComposeResult:
        yield from ()

    def action_move(self, by: int) -> None:
        self.query_one("#sheet", VerticalScroll).scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        self.action_move(by * max(1, self.query_one("#sheet").size.height - 2))

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(None)
