"""What every screen shares: a body, one line for news, one line of keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from textual.app import ComposeResult
from textual.containers import VerticalScroll
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Input, Static, TextArea

from fatutor.errors import FatutorError
from fatutor.ui.keys import FREE_THE_KEYS, actions
from fatutor.ui.widgets.key_bar import KeyBar

if TYPE_CHECKING:
    from fatutor.desk import Desk
    from fatutor.study.overview import BeatLine
    from fatutor.ui.app import FatutorApp


class BaseScreen(Screen[None]):
    """A screen of fatutor. Subclasses set `WHERE` (a name in `keys`) and their `BINDINGS` from it."""

    WHERE = ""
    AUTO_FOCUS = ""  # nothing takes the keys until it is asked to
    app: FatutorApp  # type: ignore[assignment]  # Textual types it as any App

    @property
    def desk(self) -> Desk:
        return self.app.desk

    def compose(self) -> ComposeResult:
        yield from self.body()
        yield Static(id="news", markup=False)
        yield KeyBar()

    def body(self) -> ComposeResult:
        yield from ()

    # -- keys ---------------------------------------------------------------------------------------

    def allowed(self, method: str) -> bool:
        """Whether an action of this screen does something now. Subclasses narrow it."""
        return True

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        if any(action == known.method for known in actions(self.WHERE)):
            return self.allowed(action)
        return True

    def refresh_keys(self) -> None:
        live = [action for action in actions(self.WHERE) if self.allowed(action.method)]
        if self.typing:  # letters are text now
            live = [*(action for action in live if action.keys.startswith("ctrl+")), FREE_THE_KEYS]
        self.query_one(KeyBar).show(live)
        self.refresh_bindings()

    def on_mount(self) -> None:
        self.refresh_keys()

    def on_descendant_focus(self) -> None:
        self.refresh_keys()

    def on_descendant_blur(self) -> None:
        self.refresh_keys()

    @property
    def typing(self) -> bool:
        """A text box has the keys."""
        return isinstance(self.focused, (Input, TextArea))

    def action_press(self, key: str) -> None:
        """A click on the key bar is the key."""
        self.app.simulate_key(key)

    def action_help(self) -> None:
        self.app.show_help(self)

    def action_move(self, by: int) -> None:
        """Scroll by lines, where no row or point is there to move to."""
        self.scroller.scroll_relative(y=by, animate=False)

    def action_page(self, by: int) -> None:
        self.scroller.scroll_relative(y=by * max(1, self.scroller.size.height - 2), animate=False)

    def action_far(self, by: int) -> None:
        """To one end of what scrolls."""
        self.scroller.scroll_to(y=0 if by < 0 else self.scroller.max_scroll_y, animate=False)

    @property
    def scroller(self) -> VerticalScroll:
        """The part of the screen that scrolls; each has one."""
        return self.query_one(VerticalScroll)

    def action_leave(self) -> None:
        if self.typing:
            self.set_focus(None)
        else:
            self.app.pop_screen()

    def open_beat(self, line: BeatLine) -> None:
        if line.status == "locked":
            self.say(f"beat {line.beat.number:02d} opens once {line.waits_for} is answered, right or wrong")
        else:
            self.app.show_beat(line.deck)

    # -- news ---------------------------------------------------------------------------------------

    def say(self, news: str | FatutorError, *, bad: bool = False) -> None:
        """One line for the learner; the next key clears it."""
        line = self.query_one("#news", Static)
        trouble = bad or isinstance(news, FatutorError)
        line.update(Content.assemble(("! ", "bold $error"), str(news)) if trouble else Content(str(news)))
        line.display = bool(str(news))

    def hush(self) -> None:
        for line in self.query("#news"):  # none before the screen is composed
            line.display = False
