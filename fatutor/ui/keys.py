"""Every key of the app, once. Bindings, footer, help screen and the README's table are read from here."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from textual.binding import Binding

TODAY, LEARN, BEAT, DRILL, SUMMARY, DEMO = "today", "learn", "beat", "drill", "summary", "demo"
SCREENS = (TODAY, LEARN, BEAT, DRILL, SUMMARY, DEMO)


@dataclass(frozen=True, slots=True)
class Action:
    """One thing a key does.

    `name` is a Textual action (the screen's method `action_…`); `{key}` in it stands for the key pressed.
    `keys` are Textual's key names, `shown` is how people read them. `label` stands in the footer (empty:
    never there), `help` on the help screen. The footer keeps this order and drops from its end what does
    not fit, but never `?` and `q`.
    """

    name: str
    keys: str
    shown: str
    label: str
    help: str
    where: frozenset[str]

    @property
    def method(self) -> str:
        """The action's name without its arguments, as `check_action` gets it."""
        return self.name.partition("(")[0]

    def bindings(self) -> Iterator[Binding]:
        for key in self.keys.split(","):
            yield Binding(key, self.name.format(key=key), self.label or self.help, show=False)


def _on(*screens: str) -> frozenset[str]:
    return frozenset(screens)


ACTIONS: tuple[Action, ...] = (
    Action("open", "enter", "enter", "open", "open what the cursor is on", _on(TODAY, LEARN)),
    Action("drill", "d", "d", "drill", "drill what is due, and what is new", _on(TODAY)),
    Action("learn", "l", "l", "learn", "the modules: beats, outcomes and where you stand", _on(TODAY)),
    Action("reveal", "space", "space", "answered", "you have answered out loud: show the answer", _on(DRILL)),
    Action(
        "to_points", "space", "space", "key points", "go to the key points, or back to the answer", _on(DRILL)
    ),
    Action("hint", "h", "h", "hint", "show the card's hint", _on(DRILL)),
    Action("onward", "space", "space", "on", "reveal the prompt in view, or turn the page", _on(BEAT)),
    Action("write", "a", "a", "answer", "write your answer", _on(BEAT, DRILL, DEMO)),
    Action("commit", "ctrl+j", "ctrl+j", "commit", "commit what you typed", _on(BEAT, DRILL, DEMO)),
    Action("choose('{key}')", "1,2,3,4,5,6", "1-6", "", "choose an answer", _on(DRILL, DEMO)),
    Action(
        "grade('{key}')",
        "0,1,2,3,4,5",
        "1-4",
        "",
        "again, hard, good, easy (0-5 with six_grades)",
        _on(DRILL),
    ),
    Action("move(1)", "down,j", "↓ j", "", "next row, key point or line", frozenset(SCREENS)),
    Action("move(-1)", "up,k", "↑ k", "", "the one before", frozenset(SCREENS)),
    Action("page(1)", "pagedown", "pgdn", "", "one page on", frozenset(SCREENS)),
    Action("page(-1)", "pageup", "pgup", "", "one page back", frozenset(SCREENS)),
    Action("far(-1)", "home", "home", "", "to the top", frozenset(SCREENS)),
    Action("far(1)", "end", "end", "", "to the end", frozenset(SCREENS)),
    Action("tick", "x", "x", "tick", "tick the key point that you said", _on(DRILL)),
    Action("demo", "d", "d", "predict and run", "predict, then run the card's kernel demo", _on(DRILL, BEAT)),
    Action("next_beat", "n", "n", "next beat", "go on to the next beat", _on(BEAT)),
    Action(
        "undo",
        "u",
        "u",
        "undo",
        "take back the last thing stored, as often as you like",
        _on(TODAY, DRILL, SUMMARY),
    ),
    Action("edit", "e", "e", "edit", "open the card in $EDITOR", _on(DRILL, BEAT)),
    Action("terms", "t", "t", "terms", "the terms used here, each explained", _on(DRILL, BEAT)),
    Action(
        "suspend_card",
        "s",
        "s",
        "suspend",
        "put the card away; Today lists it and brings it back",
        _on(DRILL),
    ),
    Action("bury", "b", "b", "bury", "put the card off until tomorrow", _on(DRILL)),
    Action("flag", "f", "f", "flag", "flag the card, or clear its flag; Today lists it", _on(DRILL)),
    Action("again", "r", "r", "again", "predict and run once more", _on(DEMO)),
    Action("vary", "v", "v", "size", "the next value of the size that ▸ marks", _on(DEMO)),
    Action("explain", "x", "x", "explain", "the derivation beside the numbers", _on(DEMO)),
    Action("cancel", "c", "c", "cancel", "stop the run", _on(DEMO)),
    Action("elsewhere", "w", "w", "where", "where it runs: GPU, CPU, a remote, or recorded", _on(DEMO)),
    Action("show_runs", "h", "h", "history", "earlier runs, and how far off you were", _on(DEMO)),
    Action("show_log", "g", "g", "log", "what the run printed", _on(DEMO)),
    Action("mark", "n", "n", "next parameter", "which size v changes", _on(DEMO)),
    Action("leave", "enter", "enter", "today", "back to Today", _on(SUMMARY)),
    Action("help", "question_mark", "?", "keys", "the keys that work now", frozenset(SCREENS)),
    Action("leave", "q,escape", "q", "back", "back (escape leaves a text box first)", _on(*SCREENS[1:])),
    Action("leave", "q", "q", "quit", "quit; everything is stored", _on(TODAY)),
)

# What `leave` does in a text box; the footer says so while one has the keys.
FREE_THE_KEYS = Action("leave", "escape", "esc", "other keys", "leave the text box", frozenset())


def actions(screen: str) -> Iterator[Action]:
    return (action for action in ACTIONS if screen in action.where)


def bindings(screen: str) -> list[Binding]:
    """The `BINDINGS` of one screen."""
    return [binding for action in actions(screen) for binding in action.bindings()]
