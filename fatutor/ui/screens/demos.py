"""Demos: what each does, with how near your last prediction came. No claim: it may be the answer."""

from __future__ import annotations

from datetime import tzinfo

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from fatutor.demo.history import judged
from fatutor.errors import FatutorError
from fatutor.store.records import DemoRun
from fatutor.text.page import layout
from fatutor.ui.keys import LEARN, bindings
from fatutor.ui.render import Prose
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.widgets.rows import Row, Rows
from fatutor.ui.widgets.speaking import Heading


class DemosScreen(BaseScreen):
    WHERE = LEARN  # a list of things to open, with the keys of one
    BINDINGS = bindings(LEARN)

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Rows("rows")

    def on_screen_resume(self) -> None:
        """The screen shows, for the first time or once more."""
        self.query_one("#head", Heading).show("Demos", "predict, then run")
        self.draw()

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        width = max(20, min(self.size.width - 4, Prose.MEASURE))
        try:
            demos, runs = self.desk.demos, self.desk.runs()
        except FatutorError as trouble:
            self.say(trouble)
            return
        last = {run.demo: run for run in runs}
        rows: list[Row] = []
        for name, demo in demos.items():
            rows.append(Row(""))
            rows.append(Row(name, came_to(last.get(name), self.desk.time.clock.zone), target=name))
            plan = layout(demo.plan, width - 4).plain
            rows += [Row(f"  {text}", look="dim") for text in plan.split("\n")]
        self.query_one(Rows).show(rows)

    def action_move(self, by: int) -> None:
        self.query_one(Rows).move(by)

    def action_open(self) -> None:
        target = self.query_one(Rows).target
        if isinstance(target, str):
            self.app.show_demo(target)

    def on_rows_opened(self, opened: Rows.Opened) -> None:
        self.app.show_demo(str(opened.target))


def came_to(run: DemoRun | None, zone: tzinfo | None) -> str:
    """The day and how near the prediction was: 2026-11-29 · ✓ within 2 %."""
    if run is None:
        return ""
    found = judged(run)
    near = found.sentence if found.ratio is not None else "right" if found.right else "wrong"
    return f"{run.at.astimezone(zone):%Y-%m-%d} · {'✓' if found.right else '✗'} {near}"
