"""Whether a process is no more. A zombie is none: it only waits for a parent that is slow to look."""

from __future__ import annotations

import os
import time
from pathlib import Path

PATIENCE = 20.0  # seconds; how long a process that was told to go may take


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    if not Path("/proc/self/stat").exists():
        return True
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except OSError:
        return False
    return stat.rsplit(")", 1)[1].split()[0] != "Z"


def assert_is_gone(pid: int) -> None:
    """Wait for its end; an AssertionError where that does not come."""
    deadline = time.monotonic() + PATIENCE
    while is_alive(pid):
        assert time.monotonic() < deadline, f"process {pid} is still alive"
        time.sleep(0.02)
