"""What this machine can run, told without loading torch: the app's process never does."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib.util import find_spec

from fatutor.text.clean import clean_line

NO_GPU = "no GPU here: demos count bytes and check values; times"
_LONGEST_NAME = 120


def gpu_name() -> str | None:
    """The first NVIDIA GPU's name as its driver tells it, or None. Takes at most two seconds."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    try:
        told = subprocess.Popen(
            [tool, "--query-gpu=name", "--format=csv,noheader"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError:
        return None
    with told:
        try:
            names = told.communicate(timeout=2)[0].decode("utf-8", "replace")
        except subprocess.TimeoutExpired:
            _end(told)
            return None
    name = clean_line(names.strip().partition("\n")[0][:_LONGEST_NAME])
    return name if told.returncode == 0 and name else None


def _end(tool: subprocess.Popen[bytes]) -> None:
    """The tool and what it started: on some machines it is a script."""
    if sys.platform == "win32":
        tool.kill()
        return
    with suppress(ProcessLookupError):
        os.killpg(tool.pid, signal.SIGKILL)


def missing(needs: Iterable[str] = ("torch", "triton")) -> list[str]:
    """Which of the packages is not installed beside this Python."""
    return [package for package in needs if find_spec(package) is None]


def hardware_truth(gpu: str | None, *, recordings: bool) -> str:
    """One dim line: what a demo run here can and cannot show.

    `gpu` is what `gpu_name` found, `recordings` says whether there are runs recorded on one.
    """
    if absent := missing():
        return f"{' and '.join(absent)} not installed: demos cannot run here; pip install 'fatutor[demos]'"
    if gpu:
        return f"{gpu}: demos run on it"
    return f"{NO_GPU} {'come from recorded runs' if recordings else 'need a GPU'}"
