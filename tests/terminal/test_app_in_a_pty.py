"""The app in a real terminal: killed half-way, closed from outside, started where there is no screen."""

from __future__ import annotations

import os
import signal
import sqlite3
from pathlib import Path

import pytest


def reviews(home: Path) -> list[tuple[str, int]]:
    with sqlite3.connect(home / "fatutor.db") as db:
        return db.execute("select card, quality from review order by id").fetchall()


def test_killed_right_after_a_grade_nothing_is_lost_and_the_next_start_goes_on(terminal, home) -> None:
    first = terminal("drill", "plain")
    first.wait_for("1 of 4")
    first.send(" ")
    first.wait_for("good")
    first.send("3")
    first.wait_for("2 of 4")
    first.kill(signal.SIGKILL)
    first.wait()
    stored = reviews(home)
    assert [quality for _, quality in stored] == [4]

    second = terminal("drill", "plain")
    second.wait_for("1 of 3")
    second.send("\x1b")
    second.wait_for("a answer")  # the number's box has let go of the keys
    second.send("u")
    second.wait_for("taken back")
    second.send("q")
    second.wait_for("fatutor")
    second.send("q")
    assert os.WEXITSTATUS(second.wait()) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_closed_pane_gives_the_terminal_back(terminal, number) -> None:
    app = terminal()
    app.wait_for("start the drill")
    app.kill(number)
    app.wait()
    assert b"\x1b[?1049l" in app.raw  # the alternate screen is left
    assert b"\x1b[?1000l" in app.raw  # mouse reports are off


def test_quit_leaves_cleanly(terminal) -> None:
    app = terminal()
    app.wait_for("start the drill")
    app.send("q")
    assert os.WEXITSTATUS(app.wait()) == 0
    assert b"\x1b[?1049l" in app.raw


def test_a_dumb_terminal_gets_plain_lines(terminal) -> None:
    app = terminal("drill", "plain", TERM="dumb")
    app.wait_for("press enter")
    assert b"\x1b" not in app.raw
    app.send("q\n")
    assert os.WEXITSTATUS(app.wait()) == 0
