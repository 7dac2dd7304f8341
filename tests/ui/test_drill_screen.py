"""The drill on screen: what shows before and after, which keys live, and what is stored."""

from __future__ import annotations

import pytest
from textual.widgets import Input

from fatutor.settings import Settings

SIZES = [(60, 20), (80, 24), (140, 40)]


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_from_start_to_a_graded_card_with_the_keys_on_screen(desk, sit, size) -> None:
    async def scene(seat) -> None:
        seat.expect("start the drill")
        await seat.press("enter")
        first = seat.app.screen.drill.turn.card
        seat.expect("1 of 4")
        assert first.answer not in seat.frame
        await finish_card(seat)
        stored = list(desk.store.entries())
        assert [entry.card for entry in stored] == [first.id]
        assert stored[0].quality == 4
        assert seat.app.screen.drill.turn.card.id != first.id

    sit(desk, scene, size)


async def finish_card(seat, grade: str = "3") -> None:
    """Answer whatever form the card on the table has, and grade it."""
    card = seat.app.screen.drill.turn.card
    match card.response.form.value:
        case "aloud":
            await seat.press("space")
        case "number":
            await seat.type("256")
            await seat.press("enter")
        case "choice":
            await seat.press("2")
        case "text":
            await seat.type("abc")
            await seat.press("ctrl+j")
    await seat.press(grade)


async def go_to(seat, card_id: str) -> None:
    """Bury cards until the wanted one is on the table."""
    while seat.app.screen.drill.turn.card.id != card_id:
        seat.app.set_focus(None)
        await seat.press("b")


def test_nothing_hints_at_the_answer_and_grade_keys_are_dead_before_the_reveal(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        before = len(list(desk.store.entries()))
        for key in "1234x":
            await seat.press(key)
        assert len(list(desk.store.entries())) == before
        seat.expect("What is the ridge of an A100? Mind the [brackets] and <angles>.")
        assert not seat.shows("156") and not seat.shows("again")
        await seat.press("space")
        seat.expect("It is 156 FLOP/B.", "What did you say?", "0 of 3", "[ ] 1", "critical", "1 check true")
        seat.expect("1 again today", "2 hard today", "3 good 1 d", "4 easy 1 d")

    sit(desk, scene, (80, 40))


def test_ticks_propose_and_the_learner_decides(desk, sit, clock) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        clock.forward(seconds=41)
        await seat.press("space")
        seat.expect("spoken 0:41", "tick what you said")
        await seat.press("down", "x")
        seat.expect("[x] 2", "1 of 3", "proposed again · missed a critical point")
        await seat.press("up", "up", "x")
        await seat.press("down", "x")
        seat.expect("proposed easy · said 3 of 3, in time")
        await seat.press("2")
        entry = next(entry for entry in desk.store.entries(card="ridge") if entry.quality is not None)
        assert (entry.quality, entry.key, entry.ticked, entry.speaking_ms) == (3, 2, (0, 1, 2), 41_000)

    sit(desk, scene, (80, 40))


def test_a_number_is_judged_and_bad_input_is_told_why(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "number")
        assert isinstance(seat.app.focused, Input)
        await seat.press("enter")
        seat.expect("an empty answer commits nothing")
        await seat.type("a lot")
        await seat.press("enter")
        seat.expect("is not a number")
        seat.app.focused.value = ""
        await seat.type("250 GiB")
        await seat.press("enter")
        seat.expect("✓ right: 256 GiB", "proposed good")

    sit(desk, scene)


def test_a_wrong_choice_proposes_again(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "choice")
        seat.expect("1.", "the first", "2.", "the second")
        await seat.press("1")
        seat.expect("✗ not 1; it is 2", "proposed again")

    sit(desk, scene)


def test_undo_goes_back_to_the_card_also_from_the_summary(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        graded = []
        while type(seat.app.screen).__name__ == "DrillScreen":
            graded.append(seat.app.screen.drill.turn.card.id)
            await finish_card(seat)
        seat.expect("Done for now", "4 cards", "good")
        for card in reversed(graded):
            await seat.press("u")
            assert seat.app.screen.drill.turn.card.id == card
            assert not seat.app.screen.typing  # or the next u would be typed
        assert desk.store.last_undoable() is None
        assert desk.store.facts().states == {}

    sit(desk, scene)


def test_again_brings_the_card_back_until_it_is_good(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        first = seat.app.screen.drill.turn.card.id
        await finish_card(seat, "1")
        for _ in range(3):
            await finish_card(seat)
        assert seat.app.screen.drill.turn.card.id == first
        seat.expect("again")
        await finish_card(seat, "2")
        assert seat.app.screen.drill.turn.card.id == first
        await finish_card(seat)
        seat.expect("Done for now")

    sit(desk, scene)


def test_leaving_half_way_and_starting_again_goes_on(make_desk, sit) -> None:
    async def first(seat) -> None:
        await seat.press("enter")
        await finish_card(seat)
        await finish_card(seat)

    async def second(seat) -> None:
        seat.expect("2 new")
        await seat.press("enter")
        seat.expect("1 of 2")

    desk = make_desk()
    sit(desk, first)
    desk.close()
    sit(make_desk(), second)


def test_wide_terminals_put_prompt_and_answer_side_by_side(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        await seat.press("space")
        row = next(line for line in seat.lines if "What is the ridge" in line)
        assert any("It is 156" in line[60:] for line in seat.lines)
        assert row.index("What is the ridge") < 60

    sit(desk, scene, (140, 40))


def test_flag_suspend_and_bury_say_what_they_did(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        await seat.press("f")
        seat.expect("flagged")
        await seat.press("s")
        assert desk.store.facts().states["ridge"].suspended
        assert desk.store.facts().states["ridge"].flagged

    sit(desk, scene)


def test_a_deck_with_nothing_due_says_so_before_the_first_frame_and_later(make_desk, sit) -> None:
    desk = make_desk(Settings(new_per_day=0))

    async def scene(seat) -> None:
        seat.expect("Today", "nothing here is due today")
        await seat.press("d")
        seat.expect("nothing here is due today")

    sit(desk, scene, open_on="drill", decks=[desk.deck_named("plain")])


def test_a_flag_is_taken_back_without_moving_the_table(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        await seat.press("space", "down", "x", "f")
        seat.expect("⚑")
        await seat.press("u")
        seat.expect("taken back: flagged", "[x] 2", "1 again")
        assert not seat.shows("⚑")
        await seat.press("f", "q", "u")
        seat.expect("taken back: flagged", "start the drill")
        assert not desk.store.facts().state("ridge").flagged

    sit(desk, scene)


def test_what_was_typed_outlasts_an_edit_and_an_edit_that_breaks_the_card_is_told(
    desk, sit, decks, monkeypatch
) -> None:
    monkeypatch.setattr("fatutor.ui.app.open_editor", lambda place, environ, suspend: 0)
    deck = decks / "plain.md"

    def change(old: str, new: str) -> None:
        deck.write_text(deck.read_text("utf-8").replace(old, new), "utf-8")

    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "written")
        await seat.press("a", "b", "escape")
        change("Write the identity.", "Write the whole identity.")
        await seat.press("e")
        seat.expect("Write the whole identity.")
        assert seat.app.focused.text == "ab"
        await seat.press("escape")
        change("id=written kind", "id=written sort")
        await seat.press("e")
        seat.expect("plain.md:", "kind")
        assert seat.app.screen.drill.turn is None or seat.app.screen.drill.turn.card.id != "written"
        assert "written" not in desk.store.facts().states

    sit(desk, scene)


def test_a_changed_card_says_so(make_desk, decks, sit) -> None:
    async def grade_all(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        await seat.press("space", "1")

    async def look(seat) -> None:
        await seat.press("enter")
        assert seat.app.screen.drill.turn.card.id == "ridge"
        seat.expect("this card was changed since your last review")

    desk = make_desk()
    sit(desk, grade_all)
    desk.close()
    deck = decks / "plain.md"
    deck.write_text(deck.read_text("utf-8").replace("It is 156 FLOP/B.", "It is about 156 FLOP/B."), "utf-8")
    sit(make_desk(), look)
