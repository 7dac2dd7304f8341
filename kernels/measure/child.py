"""Another Python process that finds this package, wherever it was started from."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import kernels


def call(
    module: str, *arguments: str, before: Sequence[str] = (), seconds: float = 180
) -> subprocess.CompletedProcess[str]:
    """Run `python -m module`, behind the command `before` if given, with its output kept as text.

    Kernels are compiled in it. Raises subprocess.TimeoutExpired after `seconds`, OSError if nothing starts.
    """
    path = [str(Path(kernels.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    kept = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return subprocess.run(
        [*before, sys.executable, "-m", module, *arguments],
        env=kept | {"PYTHONPATH": os.pathsep.join(filter(None, path))},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        timeout=seconds,
        check=False,
    )
