"""Runs that a verb waits for: the outcome, and signals that leave no child behind."""

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from fatutor.demo.events import Event, Failed, Result, Row
from fatutor.demo.foreground import run_to_end
from fatutor.demo.launcher import Launcher
from fatutor.errors import FatutorError


def test_the_outcome_comes_back_and_every_event_is_handed_on(fake, assert_gone):
    events: list[Event] = []
    outcome = run_to_end(fake("start(); result(measured=1)"), "fake", {}, "auto", events.append)
    assert outcome == Result("confirmed", measured=1)
    assert events[-1] == outcome
    assert_gone()


def test_the_outcome_is_not_what_comes_last(fake):
    events: list[Event] = []
    launcher = fake("result(measured=1); say('row', name='late')")
    assert isinstance(run_to_end(launcher, "fake", {}, "auto", events.append), Result)
    assert isinstance(events[-1], Row)


def test_a_limit(fake, assert_gone):
    outcome = run_to_end(fake("time.sleep(600)"), "fake", {}, "auto", print, limit_seconds=0.5)
    assert outcome == Failed("fake took longer than 0.5 s", "choose a smaller size")
    assert_gone()


def test_a_program_that_is_not_there():
    with pytest.raises(FatutorError, match="could not be started"):
        run_to_end(Launcher(("/no/such/program",)), "fake", {}, "auto", print)


def test_a_reader_that_goes_away_takes_the_child_with_it(fake, assert_gone):
    def closed(_: Event) -> None:
        raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        run_to_end(fake("start(); time.sleep(600)"), "fake", {}, "auto", closed)
    assert_gone()


def test_the_handlers_are_put_back(fake):
    def mine(*_: object) -> None: ...

    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    before = {number: signal.signal(number, mine) for number in numbers}
    run_to_end(fake("result()"), "fake", {}, "auto", print)
    assert {signal.signal(number, handler) for number, handler in before.items()} == {mine}


def parent(launcher: Launcher, tmp_path: Path, first: str = "") -> subprocess.Popen[bytes]:
    script = tmp_path / "parent.py"
    script.write_text(
        textwrap.dedent(f"""
        import signal
        from fatutor.demo.foreground import run_to_end
        from fatutor.demo.launcher import Launcher
        {first}
        run_to_end(Launcher({launcher.argv!r}, {dict(launcher.env)!r}), "fake", {{}}, "auto", print)
    """)
    )
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.Popen([sys.executable, str(script)], env=environ, stderr=subprocess.DEVNULL)


@pytest.mark.parametrize("name", ["SIGTERM", "SIGHUP", "SIGINT"])
def test_a_signal_ends_the_child_and_then_us(fake, tmp_path, noted, assert_gone, name):
    number = signal.Signals[name]
    usual = "default_int_handler" if name == "SIGINT" else "SIG_DFL"
    heeded = f"signal.signal(signal.{name}, signal.{usual})"  # whoever runs the tests may be ignoring it
    with parent(fake("start(); time.sleep(600)"), tmp_path, heeded) as process:
        noted("pid")
        process.send_signal(number)
    assert process.returncode == -number
    assert_gone()


def test_a_hang_up_that_is_ignored_stays_ignored(fake, tmp_path, noted, assert_gone):
    nohup = "signal.signal(signal.SIGHUP, signal.SIG_IGN)"
    launcher = fake("""
        start()
        while not os.path.exists(os.path.join(os.environ["NOTES"], "go")): time.sleep(0.01)
        result()
    """)
    with parent(launcher, tmp_path, nohup) as process:
        noted("pid")
        process.send_signal(signal.SIGHUP)
        (tmp_path / "go").touch()
    assert process.returncode == 0
    assert_gone()
