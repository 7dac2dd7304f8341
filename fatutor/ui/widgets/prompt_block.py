"""An interview prompt inside a beat: answer out loud, then reveal.

Until then it is as tall as the page, so that what comes below, which may give the answer, is out of sight.
"""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.geometry import Region

from fatutor.deck.model import Card
from fatutor.study import sheet
from fatutor.ui.render import CRITICAL, Prose


class PromptBlock(Vertical):
    DEFAULT_CSS = """
    PromptBlock { height: auto; margin: 1 0; }
    PromptBlock.-asking { min-height: 100%; }
    PromptBlock > Vertical { height: auto; padding: 0 1; border-left: outer $accent; }
    PromptBlock .hint { color: $text-muted; margin-top: 1; }
    PromptBlock .answer { margin-top: 1; }
    """

    def __init__(self, card: Card, hint: str = "*Answer out loud; space shows the answer.*") -> None:
        super().__init__(classes="-asking" if hint else "")
        self.card = card
        self.revealed = False
        self._hint = hint

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Prose(sheet.prompt(self.card))
            if self._hint:
                yield Prose(self._hint, classes="hint")

    def asks_in(self, view: Region) -> bool:
        """Whether all of the prompt can have been read in `view`: its last line stands there, unrevealed."""
        last = next(iter(self.query(".hint")), None)
        return not self.revealed and last is not None and last.region.y in view.line_range

    def reveal(self, above: str = "") -> None:
        """Show the model answer, the key points and the rest; `above` comes first."""
        if self.revealed:
            return
        self.revealed = True
        self.remove_class("-asking")
        self.query(".hint").remove()
        points = "\n".join(f"- {p.text}{CRITICAL if p.critical else ''}" for p in self.card.key_points)
        parts = [
            above,
            self.card.answer,
            f"**A good answer says**\n\n{points}" if points else "",
            sheet.rest(self.card),
        ]
        answer = Prose("\n\n".join(part for part in parts if part), classes="answer")
        self.query_one(Vertical).mount(answer)
