"""The terms of a card and of a beat: one key, after the reveal, and nothing that hints before it."""

from __future__ import annotations

import pytest

GLOSSARY = """---
fatutor: 1
title: Terms
glossary: true
---
## Ridge point (ridge, ridge of an A100)
Where the roofline's two limits meet.

## FLOP/B
Operations for each byte; [brackets] stay.

## Vector (vectors)
Several numbers in a row.

## Inside answer
What only the answer says.
"""


@pytest.fixture
def with_glossary(decks, make_desk):
    (decks / "glossary.md").write_text(GLOSSARY, encoding="utf-8")
    return make_desk()


@pytest.mark.parametrize("size", [(60, 20), (80, 24)], ids=str)
def test_a_card_explains_its_terms_after_the_reveal(with_glossary, sit, size) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        while seat.app.screen.drill.turn.card.id != "ridge":
            seat.app.set_focus(None)
            await seat.press("b")
        await seat.press("t")
        assert type(seat.app.screen).__name__ == "DrillScreen"
        assert not seat.shows("t terms")
        await seat.press("space", "t")
        seat.expect("Terms used here", "FLOP/B", "[brackets] stay", "Ridge point", "two limits meet")
        assert not seat.shows("Several numbers in a row")
        await seat.press("t")
        seat.expect("What did you say?")

    sit(with_glossary, scene, size)


def test_a_beat_explains_what_stands_on_its_page(with_glossary, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "enter", "t")
        seat.expect("Vector", "Several numbers in a row.")
        assert not seat.shows("What only the answer says.")
        await seat.press("escape")
        while not seat.shows("The inside answer."):
            await seat.press("space")
        await seat.press("t")
        seat.expect("What only the answer says.")
        await seat.press("q", "a")
        await seat.type("t")
        assert seat.app.drafts["tiny-1-gate"] == "t"

    sit(with_glossary, scene)


def test_a_long_list_scrolls(with_glossary, decks, sit) -> None:
    words = "".join(f"\n## W{n}\n{'word ' * 12}end{n}\n" for n in range(20))
    (decks / "glossary.md").write_text(GLOSSARY + words, encoding="utf-8")
    first = decks / "tiny" / "01.md"
    used = " ".join(f"W{n}" for n in range(20))
    first.write_text(first.read_text("utf-8").replace("Prose of", f"{used}. Prose of"), encoding="utf-8")

    async def scene(seat) -> None:
        await seat.press("l", "enter", "t")
        assert not seat.shows("end9")
        for _ in range(20):
            await seat.press("pagedown")
        seat.expect("end9")
        for _ in range(20):
            await seat.press("pageup")
        seat.expect("Terms used here")
        await seat.press("j", "j", "j", "j")
        assert not seat.shows("Terms used here")
        await seat.press("k", "k", "k", "k")
        seat.expect("Terms used here")

    sit(with_glossary, scene, (60, 20))


def test_without_terms_it_says_so(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "enter", "t")
        seat.expect("no term of the glossary is used here")

    sit(desk, scene)
