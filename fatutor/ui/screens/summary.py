"""The end of a sitting: what was done, what comes back when, and undo still works."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import VerticalScroll

from fatutor.errors import FatutorError
from fatutor.study import sheet
from fatutor.study.drill import Drill
from fatutor.study.summary import summarise
from fatutor.text.words import many
from fatutor.ui.keys import SUMMARY, bindings
from fatutor.ui.render import Prose
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.widgets.speaking import Heading, mm_ss


class SummaryScreen(BaseScreen):
    WHERE = SUMMARY
    BINDINGS = bindings(SUMMARY)

    def __init__(self, drill: Drill) -> None:
        super().__init__()
        self.drill = drill

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Prose(id="report")

    def on_mount(self) -> None:
        self.query_one("#head", Heading).show("Done for now")
        self.query_one("#report", Prose).show(self.report())

    def report(self) -> str:
        if not self.drill.graded:
            return "No card was graded.\n\nEvery card is stored as you left it."
        done = summarise(self.drill.graded)
        lines = [
            f"**{many(done.cards, 'card')}** in {mm_ss(done.seconds)}, every grade is stored.",
            "",
            " · ".join(f"{count} {label}" for label, count in done.by_grade),
            "",
        ]
        if done.points:
            lines += [f"You said {done.said} of {done.points} key points.", ""]
        if done.slowest:
            lines += ["**Took longest**", ""]
            lines += [
                f"- {sheet.title(graded.card)} · {mm_ss((graded.entry.speaking_ms or 0) / 1000)}"
                for graded in done.slowest
            ]
            lines.append("")
        if done.comes_back:
            lines += ["**Comes back**", ""]
            lines += [f"- {many(count, 'card')} in {sheet.days(ahead)}" for ahead, count in done.comes_back]
        return "\n".join(lines)

    def action_leave(self) -> None:
        self.app.home()

    def action_undo(self) -> None:
        try:
            undone = self.drill.undo()
        except FatutorError as reason:
            self.say(reason)
            return
        if self.drill.turn is None:
            self.say(sheet.taken_back(undone))
        else:
            self.app.back_to_drill(self.drill)
