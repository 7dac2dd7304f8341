"""The terms of the card or beat that one came from, each explained."""

from __future__ import annotations

from collections.abc import Sequence

from textual.app import ComposeResult

from fatutor.deck.model import Term
from fatutor.study import terms
from fatutor.ui.render import Prose
from fatutor.ui.screens.overlay import Overlay


class TermsScreen(Overlay):
    TITLE = "Terms used here"
    BINDINGS = [("t", "dismiss", "back")]

    def __init__(self, found: Sequence[Term]) -> None:
        super().__init__()
        self._found = found

    def body(self) -> ComposeResult:
        yield Prose(terms.page(self._found))
