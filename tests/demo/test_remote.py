"""Far sides: how they are started, and what a check finds missing there."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.model import AnswerForm
from fatutor.demo.catalogue import Demo
from fatutor.demo.launcher import Launcher, remote
from fatutor.demo.remote import check
from fatutor.errors import FatutorError
from fatutor.paths import bundle_root
from tests import far_side

DEMO = Demo(far_side.DEMO, "", "", AnswerForm.NUMBER)


@pytest.fixture
def far(tmp_path: Path) -> Callable[[str], Launcher]:
    """A far side called box that is in this mode."""
    return lambda mode: remote("box", [sys.executable, far_side.__file__, str(tmp_path), mode], tmp_path)


def test_the_words_of_a_launch_are_followed_by_ours(far, tmp_path) -> None:
    launcher = far("good")
    told = launcher.running("bytes-moved", {"n": 512}, "cuda")
    assert told[: len(launcher.argv)] == list(launcher.argv)
    assert " ".join(told[len(launcher.argv) :]) == "run bytes-moved --device cuda --param n=512 --json"
    assert (launcher.cwd, launcher.at) == (tmp_path, " on box")


@pytest.mark.parametrize("value", ["1; rm -rf ~", "$(id)", "a b", "`id`", "'", "", "ü", "1\n2"])
def test_no_value_says_anything_to_a_shell_on_the_way(value) -> None:
    with pytest.raises(FatutorError, match="is no value for n; write --param n=256"):
        remote("box", ["ssh", "box"]).running("bytes-moved", {"n": value}, "auto")


def test_a_far_side_with_everything_and_it_is_left_as_soon_as_that_is_known(far, assert_gone) -> None:
    findings = check(far("waits"), DEMO)
    assert [(found.what, found.told) for found in findings] == [
        ("kernels", "they answer, in version 1 of the wire"),
        ("run", "torch 9.9"),
        ("GPU", "Pretend [H200]"),
    ]
    assert all(found.fine for found in findings)
    assert_gone()


MISSING = {
    "refused": ("answer", "ssh: connect to host box port 22: Connection refused", "without a password"),
    "no-python": ("Python", "python3: command not found", "3.11 or newer"),
    "no-kernels": ("kernels", "No module named kernels", str(bundle_root() / "kernels")),
    "old-python": ("kernels", "exit code 1): ImportError: cannot import name 'UTC'", "Python 3.11"),
    "garbage": ("kernels", "without a word of theirs", "python3 -m kernels"),
    "other-version": ("kernels", "do not speak version 1", "once more"),
    "no-torch": ("run", "bytes-moved needs torch, not installed here", "pip install"),
    "no-triton": ("run", "needs triton", "Linux"),
    "busy-gpu": ("run", "busy or unavailable", "wait"),
    "interpreter": ("GPU", "none that PyTorch can use", "mend its driver"),
    "old-driver": ("GPU", "The NVIDIA driver on your system is too old", "mend its driver"),
}


@pytest.mark.parametrize("mode", MISSING)
def test_what_is_missing_is_named_with_a_way_out(far, assert_gone, mode) -> None:
    *others, missing = check(far(mode), DEMO)
    what, told, way_out = MISSING[mode]
    assert all(found.fine for found in others)
    assert not missing.fine
    assert missing.what == what
    assert told in missing.told
    assert way_out in missing.way_out
    assert "\n" not in missing.told + missing.way_out
    assert_gone()


def test_no_answer_has_an_end(far, assert_gone) -> None:
    [missing] = check(far("silent"), DEMO, limit_seconds=0.7)
    assert (missing.what, missing.told) == ("answer", "none within 0.7 s; last word: it said nothing")
    assert_gone()


def test_a_banner_on_the_way_is_no_harm(far) -> None:
    assert all(found.fine for found in check(far("banner"), DEMO))


def test_a_launch_that_is_no_program() -> None:
    [missing] = check(remote("box", ["/no/such/ssh"]), DEMO)
    assert missing.what == "launch"
    assert "/no/such/ssh could not be started" in missing.told


def test_the_environment_goes_along_as_it_is() -> None:
    assert remote("box", ["ssh"], None, {"SSH_AUTH_SOCK": "/x"}).env == {"SSH_AUTH_SOCK": "/x"}


def test_a_far_side_that_gives_no_answer_is_told_apart_from_a_slow_demo(far, collect) -> None:
    events, _ = collect(far("silent"), limit_seconds=0.7)
    assert events[-1].what == "box gave no answer within 0.7 s"
    assert events[-1].way_out == "fatutor demo --check-remote box says what is missing"
    events, _ = collect(far("waits"), limit_seconds=1.5)
    assert events[-1].what == "fake on box took longer than 1.5 s"


def test_a_far_side_that_drops_says_its_last_words(far, collect) -> None:
    events, _ = collect(far("drops"))
    assert events[-1].what == (
        "fake on box ended with exit code 255 and without a result: client_loop: send disconnect: Broken pipe"
    )
    assert events[-1].way_out == "fatutor demo --check-remote box says what is missing"


def test_another_version_of_the_wire_is_named(far, collect) -> None:
    events, _ = collect(far("other-version"))
    assert events[-1].what == "the kernels on box speak another version of the wire"


@pytest.mark.skipif(shutil.which("setsid") is None, reason="no setsid here")
def test_words_go_through_a_shell_on_the_way_and_the_end_of_input_ends_what_no_signal_reaches(
    tmp_path, assert_gone
) -> None:
    # As ssh does it: all words joined by spaces, for a shell in a session of its own.
    ssh = tmp_path / "ssh"
    ssh.write_text('#!/bin/sh\nshift\nexec setsid --wait sh -c "$*"\n', encoding="utf-8")
    ssh.chmod(0o755)
    there = f"cd {tmp_path} && exec {sys.executable} {far_side.__file__} . waits"
    findings = check(remote("box", [str(ssh), "box", there]), DEMO)
    assert [found.what for found in findings if found.fine] == ["kernels", "run", "GPU"]
    assert (tmp_path / "asked").read_text() == "run bytes-moved --device auto --json"
    assert_gone()
