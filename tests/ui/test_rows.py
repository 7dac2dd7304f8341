"""A list longer than the screen: a row is drawn when it shows, and can be selected with the mouse."""

from __future__ import annotations

import pytest
from textual.content import Content

from fatutor.ui.widgets.rows import Row, Rows

MANY = [Row(f"deck {n}", f"{n} new", target=n) for n in range(500)]


async def many_rows(seat) -> Rows:
    rows = seat.app.screen.query_one(Rows)
    rows.show(MANY)
    await seat.pilot.pause()
    return rows


def test_only_the_rows_that_show_are_drawn(desk, sit, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn: set[int] = set()
    line = Rows._line

    def watched(self: Rows, i: int, row: Row) -> Content:
        drawn.add(i)
        return line(self, i, row)

    async def scene(seat) -> None:
        await many_rows(seat)
        drawn.clear()
        await seat.press("end")
        seat.expect("deck 499")
        assert drawn
        assert min(drawn) >= 499 - 24
        await seat.press("home")
        drawn.clear()
        await seat.press("down")
        seat.expect("▸ deck 3 ", "deck 19")
        assert max(drawn) <= 24

    monkeypatch.setattr(Rows, "_line", watched)
    sit(desk, scene)


def test_what_the_mouse_selects_is_what_shows(desk, sit) -> None:
    async def scene(seat) -> None:
        rows = await many_rows(seat)
        await seat.pilot.mouse_down(rows, offset=(3, 5))
        await seat.pilot.hover(rows, offset=(6, 7))
        await seat.pilot.pause()
        selected = seat.app.screen.get_selected_text()
        assert selected is not None
        first, middle, last = selected.split("\n")
        assert first.startswith("deck 5 ")
        assert middle.split() == ["deck", "6", "6", "new"]
        assert "  deck 7".startswith(last)
        plain, chosen = (rows.render_line(y).crop(4, 5)._segments[0].style for y in (9, 6))
        assert plain is not None
        assert chosen is not None
        assert plain.bgcolor != chosen.bgcolor

    sit(desk, scene)
