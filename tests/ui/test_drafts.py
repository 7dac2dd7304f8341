"""What was typed and not committed, and where a beat was left: both are there on the way back."""

from __future__ import annotations

import json

import pytest
from textual.widgets import Input, TextArea

from fatutor.ui import app
from fatutor.ui.drafts import Drafts

BOXES = {"number": Input, "written": TextArea}


async def go_to(seat, card_id: str) -> None:
    while seat.app.screen.drill.turn.card.id != card_id:
        seat.app.set_focus(None)
        await seat.press("b")


@pytest.mark.parametrize("card", BOXES)
def test_an_answer_half_typed_in_the_drill_outlasts_leaving_and_a_restart(make_desk, sit, card) -> None:
    async def first(seat) -> None:
        await seat.press("enter")
        await go_to(seat, card)
        await seat.press("2", "5")
        await seat.press("escape", "q", "enter")
        assert typed(seat) == "25"

    async def second(seat) -> None:
        await seat.press("enter")
        await go_to(seat, card)
        assert typed(seat) == "25"
        await seat.press("6", "ctrl+j")
        seat.expect("256")
        await seat.press("3")
        while type(seat.app.screen).__name__ == "DrillScreen":
            assert typed(seat) == ""
            seat.app.set_focus(None)
            await seat.press("s")
        while type(seat.app.screen).__name__ != "DrillScreen" or seat.app.screen.drill.turn.card.id != card:
            seat.app.set_focus(None)
            await seat.press("u")
        assert typed(seat) == ""  # what was committed is a draft no more

    def typed(seat) -> str:
        box = seat.app.screen.query_one(BOXES[card])
        return box.value if isinstance(box, Input) else box.text

    desk = make_desk()
    sit(desk, first)
    desk.close()
    sit(make_desk(), second)


def test_a_gate_half_answered_outlasts_a_restart_and_goes_on_at_its_end(make_desk, sit) -> None:
    async def first(seat) -> None:
        await seat.press("l", "enter", "a")
        await seat.type("half a [b]thought")
        await seat.press("enter")

    async def second(seat) -> None:
        await seat.press("l", "enter", "a")
        await seat.type("more")
        assert seat.app.focused.text == "half a [b]thought\nmore"
        await seat.press("ctrl+j")
        assert seat.app.drafts == {}

    desk = make_desk()
    sit(desk, first)
    assert json.loads((desk.paths.data / "drafts.json").read_text("utf-8")) == {
        "tiny-1-gate": "half a [b]thought\n"
    }
    sit(make_desk(), second)
    assert not (desk.paths.data / "drafts.json").exists()


@pytest.mark.parametrize("stored", ["", "{", "[1]", '{"a": 1, "b": "kept\\u001b[31m"}', "\xff"])
def test_drafts_that_cannot_be_read_stop_nobody(tmp_path, stored: str) -> None:
    file = tmp_path / "drafts.json"
    file.write_bytes(stored.encode("latin-1"))
    assert Drafts(file) == ({"b": "kept"} if "kept" in stored else {})


def test_only_what_has_changed_is_written(tmp_path) -> None:
    file = tmp_path / "drafts.json"
    drafts = Drafts(file)
    drafts.keep()
    assert not file.exists()
    drafts.put("a", "b")
    drafts.keep()
    assert json.loads(file.read_text("utf-8")) == {"a": "b"}
    file.unlink()
    drafts.put("a", "b")
    drafts.keep()
    assert not file.exists()
    drafts.put("a", "")
    drafts.keep()
    assert (drafts, file.exists()) == ({}, False)


def test_what_is_typed_is_kept_while_the_app_runs(make_desk, sit, monkeypatch) -> None:
    """A kill asks nobody."""
    monkeypatch.setattr(app, "DRAFTS_EVERY", 0.01)
    desk = make_desk()
    file = desk.paths.data / "drafts.json"

    async def scene(seat) -> None:
        await seat.press("l", "enter", "a")
        await seat.type("half")
        for _ in range(500):
            if file.exists() and json.loads(file.read_text("utf-8")) == {"tiny-1-gate": "half"}:
                return
            await seat.pilot.pause(0.01)
        raise AssertionError("nothing was written while the app ran")

    sit(desk, scene)


def test_drafts_that_cannot_be_kept_stop_nobody(tmp_path) -> None:
    (tmp_path / "file").write_text("in the way")
    drafts = Drafts(tmp_path / "file" / "drafts.json")
    drafts.put("a", "b")
    drafts.keep()
    assert drafts == {"a": "b"}


def test_a_beat_opens_where_it_was_left(desk, sit) -> None:
    async def scene(seat) -> None:
        await seat.press("l", "enter")
        for _ in range(20):
            if not seat.shows("The inside answer."):
                await seat.press("space")
        seat.expect("The inside answer.")
        await seat.press("end", "up", "up")
        before = seat.frame
        await seat.press("q", "enter")
        await seat.pilot.pause()
        assert seat.frame == before
        await seat.press("home")
        seat.expect("01 First beat")
        await seat.press("pagedown")
        seat.expect("says inside · critical")

    sit(desk, scene, (60, 20))
