"""A demo in a real terminal, on a far side that config.toml names: prediction to verdict, and sudden ends."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import far_side
from tests.processes import assert_is_gone
from tests.pty_terminal import Terminal


@pytest.fixture
def at_the_question(terminal, home: Path, tmp_path: Path) -> Callable[[str], Terminal]:
    """The app with a demo's question on the screen, to be run on a far side in some mode."""

    def start(mode: str) -> Terminal:
        home.mkdir(exist_ok=True)
        launch = json.dumps([sys.executable, far_side.__file__, str(tmp_path), mode])
        (home / "config.toml").write_text(f"[demo.remotes.far]\nlaunch = {launch}\n", encoding="utf-8")
        app = terminal("drill", "plain")
        app.wait_for("What is the ridge of an A100?")
        app.send("d")
        app.wait_for("Your prediction in B")
        app.send("\x1b")
        app.wait_for("a answer")
        # Which place comes first depends on the machine; the far side is one of them.
        for _ in range(4):
            app.send("w")
            app.wait_for("bytes-moved")
            if "remote far" in app.text:
                break
        app.send("a")
        app.wait_for("other keys")
        return app

    return start


def test_from_prediction_to_verdict_and_the_review_carries_it(at_the_question, home, tmp_path) -> None:
    app = at_the_question("good")
    app.send("1.2 MB\r")
    app.wait_for("confirmed: they are equal")
    app.wait_for("within 2 %")
    app.wait_for("Pretend [H200] on far")
    app.send("h")
    app.wait_for("Runs so far")
    app.send("q")
    app.wait_for("answered")
    app.send(" ")
    app.wait_for("good")
    app.send("3")
    app.wait_for("2 of 4")
    app.send("\x1b")
    app.wait_for("a answer")
    app.send("q")
    app.wait_for("start the drill")
    app.send("q")
    assert os.WEXITSTATUS(app.wait()) == 0
    assert_is_gone(int((tmp_path / "pid").read_text()))
    with sqlite3.connect(home / "fatutor.db") as db:
        [run] = db.execute("select demo, predicted, verdict, device_name, entry from demo_run").fetchall()
        [entry] = db.execute("select id from review where card = 'ridge'").fetchone()
    assert run == ("bytes-moved", 1_200_000, "confirmed", "Pretend [H200]", entry)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
def test_an_app_that_is_killed_takes_its_far_side_along(at_the_question, home, tmp_path, number) -> None:
    app = at_the_question("waits")
    app.send("1\r")
    app.wait_for("waiting")
    app.kill(number)
    app.wait()
    assert_is_gone(int((tmp_path / "pid").read_text()))
