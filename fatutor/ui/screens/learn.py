"""Learn: the modules' beats with their outcomes, and where you stand."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from fatutor.errors import FatutorError
from fatutor.study.overview import BeatLine, ModuleLine
from fatutor.text.page import layout
from fatutor.ui.keys import LEARN, bindings
from fatutor.ui.render import Prose
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.screens.today import MARKS, look
from fatutor.ui.widgets.rows import Row, Rows
from fatutor.ui.widgets.speaking import Heading


class LearnScreen(BaseScreen):
    WHERE = LEARN
    BINDINGS = bindings(LEARN)

    modules: tuple[ModuleLine, ...] = ()

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Rows("rows")

    def on_screen_resume(self) -> None:
        """The screen shows, for the first time or once more: read what is stored, and draw it."""
        self.query_one("#head", Heading).show("Learn")
        try:
            self.modules = self.desk.overview().modules
        except FatutorError as trouble:
            self.say(trouble)
            return
        self.draw()
        if not self.modules:
            self.say("none of these decks has beats")

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        """The cursor stays on its beat; where that has changed, it goes to the next one."""
        rows: list[Row] = []
        width = max(20, min(self.size.width - 4, Prose.MEASURE))
        nearest: BeatLine | None = None
        for module in self.modules:
            rows += [Row(""), Row(module.title, module.progress, look="bold")]
            for line in module.beats:
                beat = line.beat
                right = " · ".join(part for part in (line.standing, beat.kind, f"{beat.minutes} min") if part)
                title = f"{beat.number:02d}  {line.deck.title}"
                rows.append(Row(title, right, line, MARKS[line.status], look(line.status)))
                outcome = layout(f"after it you can {beat.outcome}", width - 4).plain
                rows += [Row(f"    {text}", look="dim") for text in outcome.split("\n")]
                if line.status == "next" and nearest is None:
                    nearest = line
        table = self.query_one(Rows)
        stays = table.target is not None and any(row.target == table.target for row in rows)
        table.show(rows, at=table.target if stays else nearest)

    def action_move(self, by: int) -> None:
        self.query_one(Rows).move(by)

    def action_open(self) -> None:
        self.open(self.query_one(Rows).target)

    def on_rows_opened(self, opened: Rows.Opened) -> None:
        self.open(opened.target)

    def open(self, target: object) -> None:
        if isinstance(target, BeatLine):
            self.open_beat(target)
