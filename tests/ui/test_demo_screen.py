"""The demo screen with a far side that obeys: predict, run, verdict, evidence; and one that does not."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fatutor.demo.launcher import Launcher

SIZES = [(60, 20), (80, 24), (140, 40)]

LISTING = """[{
    "name": "bytes-moved", "claim": "Tiled [asks] for less.", "question": "How many bytes?",
    "unit": "B", "needs": [], "form": "number", "choices": [], "seconds": 1, "explain": "Because *tiles*.",
    "params": {"n": {"default": 512, "values": [256, 512], "help": "keys"}}
}]"""

GOOD = """
say(event="start", demo="bytes-moved", device="interpreter", device_name="pretend", versions={},
    params={"n": n}, plan="count", at="")
say(event="progress", done=1, total=2, note="counting")
say(event="row", name="standard", formula=4784128, measured=4784128, unit="B", note="")
say(event="row", name="tiled", formula=1181696, measured=1181696, unit="B", note="")
say(event="result", quantity="tiled", formula=1181696, measured=1181696, unit="B", answer=None,
    verdict="confirmed", why="they are equal", derivation="", limits="counts what is asked for",
    spread=None, seconds=0.5)
"""
HANGS = 'say(event="progress", done=1, total=2, note="waiting"); pid(); sys.stdin.read()'
DIES = 'print("out of luck", file=sys.stderr); sys.exit(3)'


@pytest.fixture
def far_side(tmp_path: Path):
    """A launcher for a far side whose `run` is the given code."""

    def make(code: str) -> Launcher:
        script = tmp_path / "far.py"
        script.write_text(
            "import json, os, sys\n"
            f"if sys.argv[1] == 'list': print({LISTING!r}); sys.exit()\n"
            "n = int(sys.argv[sys.argv.index('--param') + 1].split('=')[1])\n"
            "def say(**event): print(json.dumps({'v': 1, **event}), flush=True)\n"
            f"def pid(): open({str(tmp_path / 'pid')!r}, 'w').write(str(os.getpid()))\n"
            f"{code}\n"
        )
        return Launcher((sys.executable, str(script)), dict(os.environ))

    return make


async def open_demo(seat) -> None:
    await seat.press("enter")
    while seat.app.screen.drill.turn.card.id != "ridge":
        seat.app.set_focus(None)
        await seat.press("b")
    await seat.press("d")
    seat.expect("Tiled [asks] for less.", "How many bytes?", "Your prediction in B")


async def wait_for(seat, *texts: str) -> None:
    for _ in range(200):
        if seat.shows(*texts):
            return
        await seat.pilot.pause(0.05)
    seat.expect(*texts)


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_predict_run_and_three_witnesses(make_desk, sit, far_side, size) -> None:
    desk = make_desk(launcher=far_side(GOOD))

    async def scene(seat) -> None:
        await open_demo(seat)
        await seat.press("enter")
        seat.expect("a prediction comes first")
        await seat.type("0.5 GB/s")
        await seat.press("enter")
        seat.expect("is not in B")
        seat.app.focused.value = ""
        await seat.type("0.5 MB")
        await seat.press("enter")
        await wait_for(seat, "confirmed", "4 784 128", "1 181 696", "500 kB", "✓ equal")
        await seat.press("pagedown")
        seat.expect("2.4× under")
        await seat.press("x")
        await wait_for(seat, "Because tiles.")
        await seat.press("q")
        assert type(seat.app.screen).__name__ == "DrillScreen"
        await seat.press("space", "3")

    sit(desk, scene, size)
    run = desk.store.runs()[0]
    assert (run.predicted, run.measured, run.verdict, run.card) == (500_000, 1_181_696, "confirmed", "ridge")
    entry = next(entry for entry in desk.store.entries(card="ridge") if entry.quality is not None)
    assert run.entry == entry.id


def test_another_size_asks_for_another_prediction(make_desk, sit, far_side) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await seat.type("1")
        await seat.press("enter")
        await wait_for(seat, "confirmed")
        await seat.press("v")
        seat.expect("n 256", "Your prediction")

    sit(make_desk(launcher=far_side(GOOD)), scene)


@pytest.mark.parametrize("way_out", ["c", "q", "ctrl+q"])
def test_no_way_out_leaves_a_process_behind(make_desk, sit, far_side, tmp_path, way_out) -> None:
    desk = make_desk(launcher=far_side(HANGS))

    async def scene(seat) -> None:
        await open_demo(seat)
        await seat.type("1")
        await seat.press("enter")
        await wait_for(seat, "waiting")
        await seat.press(way_out)
        if way_out == "c":
            await wait_for(seat, "stopped; nothing was kept", "Your prediction")

    sit(desk, scene)
    pid = int((tmp_path / "pid").read_text())
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert not desk.paths.database.exists() or desk.store.runs() == []


def test_a_child_that_dies_is_one_line_and_the_app_goes_on(make_desk, sit, far_side) -> None:
    desk = make_desk(launcher=far_side(DIES))

    async def scene(seat) -> None:
        await open_demo(seat)
        await seat.type("1")
        await seat.press("enter")
        await wait_for(seat, "out of luck")
        await seat.press("q", "space", "3")
        assert type(seat.app.screen).__name__ == "DrillScreen"

    sit(desk, scene)
    assert desk.store.runs() == []
