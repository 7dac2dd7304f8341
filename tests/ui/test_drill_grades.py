"""Grading on screen: the keys as they are drawn and clicked, and a card that somebody else has graded."""

from __future__ import annotations

ANSWERS = {"ridge": ["space"], "number": [*"256", "enter"], "choice": ["2"], "written": [*"abc", "ctrl+j"]}


async def go_to(seat, card_id: str) -> None:
    """Bury cards until the wanted one is on the table."""
    while seat.app.screen.drill.turn.card.id != card_id:
        seat.app.set_focus(None)
        await seat.press("b")


def test_a_click_on_a_grade_is_its_key(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        await seat.press("space")
        row = next(i for i, line in enumerate(seat.lines) if "2 hard today" in line)
        await seat.pilot.click(offset=(seat.lines[row].index("2 hard") + 2, row))
        await seat.pilot.pause()
        graded = [(entry.key, entry.quality) for entry in desk.store.entries(card="ridge") if entry.quality]
        assert graded == [(2, 3)]

    sit(desk, scene)


def test_no_grade_is_broken_over_two_lines_in_a_narrow_terminal(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        await seat.press("space")
        assert seat.lines[-3:-1] == [
            " 1 again today   2 hard today",
            " 3 good 1 d   4 easy 1 d",
        ]

    sit(desk, scene, (40, 20))


def test_a_card_that_another_fatutor_graded_makes_room_for_the_next(make_desk, sit) -> None:
    other = make_desk()

    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "ridge")
        await seat.press("space")
        sitting = other.drill()
        while sitting.turn.card.id != "ridge":
            sitting.bury()
        sitting.answer()
        sitting.grade(4, 3)
        await seat.press("3")
        seat.expect("another fatutor has changed card ridge; what was stored there stands")
        card = seat.app.screen.drill.turn.card
        assert card.id != "ridge"
        seat.expect(card.prompt)
        assert not seat.shows("It is 156 FLOP/B.")

    sit(make_desk(), scene)


def test_the_choice_made_stands_in_words(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        await go_to(seat, "choice")
        await seat.press("2")
        seat.expect("You chose", "▎ 2. the second", "✓ right")

    sit(desk, scene)


def test_the_summary_counts_in_words(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        while type(seat.app.screen).__name__ == "DrillScreen":
            await seat.press(*ANSWERS[seat.app.screen.drill.turn.card.id], "3")
        seat.expect("4 cards in 0:00, every grade is stored.", "4 good", "• 4 cards in 1 d")
        assert any("• A number · 0:00" in line or "• The ridge · 0:00" in line for line in seat.lines)

    sit(desk, scene)
