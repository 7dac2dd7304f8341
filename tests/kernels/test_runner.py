"""Around a demo: parameters, devices, what is missing, and what goes wrong."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from kernels import runner
from kernels.demos import Demo, Param, modules
from kernels.runner import RefusalError
from kernels.wire import Error, Event, Progress, Result, Row, Start

DEMO = Demo(
    name="plain",
    claim="One is one.",
    question="What is one?",
    unit="",
    form="number",
    needs=(),
    devices=("cpu",),
    params=(Param("n", 2, (2, 4), "how many"), Param("m", 1, (1,), "nothing")),
    seconds=0.1,
    plan="Counts to one.",
    explain="1 = 1",
)
RESULT = Result("one", 1, 1, "", "confirmed", "it is", "1 = 1", "none")


@dataclass
class Fake:
    """A demo that yields what it is told to, and then fails if it is told to."""

    DEMO: Demo = DEMO
    events: tuple[Event, ...] = (Row("one", 1, 1, ""), RESULT)
    failure: Exception | None = None

    def run(self, params: Mapping[str, Any], device: str) -> Iterator[Event]:
        yield from self.events
        if self.failure:
            raise self.failure


def said_by(fake: Fake, device: str = "auto") -> tuple[int, list[Event]]:
    events: list[Event] = []
    code = runner.run(fake, {"n": 2}, device, events.append)
    return code, events


def test_a_run_is_progress_start_and_what_the_demo_yields() -> None:
    code, events = said_by(Fake())
    assert code == 0
    assert [event.event for event in events] == ["progress", "start", "row", "result"]
    progress, start, row, result = events
    assert isinstance(progress, Progress)
    assert isinstance(start, Start)
    assert isinstance(result, Result)
    assert (start.demo, start.device, start.params, start.plan) == (
        "plain",
        "cpu",
        {"n": 2},
        "Counts to one.",
    )
    assert start.versions["python"] == ".".join(map(str, sys.version_info[:3]))
    assert start.at.endswith("+00:00")
    assert row == Row("one", 1, 1, "")
    assert replace(result, seconds=0.0) == RESULT


def test_a_failure_is_an_event_on_one_line_with_the_traceback_elsewhere(capsys: Any) -> None:
    code, events = said_by(Fake(events=(), failure=ValueError("two\nlines")))
    assert code == 1
    assert events[-1] == Error("plain failed with ValueError: two lines", "its log has the traceback")
    assert "Traceback" in capsys.readouterr().err


class OutOfMemoryError(RuntimeError):
    """As torch names it."""


@pytest.mark.parametrize(
    ("failure", "what", "way_out"),
    [
        (
            OutOfMemoryError(
                "CUDA out of memory. Tried to allocate 64.00 GiB. GPU 0 has a total capacity of 23.6 GiB."
            ),
            "plain cannot go on: CUDA out of memory",
            "choose a smaller size, or end what else is on the GPU",
        ),
        (
            RuntimeError(
                "[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory: "
                "you tried to allocate 1073741824 bytes. Error code 12 (Cannot allocate memory)"
            ),
            "plain cannot go on: DefaultCPUAllocator: can't allocate memory: you tried to allocate "
            "1073741824 bytes",
            "choose a smaller size, or end what else takes memory",
        ),
        (MemoryError(), "plain ran out of memory", "choose a smaller size"),
        (
            RuntimeError(
                "CUDA error: CUDA-capable device(s) is/are busy or unavailable\nCUDA kernel errors might be "
                "asynchronously reported at some other API call."
            ),
            "plain cannot go on: CUDA error: CUDA-capable device(s) is/are busy or unavailable",
            "wait until the GPU is free, or use --device cpu",
        ),
        (
            ModuleNotFoundError("No module named 'numpy'", name="numpy"),
            "plain needs numpy, not installed here",
            "pip install 'fatutor[demos]'",
        ),
    ],
    ids=["GPU memory", "memory", "Python's memory", "GPU in use", "a package"],
)
def test_what_the_machine_lacks_is_told_with_a_way_out(failure: Exception, what: str, way_out: str) -> None:
    code, events = said_by(Fake(events=(), failure=failure))
    assert (code, events[-1]) == (1, Error(what, way_out))


def test_a_reader_that_has_gone_is_not_a_failure_of_the_demo() -> None:
    with pytest.raises(BrokenPipeError):
        said_by(Fake(failure=BrokenPipeError()))


def test_parameters_are_the_defaults_changed_by_settings() -> None:
    assert runner.parameters(DEMO, []) == {"n": 2, "m": 1}
    assert runner.parameters(DEMO, ["n=4"]) == {"n": 4, "m": 1}


@pytest.mark.parametrize(
    ("setting", "complaint"),
    [
        ("x=1", "plain has no parameter 'x'; it has n, m"),
        ("n=3", "n cannot be '3'; write n= and one of 2, 4"),
        ("n", "n cannot be ''; write n= and one of 2, 4"),
        ("n= 4", "n cannot be ' 4'; write n= and one of 2, 4"),
    ],
)
def test_a_wrong_setting_is_a_wrong_request(setting: str, complaint: str) -> None:
    with pytest.raises(RefusalError) as refusal:
        runner.parameters(DEMO, [setting])
    assert str(refusal.value) == complaint
    assert refusal.value.exit_code == 2


def test_an_unknown_demo_names_the_known_ones() -> None:
    assert runner.find("plain", {"plain": Fake()}).DEMO is DEMO
    with pytest.raises(RefusalError, match="there is no demo called 'plan'; choose one of plain"):
        runner.find("plan", {"plain": Fake()})


@pytest.mark.parametrize(
    ("platform", "way_out"), [("linux", r"pip install 'fatutor\[demos\]'"), ("darwin", "Linux machine")]
)
def test_a_missing_package_is_named_before_anything_is_said(
    platform: str, way_out: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runner, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "platform", platform)
    fake, events = Fake(replace(DEMO, needs=("torch", "triton"))), []
    with pytest.raises(
        RefusalError, match=f"plain needs torch and triton, not installed here; .*{way_out}"
    ) as refusal:
        runner.run(fake, {}, "auto", events.append)
    assert refusal.value.exit_code == 1
    assert events == []


class NoCuda:
    """Stands for a torch without a GPU."""

    class cuda:  # noqa: N801 - named as in torch
        is_available = staticmethod(lambda: False)


@pytest.mark.parametrize("name", modules())
def test_every_demo_refuses_a_gpu_that_is_not_there(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "find_spec", lambda package: object())
    monkeypatch.setattr(runner, "import_module", lambda package: NoCuda)
    events: list[Event] = []
    with pytest.raises(RefusalError, match=r"; use --device cpu$") as refusal:
        runner.run(modules()[name], {}, "cuda", events.append)
    assert refusal.value.exit_code == 1
    assert not [event for event in events if isinstance(event, Start)]


def test_devices(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.setattr(runner, "find_spec", lambda name: object())
    monkeypatch.setattr(runner, "import_module", lambda name: NoCuda)
    both = replace(DEMO, needs=("torch",), devices=("cuda", "cpu"))

    def chosen(demo: Demo, asked: str) -> str:
        _, events = said_by(Fake(demo), asked)
        return next(event.device for event in events if isinstance(event, Start))

    assert chosen(both, "auto") == "cpu"
    assert chosen(both, "cpu") == "cpu"
    with pytest.raises(RefusalError, match=r"^plain runs on the CPU alone; use --device cpu$") as refusal:
        chosen(DEMO, "cuda")
    assert refusal.value.exit_code == 1
    with pytest.raises(RefusalError, match="no CUDA device here; use --device cpu") as refusal:
        chosen(both, "cuda")
    assert refusal.value.exit_code == 1
    with pytest.raises(RefusalError, match="runs on a CUDA device alone"):
        chosen(replace(both, devices=("cuda",)), "auto")

    def too_old() -> bool:
        warnings.warn(
            "CUDA initialization: The NVIDIA driver is too old (found 11040). Please update", stacklevel=1
        )
        return False

    monkeypatch.setattr(NoCuda.cuda, "is_available", staticmethod(too_old))
    with pytest.raises(
        RefusalError, match=r"here: CUDA initialization: The NVIDIA driver is too old \(found"
    ):
        chosen(both, "cuda")
    assert chosen(both, "auto") == "cpu"
    assert "too old" in capsys.readouterr().err

    monkeypatch.setattr(NoCuda.cuda, "is_available", staticmethod(lambda: True))
    assert runner._load(both, "auto") == "cuda"
    assert runner._load(both, "cuda") == "cuda"
    assert runner._load(both, "cpu") == "cpu"
