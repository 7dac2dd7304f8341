"""A demo: your prediction first, then the run, then what you said, the formula says and the machine says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import Enum

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.widget import Widget
from textual.widgets import Input, Static

from fatutor.deck.model import AnswerForm, Card
from fatutor.demo import sheet
from fatutor.demo.catalogue import Demo
from fatutor.demo.evidence import Evidence, kept, witnesses
from fatutor.demo.machine import missing
from fatutor.demo.places import Source
from fatutor.demo.prediction import Prediction, predict
from fatutor.demo.recordings import Recording
from fatutor.demo.run import Run
from fatutor.demo.units import example
from fatutor.errors import FatutorError
from fatutor.store.records import DemoRun
from fatutor.ui.charts import bars, curves, table
from fatutor.ui.keys import DEMO, bindings
from fatutor.ui.render import Prose
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.widgets.speaking import Heading, bar

REDRAW = 0.25
"""Seconds between two drawings of a run, however fast its events come: what an ssh line carries with ease."""


class Stage(Enum):
    PREDICT = "predict"
    RUN = "run"
    VERDICT = "verdict"


class DemoScreen(BaseScreen):
    WHERE = DEMO
    BINDINGS = [*bindings(DEMO), Binding("enter", "enter", show=False)]

    def __init__(
        self,
        demo: Demo,
        sources: Sequence[Source],
        card: Card | None,
        kept: Callable[[DemoRun], None] | None = None,
        said: str = "",
    ) -> None:
        """`sources` are where it can run, one at least; the first is where it runs unless told otherwise.

        `kept` is told of each run once it is stored, so that a review can carry it as evidence.

        `said` is what the learner has answered the card so far: a prediction, if the demo asks for the same.
        """
        super().__init__()
        self.demo = demo
        self.card = card
        self.stage = Stage.PREDICT
        self.evidence = Evidence()
        self.prediction: Prediction | None = None
        self.params: Mapping[str, object] = {param.name: param.default for param in demo.params}
        self.marked = next((param.name for param in sheet.changeable(demo)), "")
        self.sources = sources
        self._source = 0
        self._said = sheet.from_card(demo, card, said)
        self._kept = kept
        self._run: Run | None = None
        self._log_open = False
        self._started_at = 0.0

    @property
    def source(self) -> Source:
        """Where the next run is made, or was."""
        return self.sources[self._source]

    @property
    def recording(self) -> Recording | None:
        return next((source for source in self.sources if isinstance(source, Recording)), None)

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Static(id="origin", markup=False)
            yield Prose(id="question")
            yield Static(id="progress", markup=False)
            yield Static(id="verdict", markup=False)
            yield Static(id="witnesses", markup=False)
            yield Static(id="bars", markup=False)
            yield Static(id="remarks", markup=False)
            yield Static(id="sizes", markup=False)
            yield Static(id="curves", markup=False)
            yield Static(id="log", markup=False)
            yield Static(id="runs", markup=False)
            yield Prose(self.demo.explain, id="explain")
        with Vertical(id="ask"):
            yield Static(id="how", markup=False)
            yield Input(id="number", compact=True)

    def on_mount(self) -> None:
        super().on_mount()
        self.hush()
        self.query_one("#number", Input).cursor_blink = False
        self._fold()
        self.ask()
        if told := self.what_is_missing():
            self.say(told)
        self.set_interval(REDRAW, self._follow_along)

    def what_is_missing(self) -> str:
        """What the place that comes first has not got, said before anyone has thought of a prediction."""
        source = self.source
        if isinstance(source, Recording):
            return f"{self.demo.name} needs a GPU and none is here; what it did on one is recorded"
        absent = [] if source.launcher.remote else missing(self.demo.needs)
        if not absent:
            return ""
        otherwise = "; w shows the recorded run" if self.recording else ""
        return f"{' and '.join(absent)} not installed here: pip install 'fatutor[demos]'{otherwise}"

    # -- predict ------------------------------------------------------------------------------------

    def ask(self) -> None:
        """The question; nothing runs before it has an answer."""
        self.stage = Stage.PREDICT
        self.evidence = Evidence()
        number = self.demo.form is AnswerForm.NUMBER
        box = self.query_one("#number", Input)
        box.display = number
        box.value = self._said if number else ""
        box.placeholder = f"a number, such as {example(self.demo.unit)}"
        self.set_focus(box if number else None)
        self.draw()

    def commit(self, typed: str) -> None:
        try:
            self.prediction = predict(typed, self.demo.unit, self.demo.choices)
        except FatutorError as reason:
            self.say(reason)
            return
        self.hush()
        self.stage = Stage.RUN
        self._said = ""
        self.set_focus(None)
        self._started_at = self.desk.time.monotonic()
        self.draw()
        self.follow(self.source)

    # -- run ----------------------------------------------------------------------------------------

    @work(exclusive=True, exit_on_error=True)
    async def follow(self, source: Source) -> None:
        """Run the demo in its own process; leaving this screen ends it."""
        self._run = None
        try:
            if isinstance(source, Recording):
                for event in source.shown(self.demo.name):
                    self.evidence = self.evidence.after(event)
            else:
                async with Run(source.launcher, self.demo.name, self.params, source.device) as run:
                    self._run = run
                    async for event in run:
                        self.evidence = self.evidence.after(event)
        except FatutorError as reason:
            self.ask()
            self.say(reason)
            return
        self.stage = Stage.VERDICT
        self.draw()
        if not isinstance(source, Recording):
            self.keep()

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
            if self._kept is not None:
                self._kept(run)
        except FatutorError as reason:
            self.say(FatutorError(f"this run is not kept: {reason.what}", reason.way_out))

    # -- drawing ------------------------------------------------------------------------------------

    def _follow_along(self) -> None:
        """A run is drawn by the clock and not by its events, which may come by the thousand."""
        if self.stage is Stage.RUN:
            self.draw()

    def draw(self) -> None:
        predicting, over = self.stage is Stage.PREDICT, self.stage is Stage.VERDICT
        recorded = isinstance(self.source, Recording)
        self.query_one("#ask").display = predicting
        self.query_one("#how", Static).update(sheet.asking(self.demo, self.source, self._said))
        question = self.query_one("#question", Prose)
        question.display = not over
        if predicting:
            question.show(sheet.question(self.demo, self.chosen()))
        self._show(
            "#origin", self.source.origin(self.demo.name) if isinstance(self.source, Recording) else ""
        )
        changeable = self.stage is not Stage.RUN and not recorded
        self._show("#sizes", sheet.sizes(self.demo, self.params, self.marked) if changeable else "")
        self._show("#progress", self.progress_line() if self.stage is Stage.RUN else "")
        self._show("#log", self.log_lines() if self._log_open and not predicting else "")
        self.draw_witnesses()
        self.refresh_keys()

    def draw_witnesses(self) -> None:
        """The table as far as the run has come; chart and verdict once it is over."""
        over, width = self.stage is Stage.VERDICT, max(20, self.size.width - 4)
        setting = f"{self.sizes()} · {self.source.label}".removeprefix(" · ")
        for name in ("#verdict", "#witnesses", "#bars", "#remarks", "#curves"):
            self.query_one(name).display = False
        if self.prediction is not None and self.stage is not Stage.PREDICT:
            seen = witnesses(self.evidence, self.prediction, self.whereabouts())
            self._show("#witnesses", table(seen, width))
            if over:
                self._show("#bars", bars(seen.bars, min(width, 72)))
                self._show("#curves", curves(seen.series, min(width, 72)))
                self.draw_verdict(*sheet.verdict(self.demo, seen))
                self._show("#remarks", sheet.remarks(seen, self.recorded_line(), self.counted()))
            setting = seen.setting or setting
        self.query_one("#head", Heading).show(self.demo.name, setting)

    def draw_verdict(self, verdict: str, *more: str) -> None:
        lines = [Content.styled(verdict, "bold"), *(Content(line) for line in more if line)]
        static = self.query_one("#verdict", Static)
        static.display = True
        static.update(Content("\n").join(lines))

    def _show(self, name: str, text: str) -> None:
        """Text into a Static, which takes no room where there is none."""
        static = self.query_one(name, Static)
        static.display = bool(text)
        static.update(Content(text))

    def chosen(self) -> Mapping[str, object]:
        """The sizes of the next run; none for a recorded one, whose numbers say theirs."""
        return {} if isinstance(self.source, Recording) else self.params

    def sizes(self) -> str:
        return " · ".join(f"{name} {value}" for name, value in self.chosen().items())

    def whereabouts(self) -> str:
        """What to add to a device's name: which machine it is in, or that this is an old run."""
        if isinstance(self.source, Recording):
            return f", {self.source.date}, recorded"
        return self.source.launcher.at

    def recorded_line(self) -> str:
        """What was recorded, beside a run of today."""
        recording = self.recording
        if recording is None or recording is self.source:
            return ""
        return sheet.recorded_line(self.demo.name, recording)

    def counted(self) -> str:
        """What a recording's hardware counters read for what this run was about."""
        result = self.evidence.result
        return sheet.counted(result, self.desk.counted(result)) if result else ""

    def progress_line(self) -> str:
        """How far, how long still, how fast: `━━━━━───── 4 of 8 tiles · 2 s left · 1.3 a second`."""
        passed = self.desk.time.monotonic() - self._started_at
        told = self.evidence.progress
        if told is None:
            return f"starting {self.source.label} … {passed:.0f} s"
        line = sheet.pace(told, passed)
        return f"{bar(min(1.0, told.done / told.total), 20)} {line}" if told.total else line

    def log_lines(self) -> str:
        lines = self._run.log if self._run else ()
        return "\n".join(("It printed", *lines) if lines else ("It printed nothing.",))

    # -- keys ---------------------------------------------------------------------------------------

    def allowed(self, method: str) -> bool:
        predicting, running = self.stage is Stage.PREDICT, self.stage is Stage.RUN
        number = self.demo.form is AnswerForm.NUMBER
        match method:
            case "choose":
                return predicting and not number
            case "write":
                return predicting and number and not self.typing
            case "commit":
                return predicting and (number or bool(self._said))
            case "again" | "explain":
                return self.stage is Stage.VERDICT
            case "vary":
                return not running and bool(self.marked) and not isinstance(self.source, Recording)
            case "mark":
                return self.allowed("vary") and len(sheet.changeable(self.demo)) > 1
            case "elsewhere":
                return not running and len(self.sources) > 1
            case "show_log":
                return not predicting and not isinstance(self.source, Recording)
            case "show_runs":
                return not running
            case "cancel":
                return running
        return True

    def action_write(self) -> None:
        self.set_focus(self.query_one("#number", Input))

    def action_commit(self) -> None:
        number = self.demo.form is AnswerForm.NUMBER
        self.commit(self.query_one("#number", Input).value if number else self._said)

    def on_input_submitted(self) -> None:
        self.action_commit()

    def action_enter(self) -> None:
        """Enter commits, as the line above the box says, also while the box has not got the keys."""
        if self.allowed("commit"):
            self.action_commit()

    def action_choose(self, key: str) -> None:
        self.commit(key)

    def action_cancel(self) -> None:
        self.workers.cancel_node(self)
        self.ask()
        self.say("stopped; nothing was kept")

    def action_again(self) -> None:
        self._fold()
        self.hush()
        self.ask()

    def action_vary(self) -> None:
        """The next value of the marked size; the prediction starts anew."""
        param = next(param for param in self.demo.params if param.name == self.marked)
        now = self.params[param.name]
        at = param.values.index(now) if now in param.values else -1
        self.params = {**self.params, param.name: param.values[(at + 1) % len(param.values)]}
        self._ask_differently()

    def action_mark(self) -> None:
        """Which size the next key changes."""
        names = [param.name for param in sheet.changeable(self.demo)]
        self.marked = names[(names.index(self.marked) + 1) % len(names)]
        self.draw()

    def action_elsewhere(self) -> None:
        """The next place to run; the prediction starts anew."""
        self._source = (self._source + 1) % len(self.sources)
        self._ask_differently()

    def _ask_differently(self) -> None:
        """The question again, with the keys still free: who changes one thing may change another."""
        if self.stage is Stage.VERDICT:
            self.action_again()
        self.set_focus(None)
        self.draw()

    def action_explain(self) -> None:
        self._unfold(self.query_one("#explain"))

    def action_show_log(self) -> None:
        self._log_open = not self._log_open
        self.draw()
        if self._log_open:
            self.call_after_refresh(self.query_one("#log").scroll_visible, top=True, animate=False)

    def action_show_runs(self) -> None:
        try:
            runs = self.desk.runs(self.demo.name)
        except FatutorError as reason:
            self.say(reason)
            return
        shown = self.query_one("#runs", Static)
        shown.update(Content(sheet.history(runs, self.desk.time.clock.zone)))
        self._unfold(shown)

    def _unfold(self, part: Widget) -> None:
        part.display = not part.display
        if part.display:
            self.call_after_refresh(part.scroll_visible, top=True, animate=False)

    def _fold(self) -> None:
        """Put away what was looked at on demand."""
        self._log_open = False
        for name in ("#explain", "#runs"):
            self.query_one(name).display = False

    def on_resize(self) -> None:
        self.draw()
