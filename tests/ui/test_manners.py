"""What holds on every screen: news, themes, and text that is never lost at the edge."""

from __future__ import annotations

import asyncio
import gc

import pytest
from textual.app import App, ComposeResult

from fatutor.deck.model import KeyPoint
from fatutor.settings import Settings
from fatutor.ui.app import FatutorApp
from fatutor.ui.widgets.key_points import KeyPoints


def test_the_next_key_clears_the_news(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("u")
        seat.expect("nothing")
        await seat.press("down")
        assert not seat.shows("nothing")

    sit(desk, scene)


def test_a_letter_typed_into_a_box_clears_the_news_too(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "enter", "a", "ctrl+j")
        seat.expect("an empty answer commits nothing")
        await seat.press("h")
        assert not seat.shows("an empty answer commits nothing")

    sit(desk, scene)


@pytest.mark.parametrize(
    ("named", "background"),
    [("fatutor-light", "#faf9f6"), ("light", "#faf9f6"), ("", "#14161a"), ("no-such-theme", "#14161a")],
)
def test_the_theme_named_is_the_theme_drawn(desk, monkeypatch, named, background) -> None:
    # Textual reads TEXTUAL_THEME when it is imported, and hands the name to every app before it starts.
    monkeypatch.setattr(App.theme, "_default", named or "textual-dark")

    async def look() -> str:
        app = FatutorApp(desk, {"TEXTUAL_THEME": named})
        async with app.run_test() as pilot:
            await pilot.pause()
            return app.screen.styles.background.hex.lower()

    assert asyncio.run(look()) == background


@pytest.mark.parametrize("open_on", ["today", "learn", "drill"])
def test_garbage_is_collected_once_the_first_screen_shows(desk, sit, open_on) -> None:
    collected: list[bool] = []
    read = desk.facts

    def watched():
        collected.append(gc.isenabled())
        return read()

    async def scene(seat) -> None:
        assert collected
        assert not any(collected)
        assert gc.isenabled()

    desk.facts = watched
    sit(desk, scene, open_on=open_on)


@pytest.mark.parametrize("open_on", ["today", "learn", "drill"])
def test_a_theme_that_is_none_is_told_on_the_first_screen(make_desk, sit, open_on) -> None:
    async def scene(seat) -> None:
        seat.expect("! there is no theme “sepia”; write dark, light, terminal or one of Textual's")
        await seat.press("down")
        assert not seat.shows("sepia")

    sit(make_desk(Settings(theme="sepia")), scene, open_on=open_on)


class Points(App[None]):
    def __init__(self, *texts: str) -> None:
        super().__init__()
        self.points = [KeyPoint(text, critical=False) for text in texts]

    def compose(self) -> ComposeResult:
        yield KeyPoints()

    def on_mount(self) -> None:
        self.query_one(KeyPoints).show(self.points, frozenset())


@pytest.mark.parametrize("width", range(24, 50))
def test_key_points_keep_every_word_at_every_width(width: int) -> None:
    words = "total FLOPs unchanged and memory per device linear in c and d"

    async def lines() -> list[str]:
        app = Points(*[words] * 10)
        async with app.run_test(size=(width, 80)) as pilot:
            await pilot.pause()
            strips = app.screen._compositor.render_strips()
            return [strip.text.rstrip() for strip in strips]

    shown = [line for line in asyncio.run(lines()) if line]
    heads, texts = [line[:9].strip() for line in shown], [line[9:] for line in shown]
    assert [head for head in heads if head] == ["▸[ ]  1", *(f"[ ] {i:>2}" for i in range(2, 11))]
    assert " ".join(texts) == " ".join([words] * 10)


def test_help_goes_on_below_its_own_words(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("question_mark")
        lines = seat.frame.split("\n")
        at = next(i for i, line in enumerate(lines) if "the modules" in line)
        column = lines[at].index("the modules")
        assert lines[at][column:].startswith("the modules: beats, outcomes and where you  ")
        assert lines[at + 1][column:].startswith("stand") and not lines[at + 1][:column].strip()
        await seat.press(*["j"] * 20)
        seat.expect("grade is stored at once.")

    sit(desk, scene, (60, 20))


def test_a_text_box_shows_where_it_is_without_colour(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "enter", "a")
        await seat.type("words")
        at = next(i for i, line in enumerate(seat.lines) if "words" in line)
        assert [line[1] for line in seat.lines[at : at + 5]] == ["▌"] * 5

    sit(desk, scene)


def test_today_says_how_many_cards_a_deck_has(desk, sit) -> None:
    async def scene(seat) -> None:
        assert next(line for line in seat.lines if "Plain cards" in line).split()[-5:] == [
            "0",
            "4",
            "0",
            "of",
            "4",
        ]

    sit(desk, scene)


def test_space_goes_to_the_key_points_and_back(make_desk, decks, sit) -> None:
    deck = decks / "plain.md"
    long = "\n\n".join(f"Paragraph {n}." for n in range(30))
    deck.write_text(
        deck.read_text("utf-8").replace("It is 156 FLOP/B.", f"It is 156 FLOP/B.\n\n{long}"), "utf-8"
    )

    async def scene(seat) -> None:
        await seat.press("enter")
        while seat.app.screen.drill.turn.card.id != "ridge":
            seat.app.set_focus(None)
            await seat.press("b")
        await seat.press("space")
        seat.expect("It is 156 FLOP/B.", "space key points")
        assert not seat.shows("What did you say?")
        await seat.press("space")
        seat.expect("What did you say?", "[ ] 3")
        await seat.press("space")
        seat.expect("It is 156 FLOP/B.")

    sit(make_desk(), scene)


def test_a_hint_is_shown_when_it_is_asked_for(make_desk, decks, sit) -> None:
    deck = decks / "plain.md"
    text = deck.read_text("utf-8").replace(
        "### Answer\nIt is 156", "### Hint\nTwo peaks.\n\n### Answer\nIt is 156"
    )
    deck.write_text(text, "utf-8")

    async def scene(seat) -> None:
        await seat.press("enter")
        while seat.app.screen.drill.turn.card.id != "ridge":
            assert not seat.shows("h hint")
            seat.app.set_focus(None)
            await seat.press("b")
        seat.expect("h hint")
        assert not seat.shows("Two peaks.")
        await seat.press("h")
        seat.expect("Two peaks.")

    sit(make_desk(), scene)
