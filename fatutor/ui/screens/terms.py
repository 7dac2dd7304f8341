"""The terms of the card or beat that one came from, each explained."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

from fatutor.deck.model import Term
from fatutor.study import terms
from fatutor.ui.render import Prose


class TermsScreen(ModalScreen[None]):
    BINDINGS = [
        ("t,q,escape,space,enter", "dismiss", "back"),
        ("down,j", "scroll(1)", "on"),
        ("up,k", "scroll(-1)", "back"),
        ("pagedown", "page(1)", "one page on"),
        ("pageup", "page(-1)", "one page back"),
    ]
    AUTO_FOCUS = ""

    def __init__(self, found: Sequence[Term]) -> None:
        super().__init__()
        self._found = found

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="sheet", can_focus=False):
            yield Static("Terms used here", id="title", markup=False)
            yield Prose(terms.page(self._found))

    def action_scroll(self, lines: int) -> None:
        self.query_one("#sheet", VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, by: int) -> None:
        self.action_scroll(by * max(1, self.query_one("#sheet").size.height - 2))

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(None)
