"""Today, Learn and the beats: reading, revealing, committing, unlocking."""

from __future__ import annotations

import pytest

from fatutor.ui.widgets.prompt_block import PromptBlock

SIZES = [(60, 20), (80, 24), (140, 40)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_today_says_what_to_do(desk, sit, size) -> None:
    async def scene(seat) -> None:
        seat.expect("fatutor", "Sun 29 Nov · 14:05", "4 new · about", "▸ start the drill")
        seat.expect("Tiny", "core 0 of 2", "01  First beat", "next", "02  Second beat")
        seat.expect("? keys", "q quit")
        assert all(len(line) <= size[0] for line in seat.lines)

    sit(desk, scene, size)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_beat_reads_reveals_and_its_gate_opens_the_next(desk, sit, size) -> None:
    async def scene(seat) -> None:
        await seat.press("l")
        seat.expect("after it you can say what beat 1 says")
        await seat.press("enter")
        seat.expect("01 First beat", "m[i]", "vector<int>", "N²")
        assert not seat.shows("The inside answer.")
        for _ in range(20):
            if seat.shows("The inside answer."):
                break
            await seat.press("space")
        seat.expect("The inside answer.", "says inside")
        while not seat.app.screen.typing:
            await seat.press("space")
        await seat.press("ctrl+j")
        seat.expect("an empty answer commits nothing")
        await seat.type("quite wrong")
        await seat.press("ctrl+j")
        assert desk.store.commitment("tiny-1-gate").text == "quite wrong"
        seat.expect("committed; the next beat is open")
        await seat.press("n")
        assert seat.app.screen.lesson.beat.number == 2

    sit(desk, scene, size)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_what_stands_below_a_prompt_is_out_of_sight_until_it_is_answered(desk, sit, size) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "enter")
        while not seat.shows("space shows the answer"):
            await seat.press("space")
        block = next(iter(seat.app.screen.query(PromptBlock)))
        page = seat.app.screen.query_one("#page")
        assert block.region.height + block.styles.margin.height == page.size.height
        assert not seat.shows("Prove beat 1.")
        await seat.press("space")
        assert block.region.height < page.size.height - block.styles.margin.height
        for _ in range(3):
            await seat.press("space")
        seat.expect("Prove beat 1.")

    sit(desk, scene, size)


def test_a_locked_beat_says_what_opens_it(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "down", "enter")
        seat.expect("beat 02 opens once beat 01 is answered, right or wrong")

    sit(desk, scene)


def test_a_committed_gate_shows_its_answer_and_takes_no_other(make_desk, sit) -> None:
    async def commit(seat) -> None:
        await seat.press("l", "enter", "a")
        await seat.type("my words")
        await seat.press("ctrl+j")

    async def look(seat) -> None:
        await seat.press("l")
        seat.expect("✓")
        await seat.press("up", "enter")
        assert seat.app.screen.lesson.beat.number == 1
        await seat.press("a")
        assert not seat.app.screen.typing
        for _ in range(10):
            await seat.press("pagedown")
        seat.expect("my words", "The model answer of gate 1.")

    desk = make_desk()
    sit(desk, commit)
    desk.close()
    sit(make_desk(), look)


def test_the_cards_of_a_beat_join_the_drill_with_its_commitment(desk, sit) -> None:
    async def scene(seat) -> None:
        seat.expect("4 new")
        await seat.press("l", "enter", "a")
        await seat.type("x")
        await seat.press("ctrl+j", "q", "q")
        seat.expect("6 new")

    sit(desk, scene)


def test_the_cursor_stays_on_its_beat_and_goes_on_with_the_learner(desk, sit) -> None:
    async def scene(seat) -> None:
        def marked() -> str:
            return next(line for line in seat.lines if line.lstrip().startswith("▸"))

        await seat.press("l")
        assert "01" in marked()
        await seat.press("down")
        await seat.pilot.resize_terminal(60, 20)
        await seat.pilot.pause()
        assert "02" in marked()
        await seat.press("up", "enter", "a")
        await seat.type("x")
        await seat.press("ctrl+j", "q")
        assert "02" in marked()

    sit(desk, scene)


def test_typed_and_not_committed_is_still_there_later(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "enter", "a")
        await seat.type("half a thought")
        await seat.press("escape", "q", "enter", "a")
        assert seat.app.focused.text == "half a thought"

    sit(desk, scene)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_help_lists_the_keys_that_work_now(desk, sit, size) -> None:
    async def scene(seat) -> None:
        await seat.press("question_mark")
        seat.expect("Keys that work now", "drill what is due")
        await seat.press("escape")
        seat.expect("start the drill")

    sit(desk, scene, size)


def test_a_click_on_the_key_bar_is_the_key(desk, sit) -> None:
    async def scene(seat) -> None:
        row = len(seat.lines) - 1
        await seat.pilot.click(offset=(seat.lines[row].index("l learn"), row))
        await seat.pilot.pause()
        seat.expect("after it you can")

    sit(desk, scene)
