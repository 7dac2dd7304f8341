"""Learn: the modules' beats with their outcomes, and where you stand."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from fatutor.errors import FatutorError
from fatutor.study.overview import BeatLine
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

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Rows("rows")

    def on_mount(self) -> None:
        super().on_mount()
        self.hush()

    def on_screen_resume(self) -> None:
        self.look_again()

    def on_resize(self) -> None:
        self.look_again()

    def look_again(self) -> None:
        try:
            seen = self.desk.overview()
        except FatutorError as trouble:
            self.say(trouble)
            return
        rows: list[Row] = []
        width = max(20, min(self.size.width - 4, Prose.MEASURE))
        nearest: object = None
        for module in seen.modules:
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
        self.query_one("#head", Heading).show("Learn")
        self.query_one(Rows).show(rows, at=nearest)
        if not rows:
            self.say("none of these decks has beats")

    def action_move(self, by: int) -> None:
        self.query_one(Rows).move(by)

    def action_page(self, by: int) -> None:
        page = self.query_one("#page", VerticalScroll)
        page.scroll_relative(y=by * max(1, page.size.height - 2), animate=False)

    def action_open(self) -> None:
        self.open(self.query_one(Rows).target)

    def on_rows_opened(self, opened: Rows.Opened) -> None:
        self.open(opened.target)

    def open(self, target: object) -> None:
        if not isinstance(target, BeatLine):
            return
        if target.status == "locked":
            self.say(
                f"beat {target.beat.number:02d} opens once {target.waits_for} is answered, right or wrong"
            )
        else:
            self.app.show_beat(target.deck)
