"""Today: one look says what to do."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.widgets import Static

from fatutor.deck.model import Deck
from fatutor.errors import FatutorError
from fatutor.study import sheet
from fatutor.study.overview import BeatLine, Marked, Overview
from fatutor.text.words import many
from fatutor.ui.keys import TODAY, bindings
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.widgets.rows import Row, Rows
from fatutor.ui.widgets.speaking import Heading

START, DEMOS = "start", "demos"
MARKS = {"done": "✓", "next": "○", "open": "○", "locked": "·"}


class TodayScreen(BaseScreen):
    WHERE = TODAY
    BINDINGS = bindings(TODAY)

    seen: Overview | None = None  # None until the screen shows, and where nothing could be read

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Rows("rows")
        yield Static(id="truth", markup=False)

    def on_screen_resume(self) -> None:
        """The screen shows, for the first time or once more."""
        self.look_again()

    def look_again(self) -> None:
        """Read what is stored, and draw it."""
        now = self.desk.time.now()
        self.query_one("#head", Heading).show("fatutor", stamp(now))
        try:
            self.seen = self.desk.overview()
        except FatutorError as trouble:
            self.say(trouble)
            return
        self.query_one("#truth", Static).update(self.desk.hardware_truth)
        if self.seen.notes:
            self.say("\n".join(self.seen.notes))
        self.draw()
        self.refresh_keys()

    def on_resize(self) -> None:
        self.draw()

    def draw(self) -> None:
        if self.seen is not None:
            width = min(100, self.size.width - 1) - 2  # less the scrollbar, less the margins of the rows
            self.query_one(Rows).show(list(today_rows(self.seen, width)))

    # -- keys ---------------------------------------------------------------------------------------

    def action_move(self, by: int) -> None:
        self.query_one(Rows).move(by)

    def action_open(self) -> None:
        self.open(self.query_one(Rows).target)

    def on_rows_opened(self, opened: Rows.Opened) -> None:
        self.open(opened.target)

    def open(self, target: object) -> None:
        if target == START:
            self.action_drill()
        elif target == DEMOS:
            self.app.show_demos()
        elif isinstance(target, BeatLine):
            self.open_beat(target)
        elif isinstance(target, Deck):
            self.app.start_drill(target)
        elif isinstance(target, Marked):
            self.app.show_card(target)

    def action_drill(self) -> None:
        self.app.start_drill()

    def action_learn(self) -> None:
        self.app.show_learn()

    def action_undo(self) -> None:
        news = self.app.undo_into_drill()
        if news is not None:
            self.look_again()
            self.say(news)

    def action_leave(self) -> None:
        self.app.exit()


def stamp(now: datetime) -> str:
    return f"{now:%a} {now.day} {now:%b} · {now:%H:%M}"


def today_rows(seen: Overview, width: int) -> Iterator[Row]:
    """The rows of Today from what is stored; `width` decides how much of each beat fits."""
    yield Row("")
    yield Row(f"Today   {seen.summary}", countdown(seen.interview_in), look="bold")
    if seen.counts.total:
        yield Row("start the drill", "enter", target=START)
    elif seen.next_due is not None:
        yield Row(f"nothing is due; the next card comes back {when(seen.next_due, seen.day)}", look="dim")
    if seen.held:
        yield Row(f"{seen.held} more can wait: today is capped", look="dim")
    for module in seen.modules:
        yield Row("")
        yield Row(module.title, module.progress, look="bold")
        for line in module.beats:
            yield beat_row(line, width)
    yield Row("")
    yield Row("demos: predict, then run a kernel", target=DEMOS)
    if seen.decks:
        yield Row("")
        yield Row(columns("Decks", "due", "new", "known", width), look="bold")
        for deck in seen.decks:
            yield Row(
                columns(deck.title, str(deck.due), str(deck.new), f"{deck.known} of {deck.total}", width),
                target=deck.deck,
            )
    if seen.marked:
        yield Row("")
        yield Row("Put away or flagged", look="bold")
        for marked in seen.marked:
            yield Row(sheet.title(marked.card), marked.told, target=marked)
    if not seen.modules and not seen.decks:
        yield Row("no decks here yet", look="dim")


def beat_row(line: BeatLine, width: int) -> Row:
    beat = line.beat
    title = f"{beat.number:02d}  {line.deck.title}"
    if width >= 70:
        title = f"{title:<38.38}  {beat.kind:<10} {beat.minutes:>3} min"
    return Row(title, line.standing, target=line, mark=MARKS[line.status], look=look(line.status))


def look(status: str) -> str:
    return "dim" if status == "locked" else ""


def columns(name: str, due: str, new: str, known: str, width: int) -> str:
    room = max(12, min(42, width - 29))
    return f"{name:<{room}.{room}} {due:>6}{new:>6}{known:>11}"


def countdown(days: int | None) -> str:
    if days is None:
        return ""
    if days == 0:
        return "interview today"
    return f"interview in {many(days, 'day')}"


def when(due: date, today: date) -> str:
    ahead = (due - today).days
    return "tomorrow" if ahead == 1 else f"in {ahead} days"
