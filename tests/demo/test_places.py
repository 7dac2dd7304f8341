"""Where a demo can run, and which of the places `auto` means."""

from __future__ import annotations

import pytest

from fatutor.deck.model import AnswerForm
from fatutor.demo import machine
from fatutor.demo.catalogue import Demo
from fatutor.demo.launcher import Launcher, remote
from fatutor.demo.places import places

HERE = Launcher(("here",))
BOX = remote("box", ["ssh", "box"])
BOTH = ("cuda", "interpreter")


def labels(devices: tuple[str, ...], gpu: str | None, *remotes: Launcher, needs: tuple[str, ...] = ()) -> str:
    demo = Demo("d", "", "", AnswerForm.NUMBER, devices=devices, needs=needs)
    return " > ".join(f"{place.label}:{place.device}" for place in places(demo, HERE, gpu, remotes))


@pytest.mark.parametrize(
    ("devices", "gpu", "expected"),
    [
        (BOTH, "H200", "H200:cuda > interpreter:cpu"),
        (BOTH, None, "interpreter:cpu"),
        (("interpreter",), "H200", "interpreter:cpu"),
        (("cuda", "cpu"), None, "CPU:cpu"),
        (("cuda",), "H200", "H200:cuda"),
        (("cuda",), None, ""),
        ((), "H200", "here:auto"),
    ],
)
def test_the_best_device_here_comes_first(devices, gpu, expected) -> None:
    assert labels(devices, gpu) == expected


def test_a_remote_is_used_unasked_only_where_nothing_here_can_run_it() -> None:
    assert labels(BOTH, None, BOX) == "interpreter:cpu > remote box:auto"
    assert labels(("cuda",), None, BOX) == "remote box:auto"
    assert labels(BOTH, None, BOX, needs=("no_such_package",)) == "remote box:auto"


def test_without_what_it_needs_and_without_a_remote_the_kernels_say_what_to_install() -> None:
    assert labels(BOTH, "H200", needs=("no_such_package",)) == "H200:cuda"


def test_one_line_says_what_demos_can_show_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "find_spec", lambda name: name)
    assert machine.hardware_truth("H200", recordings=True) == "H200: demos run on it"
    here = "no GPU here: demos count bytes and check values; times"
    assert machine.hardware_truth(None, recordings=True) == f"{here} come from recorded runs"
    assert machine.hardware_truth(None, recordings=False) == f"{here} need a GPU"
    monkeypatch.setattr(machine, "find_spec", lambda name: None)
    assert machine.hardware_truth("H200", recordings=True).startswith("torch and triton not installed")
