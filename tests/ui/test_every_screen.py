"""Every screen at every size: what matters is in view, the keys that work are named, and all can be read."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from importlib import import_module

import pytest

from fatutor.ui import keys
from fatutor.ui.screens.base import BaseScreen

SIZES = [(60, 20), (80, 24), (140, 40)]


def live(seat) -> list[keys.Action]:
    screen = seat.app.screen
    return [action for action in keys.actions(screen.WHERE) if screen.allowed(action.method)]


def in_order(seat, where: str) -> None:
    """The screen called `where` shows, its last line names its keys, and no key is meant for two things."""
    assert where == seat.app.screen.WHERE
    width, height = seat.app.size
    assert len(seat.lines) == height and all(len(line) <= width for line in seat.lines)
    if not seat.app.screen.typing:
        assert "? keys" in seat.lines[-1] and "q " in seat.lines[-1], seat.frame
        pressed = [key for action in live(seat) for key in action.keys.split(",")]
        assert len(pressed) == len(set(pressed)), pressed


async def help_says_what_works(seat) -> None:
    """All of the help can be read, with the keys if it is longer than the screen, and it goes away again."""
    screen, wanted = seat.app.screen, [action.help.split()[0] for action in live(seat)]
    await seat.press("question_mark")
    seat.expect("Keys that work now")
    seen = seat.frame
    for _ in range(30):
        await seat.press("down")
        seen += seat.frame
    assert all(word in seen for word in wanted)
    assert "each grade is stored at once" in " ".join(seen.split())
    await seat.press("escape")
    assert seat.app.screen is screen


async def through_the_drill(seat) -> None:
    while seat.app.screen.WHERE == keys.DRILL:
        form = seat.app.screen.drill.turn.card.response.form.value
        in_order(seat, keys.DRILL)
        match form:
            case "aloud":
                seat.expect("Answer out loud.")
                await seat.press("space")
            case "number":
                seat.expect("Commit a number")
                await seat.press("2", "5", "6", "enter")
            case "choice":
                seat.expect("press the number of your choice")
                await seat.press("2")
            case "text":
                seat.expect("then write it down")
                await seat.press("a", "b", "ctrl+j")
        in_order(seat, keys.DRILL)
        seat.expect("1 again", "4 easy")
        await seat.press("3")


async def today(seat) -> None:
    in_order(seat, keys.TODAY)
    seat.expect("start the drill", "Tiny")
    await help_says_what_works(seat)


async def learn(seat) -> None:
    await seat.press("l")
    in_order(seat, keys.LEARN)
    seat.expect("Tiny", "01  First beat", "after it you can say what beat 1 says", "next")
    await help_says_what_works(seat)


async def beat(seat) -> None:
    await seat.press("l", "enter")
    in_order(seat, keys.BEAT)
    seat.expect("01 First beat", "After this beat you can say what beat 1 says.")
    await help_says_what_works(seat)
    await seat.press("a")
    seat.expect("ctrl+j commit", "esc other keys")
    await seat.press("m", "e", "ctrl+j")
    in_order(seat, keys.BEAT)
    seat.expect("committed; the next beat is open", "n next beat")
    await help_says_what_works(seat)


async def drill(seat) -> None:
    await seat.press("enter")
    await through_the_drill(seat)


async def drill_help(seat) -> None:
    await seat.press("enter")
    while seat.app.screen.drill.turn.card.id != "ridge":
        seat.app.set_focus(None)
        await seat.press("b")
    await help_says_what_works(seat)
    await seat.press("space")
    await help_says_what_works(seat)


async def summary(seat) -> None:
    await seat.press("enter")
    await through_the_drill(seat)
    in_order(seat, keys.SUMMARY)
    seat.expect("Done for now", "4 cards", "every grade is stored")
    seen = seat.frame
    await seat.press("pagedown")
    assert "in 1 d" in seen + seat.frame
    await help_says_what_works(seat)
    await seat.press("enter")
    in_order(seat, keys.TODAY)


SCENES: list[Callable[..., Awaitable[None]]] = [today, learn, beat, drill, drill_help, summary]


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
def test_every_screen_at_every_size(desk, sit, size, scene) -> None:
    sit(desk, scene, size)


def test_every_key_of_every_screen_has_its_method() -> None:
    for name in keys.SCREENS:
        module = import_module(f"fatutor.ui.screens.{name}")
        screens = [
            kind
            for kind in vars(module).values()
            if isinstance(kind, type) and issubclass(kind, BaseScreen) and name == kind.WHERE
        ]
        assert len(screens) == 1
        for action in keys.actions(name):
            assert hasattr(screens[0], f"action_{action.method}"), f"{name}: {action.shown}"
