"""The keys that work now, on the screen one came from."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.widgets import Static

from fatutor.ui.keys import Action
from fatutor.ui.screens.overlay import Overlay


class HelpScreen(Overlay):
    TITLE = "Keys that work now"
    BINDINGS = [("question_mark", "dismiss", "back")]

    def __init__(self, actions: list[Action]) -> None:
        super().__init__()
        self._actions = actions

    def body(self) -> ComposeResult:
        for action in self._actions:  # side by side, so that a long line continues below its own words
            with Horizontal(classes="key"):
                yield Static(Content.styled(f"{action.shown:>8}  ", "bold $accent"), classes="shown")
                yield Static(action.help, markup=False, classes="told")
        yield Static(
            "Any key in the bottom line can be clicked. ctrl+p opens the palette with the themes; "
            "ctrl+q leaves at any time. Nothing is ever lost by leaving: each grade is stored at once.",
            id="note",
            markup=False,
        )
