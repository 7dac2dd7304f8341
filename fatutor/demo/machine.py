"""What this machine can run, told without loading torch: the app's process never does."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable
from importlib.util import find_spec

NO_GPU = "no GPU here: demos count bytes and check values; times"


def gpu_name() -> str | None:
    """The first NVIDIA GPU's name as its driver tells it, or None. Takes at most two seconds."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return None
    try:
        told = subprocess.run(
            [tool, "--query-gpu=name", "--format=csv,noheader"],
            capture_output=True,
            text=True,
            timeout=2,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    names = told.stdout.strip().splitlines()
    return names[0].strip() if told.returncode == 0 and names else None


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
