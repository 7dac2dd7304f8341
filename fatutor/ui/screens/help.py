"""The keys that work now, on the screen one came from."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import ModalScreen
from textual.widgets import Static

from fatutor.ui.keys import Action


class HelpScreen(ModalScreen[None]):
    BINDINGS = [("question_mark,q,escape,space,enter", "dismiss", "back")]
    AUTO_FOCUS = ""

    def __init__(self, actions: list[Action]) -> None:
        super().__init__()
        self._actions = actions

    def compose(self) -> ComposeResult:
        with VerticalScroll(id="sheet"):
            yield Static("Keys that work now", id="title", markup=False)
            yield Static(
                Content("\n").join(
                    Content.assemble((f"{action.shown:>8}", "bold $accent"), "  ", action.help)
                    for action in self._actions
                )
            )
            yield Static(
                "Any key in the bottom line can be clicked. ctrl+p opens the palette with the themes; "
                "ctrl+q leaves at any time. Nothing is ever lost by leaving: each grade is stored at once.",
                id="note",
                markup=False,
            )

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(None)
