"""Fake children: tiny Python scripts that speak the wire, or fail to, in real processes."""

from __future__ import annotations

import asyncio
import os
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.demo.events import Event
from fatutor.demo.launcher import Launcher
from fatutor.demo.run import Run
from tests.processes import assert_is_gone

_PRELUDE = """
import json, os, signal, subprocess, sys, threading, time
def say(event, **fields):
    print(json.dumps({"v": 1, "event": event, **fields}), flush=True)
def note(name, value):
    path = os.path.join(os.environ["NOTES"], name)
    with open(path + ".part", "w") as file: file.write(str(value))
    os.rename(path + ".part", path)
def start(): say("start", demo="fake", device="cpu")
def result(**fields): say("result", verdict="confirmed", **fields)
note("pid", os.getpid())
"""


@pytest.fixture
def fake(tmp_path: Path) -> Callable[[str], Launcher]:
    """A launcher of a child with this body. The body may call say, start, result and note."""

    def make(body: str) -> Launcher:
        script = tmp_path / "child.py"
        script.write_text(_PRELUDE + textwrap.dedent(body), encoding="utf-8")
        env = {"NOTES": str(tmp_path), "PATH": os.environ.get("PATH", ""), "PYTHONIOENCODING": "utf-8"}
        return Launcher((sys.executable, str(script)), env)

    return make


@pytest.fixture
def noted(tmp_path: Path) -> Callable[[str], str]:
    """What a child noted under a name, waited for."""

    def read(name: str) -> str:
        _until((tmp_path / name).exists, f"nothing noted under {name}")
        return (tmp_path / name).read_text(encoding="utf-8")

    return read


@pytest.fixture
def assert_gone(noted: Callable[[str], str]) -> Callable[..., None]:
    """Asserts that the processes noted under these names are no more."""

    def check(*names: str) -> None:
        for name in names or ("pid",):
            assert_is_gone(int(noted(name)))

    return check


@pytest.fixture
def collect() -> Callable[..., tuple[list[Event], tuple[str, ...]]]:
    """All events of one run, and its log. A run that hangs is cut off, and fails its test."""

    def run_all(launcher: Launcher, *, limit_seconds: float = 60.0) -> tuple[list[Event], tuple[str, ...]]:
        async def follow() -> tuple[list[Event], tuple[str, ...]]:
            run = Run(launcher, "fake", {}, "auto", limit_seconds=limit_seconds)
            async with asyncio.timeout(15), run:
                events = [event async for event in run]
            return events, run.log

        return asyncio.run(follow())

    return run_all


def _until(true: Callable[[], bool], complaint: str) -> None:
    for _ in range(1000):
        if true():
            return
        time.sleep(0.01)
    pytest.fail(complaint)
