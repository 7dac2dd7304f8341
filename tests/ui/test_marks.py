"""Today lists what was put away or flagged; there the marks come off."""

from __future__ import annotations

import pytest

from fatutor.study.overview import Marked
from fatutor.ui.widgets.rows import Rows


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (140, 40)], ids=str)
def test_a_card_put_away_comes_back_from_today(desk, sit, size) -> None:
    async def scene(seat) -> None:
        await seat.press("enter")
        seat.app.set_focus(None)
        card = seat.app.screen.drill.turn.card
        await seat.press("f", "s")
        seat.app.set_focus(None)
        await seat.press("q")
        while not isinstance(seat.app.screen.query_one(Rows).target, Marked):
            await seat.press("down")
        seat.expect("Put away or flagged", "put away · flagged")
        await seat.press("enter")
        seat.expect("s back into the drill · f clear the flag · q back")
        await seat.press("s")
        seat.expect("back in the drill; u takes that back")
        assert not desk.store.facts().state(card.id).suspended
        await seat.press("enter", "s")  # nothing is put away any more
        seat.expect("f clear the flag · q back")
        await seat.press("f")
        assert not desk.store.facts().state(card.id).flagged
        assert not seat.shows("Put away or flagged")
        await seat.press("u")
        seat.expect("taken back: flag cleared", "Put away or flagged")

    sit(desk, scene, size)
