"""The demo screen with a far side that obeys: predict, run, verdict, evidence; and ones that do not."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from fatutor.demo.launcher import Launcher
from fatutor.errors import FatutorError
from fatutor.settings import Settings
from fatutor.store.failures import StoreError
from fatutor.store.store import Store
from tests import far_side
from tests.processes import assert_is_gone

SIZES = [(60, 20), (80, 24), (140, 40)]
RECORDED = {
    "device": "NVIDIA H200",
    "driver": "570.1",
    "versions": {"torch": "2.9.1"},
    "date": "2026-11-30T01:00:00+00:00",
    "demos": {
        "bytes-moved": [
            {"v": 1, "event": "start", "demo": "bytes-moved", "device": "cuda",
             "device_name": "NVIDIA H200", "params": {"n": 8192}},
            {"v": 1, "event": "result", "verdict": "confirmed", "quantity": "tiled", "formula": 1181696,
             "measured": 270000, "unit": "B", "why": "L2 served the rest", "seconds": 2},
        ]
    },
}  # fmt: skip


@pytest.fixture
def open_desk(make_desk, tmp_path: Path):
    """A desk on a machine without a GPU, whose kernels are a far side in some mode."""

    def opened(mode: str = "interpreter", *, limit: float = 60.0, remote: str = "", **listed: object):
        listing = json.dumps(far_side.listing(**listed))
        (tmp_path / "listing.json").write_text(listing, encoding="utf-8")
        script = (sys.executable, far_side.__file__, str(tmp_path))
        remotes = {"box": (*script, remote)} if remote else {}
        (tmp_path / "home").mkdir(exist_ok=True)  # where config.toml would be, and remotes start
        desk = make_desk(
            Settings(remotes=remotes),
            launcher=Launcher((*script, mode), dict(os.environ), limit_seconds=limit),
            recorded=tmp_path / "recorded",
        )
        desk.gpu = None
        return desk

    return opened


@pytest.fixture
def h200(tmp_path: Path) -> None:
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "h200.json").write_text(json.dumps(RECORDED), encoding="utf-8")


@pytest.fixture
def assert_gone(tmp_path: Path):
    return lambda: assert_is_gone(int((tmp_path / "pid").read_text()))


async def turn_to(seat, card: str) -> None:
    """Start the drill and put other cards off until this one is on the table."""
    await seat.press("enter")
    while seat.app.screen.drill.turn.card.id != card:
        seat.app.set_focus(None)
        await seat.press("b")


async def open_demo(seat) -> None:
    await turn_to(seat, "ridge")
    await seat.press("d")
    seat.expect("Count both [here].", "How many bytes?")
    assert not seat.shows("Tiled [asks] for less.")  # the claim, which may be the answer


async def predict(seat, text: str) -> None:
    await seat.type(text)
    await seat.press("enter")


async def wait_for(seat, *texts: str) -> None:
    """Until all of these are on the screen, wherever its lines break."""
    for _ in range(200):
        if all(text in flat(seat) for text in texts):
            return
        await seat.pilot.pause(0.05)
    assert [text for text in texts if text not in flat(seat)] == [], seat.frame


def flat(seat) -> str:
    return " ".join(seat.frame.split())


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_predict_run_and_three_witnesses(open_desk, sit, size) -> None:
    desk = open_desk()

    async def scene(seat) -> None:
        await open_demo(seat)
        seat.expect("Your prediction in B", "n 512 · rows 64 · interpreter")
        await seat.press("enter")
        seat.expect("a prediction comes first")
        await predict(seat, "0.5 GB/s")
        seat.expect("is not in B")
        seat.app.focused.value = ""
        await predict(seat, "0.5 MB")
        # The verdict is in view without a key, whatever the size.
        await wait_for(seat, "✓ confirmed: they are equal", "You said 500 kB: 2.4× under.")
        seat.expect("Claim: Tiled [asks] for less.")
        seat.expect("4 784 128", "1 181 696", "✓ equal", "500 kB", "n 512 · rows 64 · interpreter on pretend")
        if not seat.shows("By the formula"):
            await seat.press("pagedown")
        await wait_for(seat, "By the formula: 8*131072*[1]")
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


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_curves_log_and_history_fit_and_come_on_demand(open_desk, sit, size) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await predict(seat, "1.2 MB")
        await wait_for(seat, "✓ confirmed")
        for _ in range(6):
            if seat.shows("tiled by N"):
                break
            await seat.press("pagedown")
        seat.expect("log scale from 10 kB", "goes like N^1.79", "98 816 B", "328 704 B")
        assert not seat.shows("a word on stderr")
        await seat.press("g")
        await wait_for(seat, "It printed", "a word on stderr")
        await seat.press("g")
        assert not seat.shows("a word on stderr")
        await seat.press("h")
        await wait_for(seat, "Runs so far", "2026-11-29 14:05", "you said 1.2 MB", "✓ within 2 %")
        assert all(len(line) <= size[0] for line in seat.lines)

    sit(open_desk(), scene, size)


def test_another_size_asks_for_another_prediction(open_desk, sit, tmp_path) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await predict(seat, "1")
        await wait_for(seat, "✓ confirmed", "▸ n 512 of 256, 512")
        await seat.press("v")
        seat.expect("n 256 · rows 64", "Your prediction", "▸ n 256", "v changes the one marked ▸, n marks")
        seat.expect("Now with n 256 in place of 512.")
        await seat.press("n", "v")
        seat.expect("n 256 · rows 128", "▸ rows 128", "  n 256  of")
        await seat.press("v", "v", "v")
        seat.expect("n 256 · rows 128")
        await seat.press("a")
        await predict(seat, "1")
        await wait_for(seat, "✓ confirmed", "n 256 · rows 128 · interpreter on pretend")

    sit(open_desk(), scene)
    assert "--param n=256 --param rows=128" in (tmp_path / "asked").read_text()


def test_enter_commits_what_stands_in_the_box_wherever_the_keys_are(open_desk, sit) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await seat.type("1.2 MB")
        await seat.press("escape", "v", "enter")
        await wait_for(seat, "✓ confirmed", "n 256", "You said 1.2 MB")
        await seat.press("enter")  # and does nothing where there is nothing to commit
        seat.expect("✓ confirmed")
        await seat.press("r")
        await predict(seat, "3 MB")
        await wait_for(seat, "✓ confirmed", "You said 3 MB")

    desk = open_desk()
    sit(desk, scene)
    assert [run.predicted for run in desk.store.runs()] == [1.2e6, 3e6]


# -- a card's answer ------------------------------------------------------------------------------------


def with_demo(decks: Path, card: str) -> None:
    deck = decks / "plain.md"
    told = deck.read_text("utf-8").replace(f"id={card} kind", f"id={card} demo=bytes-moved kind")
    deck.write_text(told, "utf-8")


def test_a_number_typed_on_the_card_is_the_prediction(open_desk, sit, decks) -> None:
    with_demo(decks, "number")
    desk = open_desk()

    async def scene(seat) -> None:
        await turn_to(seat, "number")
        await seat.type("0.001")
        await seat.press("escape", "d")
        seat.expect("Your answer on the card; enter commits it", "0.001 GiB")
        await seat.press("enter")
        await wait_for(seat, "✓ confirmed", "You said 1.07 MB: within 10 %.")
        await seat.press("q")
        assert seat.app.screen.query_one("#number").value == "0.001"
        await seat.press("enter")
        await wait_for(seat, "You committed", "0.001")

    sit(desk, scene)
    assert desk.store.runs()[0].predicted == pytest.approx(0.001 * 2**30)


def test_a_committed_number_is_the_prediction_too(open_desk, sit, decks) -> None:
    with_demo(decks, "number")

    async def scene(seat) -> None:
        await turn_to(seat, "number")
        await predict(seat, "0.002 GiB")
        await seat.press("d")
        seat.expect("Your answer on the card", "0.002 GiB")

    sit(open_desk(), scene)


def test_an_answer_in_another_unit_is_no_prediction(open_desk, sit, decks) -> None:
    with_demo(decks, "number")

    async def scene(seat) -> None:
        await turn_to(seat, "number")
        await predict(seat, "256 GiB")
        await seat.press("d")
        seat.expect("Your prediction in s")

    sit(open_desk(unit="s"), scene)


def test_a_choice_made_on_the_card_is_the_prediction(open_desk, sit, decks) -> None:
    with_demo(decks, "choice")
    desk = open_desk("choice", form="choice", choices=["something else", "the second"], unit="")

    async def scene(seat) -> None:
        await turn_to(seat, "choice")
        await seat.press("2", "d")
        seat.expect("Your answer on the card; 2 or ctrl+j commits it", "the second")
        await seat.press("ctrl+j")
        await wait_for(seat, "✓ confirmed", "You said “the second”: right.")
        await seat.press("h")
        await wait_for(seat, "you said the second · ✓ right")
        await seat.press("r", "1")
        await wait_for(seat, "it is the second")

    sit(desk, scene)
    assert [(run.prediction, run.answer) for run in desk.store.runs()] == [
        ("the second", "the second"),
        ("something else", "the second"),
    ]


# -- elsewhere ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_where_it_runs_is_shown_and_one_key_changes_it(open_desk, sit, size, tmp_path, h200) -> None:
    desk = open_desk("interpreter", remote="good")

    async def scene(seat) -> None:
        await open_demo(seat)
        seat.expect("rows 64 · interpreter")
        await seat.press("escape", "w")
        seat.expect("rows 64 · remote box")
        await seat.press("a")
        await predict(seat, "1.2 MB")
        await wait_for(seat, "✓ confirmed", "Pretend [H200] on box")
        await wait_for(seat, "Recorded on NVIDIA H200, 2026-11-30: tiled 270 kB", "L2 served the rest")
        await seat.press("w")
        await wait_for(seat, "recorded on NVIDIA H200 · 2026-11-30 · driver 570.1 · torch 2.9.1")
        assert not seat.shows("8192") and not seat.shows("n 512")
        await seat.press("w")
        seat.expect("rows 64 · interpreter")

    sit(desk, scene, size)
    assert [run.device_name for run in desk.store.runs()] == ["Pretend [H200]"]
    assert "--device auto" in (tmp_path / "asked").read_text()


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_demo_for_a_gpu_alone_offers_the_recorded_run_and_never_as_a_live_one(
    open_desk, sit, size, tmp_path, h200
) -> None:
    desk = open_desk(devices=["cuda"])

    async def scene(seat) -> None:
        await open_demo(seat)
        await wait_for(seat, "needs a GPU and none is here", "recorded on NVIDIA H200 · 2026-11-30")
        await wait_for(seat, "enter commits it and shows the recorded run")
        await predict(seat, "1.2 MB")
        await wait_for(seat, "✓ confirmed: L2 served the rest", "2026-11-30, recorded · 2 s")
        seat.expect("recorded on NVIDIA H200 · 2026-11-30 · driver 570.1")
        assert not seat.shows("8192") and not seat.shows("n 512")
        assert not seat.shows("v size")

    sit(desk, scene, size)
    assert not (tmp_path / "pid").exists()
    assert not desk.paths.database.exists() or desk.store.runs() == []


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_counters_of_another_day_stand_below_a_run_of_today(open_desk, sit, size, tmp_path) -> None:
    shape = {"n": 512, "d": 64, "heads": 1, "dtype": "float16"}
    counters = [{"impl": "flash", **shape, "kernels": [{"name": "f", "read": 224512, "written": 64}]}]
    (tmp_path / "recorded").mkdir()
    recording = RECORDED | {"demos": {}, "counters": counters}
    (tmp_path / "recorded" / "h200.json").write_text(json.dumps(recording), encoding="utf-8")

    async def scene(seat) -> None:
        await open_demo(seat)
        assert not seat.shows("DRAM")
        await predict(seat, "1.2 MB")
        await wait_for(seat, "✓ confirmed")
        await seat.press("pagedown")
        await wait_for(seat, "Recorded on NVIDIA H200, 2026-11-30: DRAM traffic", "hardware's counters.")
        await wait_for(seat, "tiled: 225 kB read, 64 B written")

    sit(open_desk("calls"), scene, size)


def test_the_gpu_here_comes_first_and_is_asked_for(open_desk, sit, tmp_path) -> None:
    desk = open_desk("good")
    desk.gpu = "NVIDIA [H200]"

    async def scene(seat) -> None:
        await open_demo(seat)
        seat.expect("rows 64 · NVIDIA [H200]")
        await predict(seat, "1")
        await wait_for(seat, "✓ confirmed")

    sit(desk, scene)
    assert "--device cuda" in (tmp_path / "asked").read_text()


def test_a_missing_package_is_told_before_the_prediction(open_desk, sit, h200) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await wait_for(seat, "no_such_package not installed here: pip install", "w shows the recorded run")
        await seat.press("escape", "w")
        await wait_for(seat, "recorded on NVIDIA H200")

    sit(open_desk(needs=["no_such_package"]), scene)


# -- what goes wrong ------------------------------------------------------------------------------------

FAILURES = {
    "no-torch": "bytes-moved needs torch, not installed here; pip install",
    "no-triton": "bytes-moved needs triton, not installed here; use a Linux machine",
    "no-gpu": "PyTorch finds no CUDA device here; use --device cpu",
    "busy-gpu": "CUDA-capable device(s) is/are busy or unavailable; free the GPU",
    "out-of-memory": "the GPU has 2.0 GiB free and 4.0 GiB are needed; choose a smaller",
    "drops": "Broken pipe",
    "garbage": "ended with exit code 0 and without a result",
    "killed": "was ended by SIGKILL",
    "other-version": "speak another version of the wire",
    "refused": "Connection refused",
}


@pytest.mark.parametrize("mode", FAILURES)
def test_a_failure_is_one_line_and_the_app_goes_on(open_desk, sit, assert_gone, mode) -> None:
    desk = open_desk(mode)

    async def scene(seat) -> None:
        await open_demo(seat)
        await predict(seat, "1")
        await wait_for(seat, *FAILURES[mode].split("; ")[:1])
        await seat.press("g", "h", "r")
        seat.expect("Your prediction in B")
        seat.app.set_focus(None)
        await seat.press("q", "space", "3")
        assert type(seat.app.screen).__name__ == "DrillScreen"

    sit(desk, scene, (140, 40))
    assert desk.store.runs() == []
    assert_gone()


@pytest.mark.parametrize("mode", ["waits", "stubborn", "silent"])
def test_a_far_side_that_hangs_meets_its_limit(open_desk, sit, assert_gone, mode) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await predict(seat, "1")
        await wait_for(seat, "took longer than 1 s; choose a smaller size")

    sit(open_desk(mode, limit=1.0), scene)
    assert_gone()


def test_a_remote_that_fails_names_its_check(open_desk, sit, assert_gone) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await seat.press("escape", "w", "a")
        await predict(seat, "1")
        await wait_for(seat, "fatutor demo --check-remote box")

    sit(open_desk(remote="drops"), scene)
    assert_gone()


def test_a_remote_that_is_no_program_puts_the_question_again(make_desk, sit, home, tmp_path) -> None:
    home.mkdir()
    script = (sys.executable, far_side.__file__, str(tmp_path), "good")
    desk = make_desk(
        Settings(remotes={"box": ("/no/such/ssh", "box")}),
        launcher=Launcher(script, dict(os.environ)),
        recorded=tmp_path / "nowhere",
    )
    desk.gpu = None

    async def scene(seat) -> None:
        await open_demo(seat)
        await seat.press("escape", "w", "a")
        await predict(seat, "1")
        await wait_for(seat, "/no/such/ssh could not be started", "Your prediction in B")

    sit(desk, scene)


def test_a_wrong_order_a_banner_and_an_old_driver_still_give_a_verdict(open_desk, sit, assert_gone) -> None:
    for mode in ("disordered", "banner", "old-driver"):

        async def scene(seat) -> None:
            await open_demo(seat)
            await predict(seat, "1.2 MB")
            await wait_for(seat, "✓ confirmed: they are equal", "within 2 %", "1 181 696 B")
            await seat.press("q", "q", "q")

        sit(open_desk(mode), scene, (140, 40))
        assert_gone()


def test_a_flood_of_rows_is_cut_and_drawn(open_desk, sit, assert_gone) -> None:
    async def scene(seat) -> None:
        await open_demo(seat)
        await predict(seat, "1")
        await wait_for(seat, "row 3")
        await seat.press("x")
        await wait_for(seat, "Because tiles.")

    sit(open_desk("flood"), scene)
    assert_gone()


@pytest.mark.parametrize(
    ("way_out", "mode"), [("c", "waits"), ("q", "waits"), ("ctrl+q", "waits"), ("q", "stubborn")]
)
def test_no_way_out_leaves_a_process_behind(open_desk, sit, assert_gone, way_out, mode) -> None:
    desk = open_desk(mode)

    async def scene(seat) -> None:
        await open_demo(seat)
        await predict(seat, "1")
        await wait_for(seat, "waiting", "1 of 2")
        await seat.press(way_out)
        if way_out == "c":
            await wait_for(seat, "stopped; nothing was kept", "Your prediction")

    sit(desk, scene)
    assert_gone()
    assert not desk.paths.database.exists() or desk.store.runs() == []


def test_a_full_disk_keeps_no_evidence_and_takes_no_verdict_away(
    open_desk, sit, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk = open_desk()

    def full(store: Store, run: object) -> None:
        raise StoreError("the disk that holds it is full", "free some space and try again")

    async def scene(seat) -> None:
        await open_demo(seat)
        with monkeypatch.context() as patched:
            patched.setattr(Store, "add_run", full)
            await predict(seat, "1.2 MB")
            await wait_for(seat, "this run is not kept: the disk that holds it is full; free some space")
            seat.expect("✓ confirmed")
        await seat.press("r")
        await predict(seat, "1.2 MB")
        await wait_for(seat, "✓ confirmed")
        await seat.press("q", "space", "3")

    sit(desk, scene)
    assert len(desk.store.runs()) == 1


def test_kernels_that_cannot_be_listed_leave_the_drill_as_it_was(make_desk, sit) -> None:
    desk = make_desk(launcher=Launcher((sys.executable, "-c", "raise SystemExit('no such thing')")))
    with pytest.raises(FatutorError, match="no such thing"):
        assert desk.demos

    async def scene(seat) -> None:
        await turn_to(seat, "ridge")
        await seat.press("d")
        seat.expect("the demos could not be listed: no such thing")
        assert type(seat.app.screen).__name__ == "DrillScreen"

    sit(desk, scene)
