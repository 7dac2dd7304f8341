"""Verbs as people run them: whole processes with an environment of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
Done = subprocess.CompletedProcess[str]
Fatutor = Callable[..., Done]


@pytest.fixture
def fatutor(home: Path, decks: Path) -> Fatutor:
    """Run a verb on the test's own home and decks; keywords change the environment, None unsets.

    `largest_file` is how many bytes a file that the verb writes may have.
    """

    def run(
        *arguments: str,
        typed: str = "",
        own: bool = True,
        largest_file: int | None = None,
        **env: str | None,
    ) -> Done:
        environ: dict[str, str | None] = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "FATUTOR_HOME": str(home),
            **env,
        }
        argv = [sys.executable, "-m", "fatutor", *(["--decks", str(decks)] if own else []), *arguments]
        if largest_file is not None:
            argv = ["prlimit", f"--fsize={largest_file}", *argv]
        return subprocess.run(
            argv,
            input=typed,
            env={name: value for name, value in environ.items() if value is not None},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    return run


def complaint(done: subprocess.CompletedProcess[str]) -> str:
    """The one line on stderr of a verb that could not do what was asked."""
    assert done.returncode == 1, done.stdout + done.stderr
    lines = done.stderr.strip().split("\n")
    assert len(lines) == 1 and lines[0].startswith("fatutor: "), done.stderr
    assert "Traceback" not in done.stdout
    return lines[0]


@pytest.fixture(name="complaint")
def complaint_fixture() -> Callable[[subprocess.CompletedProcess[str]], str]:
    return complaint
