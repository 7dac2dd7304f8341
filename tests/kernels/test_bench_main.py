"""`python -m kernels bench` and `record` as others start them, on a machine without a GPU."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def without_gpu(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kernels", *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT), "CUDA_VISIBLE_DEVICES": ""},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


@pytest.mark.parametrize("verb", ["bench", "record"])
def test_it_says_in_one_line_that_there_is_no_gpu(verb: str) -> None:
    pytest.importorskip("torch")
    done = without_gpu(verb, "--quick")
    way_out = "run it on a machine with one"
    line = f"{verb} needs a GPU, and PyTorch finds no CUDA device here; {way_out}\n"
    assert (done.returncode, done.stdout, done.stderr) == (1, "", line)


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["--against", "fa2"], "there is no peer called 'fa2'; "),
        (["--pass", "sideways"], "there is no pass called 'sideways'; "),
        (["--loud"], "unrecognized arguments: --loud; "),
    ],
)
def test_a_wrong_request_is_one_line_too(arguments: list[str], what: str) -> None:
    done = without_gpu("bench", *arguments)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith(what)
