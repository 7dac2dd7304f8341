"""A demo: your prediction first, then the run, then what you said, the formula says and the machine says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum

from textual import work
from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static

from fatutor.deck.model import AnswerForm, Card
from fatutor.demo.catalogue import Demo
from fatutor.demo.evidence import Evidence, Witnesses, kept, witnesses
from fatutor.demo.prediction import Prediction, predict
from fatutor.demo.run import Run
from fatutor.errors import FatutorError
from fatutor.store.records import DemoRun
from fatutor.ui.charts import bars, table
from fatutor.ui.keys import DEMO, bindings
from fatutor.ui.render import Prose
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.widgets.speaking import Heading, bar


class Stage(Enum):
    PREDICT = "predict"
    RUN = "run"
    VERDICT = "verdict"


class DemoScreen(BaseScreen):
    WHERE = DEMO
    BINDINGS = bindings(DEMO)

    def __init__(self, demo: Demo, card: Card | None, kept: Callable[[DemoRun], None] | None = None) -> None:
        """`kept` is told of each run once it is stored, so that a review can carry it as evidence."""
        super().__init__()
        self.demo = demo
        self.card = card
        self.stage = Stage.PREDICT
        self.evidence = Evidence()
        self.prediction: Prediction | None = None
        self.params: Mapping[str, object] = {param.name: param.default for param in demo.params}
        self._kept = kept
        self._started_at = 0.0

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Prose(id="question")
            yield Static(id="progress", markup=False)
            yield Static(id="witnesses", markup=False)
            yield Static(id="bars", markup=False)
            yield Prose(id="verdict")
            yield Prose(self.demo.explain, id="explain")
        with Vertical(id="ask"):
            yield Static(id="how", markup=False)
            yield Input(id="number", compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        self.hush()
        self.query_one("#number", Input).cursor_blink = False
        self.query_one("#explain").display = False
        self.ask()

    # -- predict ------------------------------------------------------------------------------------

    def ask(self) -> None:
        """The question; nothing runs before it has an answer."""
        self.stage = Stage.PREDICT
        self.evidence = Evidence()
        self.query_one("#head", Heading).show(self.demo.name, self.sizes())
        number = self.demo.form is AnswerForm.NUMBER
        choices = "\n".join(f"{i}. {choice}" for i, choice in enumerate(self.demo.choices, 1))
        self.query_one("#question", Prose).show(f"## {self.demo.claim}\n\n{self.demo.question}\n\n{choices}")
        self.query_one("#how", Static).update(
            f"Your prediction in {self.demo.unit or 'plain numbers'}; enter commits it and runs."
            if number
            else "Choose; the choice is your prediction, and starts the run."
        )
        box = self.query_one("#number", Input)
        box.display = number
        box.value = ""
        box.placeholder = f"a number in {self.demo.unit}, with a prefix if you like"
        self.set_focus(box if number else None)
        self.draw()

    def sizes(self) -> str:
        return " · ".join(f"{name} {value}" for name, value in self.params.items())

    def commit(self, typed: str) -> None:
        try:
            self.prediction = predict(typed, self.demo.unit, self.demo.choices)
        except FatutorError as reason:
            self.say(reason)
            return
        self.hush()
        self.stage = Stage.RUN
        self.set_focus(None)
        self._started_at = self.desk.time.monotonic()
        self.draw()
        self.follow()

    # -- run ----------------------------------------------------------------------------------------

    @work(exclusive=True, exit_on_error=True)
    async def follow(self) -> None:
        """Run the demo in its own process; leaving this screen ends it."""
        try:
            async with Run(self.desk.launcher, self.demo.name, self.params, "auto") as run:
                async for event in run:
                    self.evidence = self.evidence.after(event)
                    self.draw()
        except FatutorError as reason:
            self.stage = Stage.PREDICT
            self.say(reason)
            self.ask()
            return
        self.stage = Stage.VERDICT
        self.keep()
        self.draw()

    def keep(self) -> None:
        """Store the run as evidence; a run that failed is no evidence."""
        if self.evidence.result is None or self.prediction is None:
            return
        blank = DemoRun(
            id=self.desk.new_id(),
            demo=self.demo.name,
            at=self.desk.time.now(),
            card=self.card.id if self.card else None,
        )
        run = kept(blank, self.prediction, self.evidence)
        try:
            self.desk.store.add_run(run)
        except FatutorError as reason:
            self.say(reason)
            return
        if self._kept is not None:
            self._kept(run)

    # -- drawing ------------------------------------------------------------------------------------

    def draw(self) -> None:
        running, over = self.stage is Stage.RUN, self.stage is Stage.VERDICT
        self.query_one("#ask").display = self.stage is Stage.PREDICT
        self.query_one("#question").display = not over
        progress = self.query_one("#progress", Static)
        progress.display = running
        progress.update(self.progress_line())
        seen = witnesses(self.evidence, self.prediction) if self.prediction is not None else None
        for name, shown in (
            ("#witnesses", seen and seen.rows),
            ("#bars", seen and seen.bars and over),
            ("#verdict", over),
        ):
            self.query_one(name).display = bool(shown) and self.stage is not Stage.PREDICT
        if seen is not None and self.stage is not Stage.PREDICT:
            width = max(20, self.size.width - 4)
            self.query_one("#witnesses", Static).update(Content(table(seen, width)))
            self.query_one("#bars", Static).update(Content(bars(seen.bars, min(width, 72))))
            self.query_one("#verdict", Prose).show(verdict(seen))
            self.query_one("#head", Heading).show(self.demo.name, seen.setting or self.sizes())
        self.refresh_keys()

    def progress_line(self) -> str:
        """How far, how fast, how long still: `━━━━━───── 4 of 8 tiles · 2 s left`."""
        told = self.evidence.progress
        if told is None:
            return "starting …"
        passed = self.desk.time.monotonic() - self._started_at
        if not told.total:
            return f"{told.note or 'running'} · {passed:.0f} s"
        share = min(1.0, told.done / told.total)
        left = f" · {passed * (1 - share) / share:.0f} s left" if share > 0.1 and passed > 1 else ""
        return f"{bar(share, 20)} {told.done:g} of {told.total:g} {told.note}{left}"

    # -- keys ---------------------------------------------------------------------------------------

    def allowed(self, method: str) -> bool:
        predicting, over = self.stage is Stage.PREDICT, self.stage is Stage.VERDICT
        number = self.demo.form is AnswerForm.NUMBER
        match method:
            case "digit":
                return predicting and not number
            case "write":
                return predicting and number and not self.typing
            case "commit":
                return predicting and number
            case "again" | "explain":
                return over
            case "vary":
                return over and any(len(param.values) > 1 for param in self.demo.params)
            case "cancel":
                return self.stage is Stage.RUN
        return True

    def action_write(self) -> None:
        self.set_focus(self.query_one("#number", Input))

    def action_commit(self) -> None:
        self.commit(self.query_one("#number", Input).value)

    def on_input_submitted(self) -> None:
        self.action_commit()

    def action_digit(self, key: str) -> None:
        self.commit(key)

    def action_cancel(self) -> None:
        self.workers.cancel_node(self)
        self.ask()
        self.say("stopped; nothing was kept")

    def action_again(self) -> None:
        self.query_one("#explain").display = False
        self.ask()

    def action_vary(self) -> None:
        """The next value of the first parameter that has several; the prediction starts anew."""
        for param in self.demo.params:
            if len(param.values) > 1:
                at = (
                    param.values.index(self.params[param.name])
                    if self.params[param.name] in param.values
                    else -1
                )
                self.params = {**self.params, param.name: param.values[(at + 1) % len(param.values)]}
                break
        self.action_again()

    def action_explain(self) -> None:
        explain = self.query_one("#explain")
        explain.display = not explain.display
        if explain.display:
            self.call_after_refresh(explain.scroll_visible, top=True, animate=False)

    def action_move(self, by: int) -> None:
        self.query_one("#page", VerticalScroll).scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        page = self.query_one("#page", VerticalScroll)
        page.scroll_relative(y=by * max(1, page.size.height - 2), animate=False)

    def on_resize(self) -> None:
        self.draw()


def verdict(seen: Witnesses) -> str:
    """Below the numbers: the verdict, how near the prediction was, and what this device cannot show."""
    parts = [f"**{seen.verdict}**" if seen.verdict else "", seen.comparison, seen.derivation, seen.limits]
    return "\n\n".join(part for part in parts if part)
