"""The app: which screen shows, and what the screens ask of the world outside the terminal."""

from __future__ import annotations

import asyncio
import gc
import signal
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from rich.text import Text
from textual.app import App
from textual.events import Event, Key

from fatutor.crash import told
from fatutor.deck.model import Card, Deck, Place, Term
from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.store.records import DemoRun
from fatutor.study import sheet
from fatutor.study.drill import Drill
from fatutor.study.overview import Marked
from fatutor.text.clean import clean_line
from fatutor.ui.drafts import Drafts
from fatutor.ui.editor import open_editor
from fatutor.ui.keys import actions
from fatutor.ui.looks import OWN, theme_name
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.screens.today import TodayScreen

DRAFTS_EVERY = 2.0  # seconds: a kill takes no more than was typed in as many


class FatutorApp(App[None]):
    TITLE = "fatutor"
    CSS_PATH = "app.tcss"
    HORIZONTAL_BREAKPOINTS = [(0, "-narrow"), (80, "-normal"), (120, "-wide")]

    def __init__(
        self, desk: Desk, environ: Mapping[str, str], *, open_on: str = "today", decks: Sequence[Deck] = ()
    ) -> None:
        super().__init__()
        self.desk = desk
        self.drafts = Drafts(desk.paths.data / "drafts.json")
        self.places: dict[str, float] = {}  # how far down each beat was scrolled, by deck
        self.revealed: set[str] = set()  # the prompts inside beats that were answered
        self._environ = environ
        self._open_on = open_on
        self._decks = decks
        if "TEXTUAL_ANIMATIONS" not in environ:
            self.animation_level = "none"
        for theme in OWN:
            self.register_theme(theme)

    def on_mount(self) -> None:
        gc.disable()  # what a start reads stays: no garbage to be found there before the first screen shows
        wanted = theme_name(self.desk.settings.theme, self._environ)
        # Textual has read TEXTUAL_THEME before our themes were registered, and takes no notice of a name it
        # holds already.
        self.set_reactive(App.theme, "")
        known = wanted in self.available_themes
        self.theme = wanted if known else OWN[0].name
        self.push_screen(TodayScreen())
        if self._open_on == "learn":
            self.show_learn()
        elif self._open_on == "drill":
            self.start_drill(*self._decks)
        if not known:
            way_out = "write dark, light, terminal or one of Textual's"
            self.tell(FatutorError(f"there is no theme “{clean_line(wanted)}”", way_out))
        self._leave_cleanly()
        self.call_after_refresh(self._settle)

    def _settle(self) -> None:
        """What can wait until the first screen is drawn, and is done while somebody reads it."""
        gc.enable()
        # The database layer takes half a second to import.
        self.set_interval(DRAFTS_EVERY, self.drafts.keep)
        warm_up = threading.Thread(target=self.desk.warm_up, daemon=True)
        self.set_timer(0.5, warm_up.start)

    async def on_event(self, event: Event) -> None:
        """The next key clears the news, whatever takes the key."""
        if isinstance(event, Key) and not event.is_forwarded and isinstance(self.screen, BaseScreen):
            self.screen.hush()
        await super().on_event(event)

    def _leave_cleanly(self) -> None:
        """A closed pane or a kill restores the terminal and ends a running demo."""
        loop = asyncio.get_running_loop()
        for name in ("SIGTERM", "SIGHUP"):
            if hasattr(signal, name):
                # Not on Windows, and not where the app is driven outside a main thread, as tests may.
                with suppress(NotImplementedError, RuntimeError, ValueError):
                    loop.add_signal_handler(getattr(signal, name), self.exit)

    def _fatal_error(self) -> None:
        """A fault of our own ends the app with one line; Textual would print a traceback with all locals."""
        error = sys.exc_info()[1]
        if error is not None:
            self.panic(Text(told(error, self.desk.paths.data)))

    def on_unmount(self) -> None:
        self.drafts.keep()

    # -- going places -------------------------------------------------------------------------------

    def home(self) -> None:
        """Back to Today."""
        while len(self.screen_stack) > 2:
            self.pop_screen()

    def show_learn(self) -> None:
        from fatutor.ui.screens.learn import LearnScreen

        self.push_screen(LearnScreen())

    def show_beat(self, deck: Deck, *, instead: bool = False) -> None:
        from fatutor.ui.screens.beat import BeatScreen

        try:
            screen = BeatScreen(self.desk.lesson(deck))
        except FatutorError as reason:
            self.tell(reason)
            return
        if instead:
            self.switch_screen(screen)
        else:
            self.push_screen(screen)

    def start_drill(self, *decks: Deck) -> None:
        """Drill all that is due, or only what is due of some decks."""
        from fatutor.ui.screens.drill import DrillScreen

        try:
            drill = self.desk.drill(*decks)
        except FatutorError as reason:
            self.tell(reason)
            return
        if drill.turn is None:
            self.tell("nothing here is due today, and no new card is left for today")
            return
        self.push_screen(DrillScreen(drill))

    def undo_into_drill(self) -> str | FatutorError | None:
        """Undo from Today: the card taken back is on the table of a fresh sitting.

        Returns what there is to say where that takes no sitting.
        """
        from fatutor.ui.screens.drill import DrillScreen

        try:
            drill = self.desk.drill()
            before = drill.turn
            undone = drill.undo()
        except FatutorError as reason:
            return reason
        now = drill.turn
        if undone is None or now is None or now is before or now.card.id != undone.card:
            return sheet.taken_back(undone)
        self.push_screen(DrillScreen(drill, taken_back=True))
        self.tell(sheet.taken_back(undone))
        return None

    def show_summary(self, drill: Drill) -> None:
        from fatutor.ui.screens.summary import SummaryScreen

        self.switch_screen(SummaryScreen(drill))

    def back_to_drill(self, drill: Drill) -> None:
        """From the summary, where the last card was taken back."""
        from fatutor.ui.screens.drill import DrillScreen

        self.switch_screen(DrillScreen(drill, taken_back=True))

    def show_demos(self) -> None:
        from fatutor.ui.screens.demos import DemosScreen

        self.push_screen(DemosScreen())

    def show_card_demo(self, card: Card, kept: Callable[[DemoRun], None], said: str = "") -> None:
        """The card's demo. `said` is what the learner has answered so far, which may be a prediction."""
        if card.demo is None:
            self.tell("this card has no demo")
        else:
            self.show_demo(card.demo, card, kept, said)

    def show_demo(
        self,
        name: str,
        card: Card | None = None,
        kept: Callable[[DemoRun], None] | None = None,
        said: str = "",
    ) -> None:
        """A demo, for a card or for its own sake."""
        from fatutor.ui.screens.demo import DemoScreen

        try:
            demo = self.desk.demo(name)
            sources = self.desk.sources(demo)
        except FatutorError as reason:
            self.tell(reason)
            return
        self.push_screen(DemoScreen(demo, sources, card, kept, said))

    def show_help(self, screen: BaseScreen) -> None:
        from fatutor.ui.screens.help import HelpScreen

        self.push_screen(HelpScreen([a for a in actions(screen.WHERE) if screen.allowed(a.method)]))

    def show_card(self, marked: Marked) -> None:
        from fatutor.ui.screens.card import CardScreen

        self.push_screen(CardScreen(marked))

    def show_terms(self, screen: BaseScreen, found: Sequence[Term]) -> None:
        from fatutor.ui.screens.terms import TermsScreen

        if found:
            self.push_screen(TermsScreen(found))
        else:
            screen.say("no term of the glossary is used here")

    def tell(self, news: str | FatutorError) -> None:
        screen = self.screen
        if isinstance(screen, BaseScreen):
            # A screen that was pushed just now has no line to say it on yet.
            screen.say(news) if screen.is_mounted else screen.call_later(screen.say, news)
        else:
            self.notify(str(news), markup=False)

    # -- the world outside --------------------------------------------------------------------------

    def edit(self, place: Place, then: Callable[[], None]) -> None:
        """Open a deck in the learner's editor, then take up what changed, and say what an edit broke."""
        try:
            code = open_editor(place, self._environ, self.suspend)
        except FatutorError as reason:
            self.tell(reason)
            return
        then()
        broken = [f for f in self.desk.library.faults if f.place.path == place.path and not f.warning]
        if broken:
            self.tell(str(broken[0]))
        elif code:
            self.tell(f"the editor ended with code {code}")
