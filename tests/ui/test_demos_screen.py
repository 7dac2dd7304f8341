"""The list of demos: any of them, without a card, and what became of the last run."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from fatutor.demo.launcher import Launcher
from tests import far_side


@pytest.fixture
def desk_of_demos(make_desk, tmp_path: Path):
    """A desk whose kernels list two demos, and run the first."""
    second = {"name": "same-answer", "plan": "Same. " * 30, "form": "choice", "choices": ["one", "two"]}
    listing = far_side.listing() + far_side.listing(**second)
    (tmp_path / "listing.json").write_text(json.dumps(listing), encoding="utf-8")
    script = (sys.executable, far_side.__file__, str(tmp_path), "interpreter")
    desk = make_desk(launcher=Launcher(script, dict(os.environ)), recorded=tmp_path / "recorded")
    desk.gpu = None
    return desk


async def to_the_demos(seat) -> None:
    for _ in range(20):
        if "▸ demos:" in seat.frame:
            break
        await seat.press("down")
    await seat.press("enter")


@pytest.mark.parametrize("size", [(60, 20), (80, 24), (140, 40)], ids=str)
def test_a_demo_is_run_from_the_list_which_then_says_how_near_that_came(desk_of_demos, sit, size) -> None:
    async def scene(seat) -> None:
        await to_the_demos(seat)
        assert not seat.shows("Tiled [asks] for less.")
        seat.expect("▸ bytes-moved", "Count both [here].", "same-answer", "enter open", "q back")
        assert all(len(line) <= size[0] for line in seat.lines)
        await seat.press("down", "enter")
        seat.expect("Choose, 1 to 2")
        await seat.press("q", "up", "enter")
        seat.expect("How many bytes?")
        await seat.type("1.2 MB")
        await seat.press("enter")
        for _ in range(200):
            if seat.shows("✓ confirmed"):
                break
            await seat.pilot.pause(0.05)
        await seat.press("q")
        seat.expect("2026-11-29 · ✓ within 2 %")
        await seat.press("q")
        assert type(seat.app.screen).__name__ == "TodayScreen"

    sit(desk_of_demos, scene, size)
    [run] = desk_of_demos.store.runs()
    assert (run.demo, run.card, run.predicted) == ("bytes-moved", None, 1.2e6)


def test_kernels_that_list_no_demos_are_one_line(make_desk, sit) -> None:
    desk = make_desk(launcher=Launcher((sys.executable, "-c", "print('[')"), dict(os.environ)))

    async def scene(seat) -> None:
        await to_the_demos(seat)
        seat.expect("! the demos could not be listed: their list is not JSON; run `fatutor doctor`")
        await seat.press("enter", "q")
        assert type(seat.app.screen).__name__ == "TodayScreen"

    sit(desk, scene)
