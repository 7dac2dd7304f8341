"""A real terminal: a program in a pty, keys typed into it, its output read back."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import termios
import time
from collections.abc import Mapping
from contextlib import suppress

ESCAPES = re.compile(
    rb"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[P_^X][^\x1b]*\x1b\\|\x1b[@-Z\\-_=>78]"
)
PATIENCE = 20.0  # seconds; how long a test waits for something that must come


class Terminal:
    """One program in one pty."""

    def __init__(self, argv: list[str], env: Mapping[str, str], size: tuple[int, int]) -> None:
        self.pid, self._fd = pty.fork()
        if self.pid == 0:
            os.execvpe(argv[0], argv, dict(env))
        width, height = size
        fcntl.ioctl(self._fd, termios.TIOCSWINSZ, struct.pack("HHHH", height, width, 0, 0))
        self.raw = b""
        self._mark = 0

    @property
    def text(self) -> str:
        """What was printed since the last `mark`, without escape sequences."""
        return ESCAPES.sub(b"", self.raw[self._mark :]).decode("utf-8", "replace")

    def mark(self) -> None:
        self._mark = len(self.raw)

    def read(self, seconds: float = 0.1) -> None:
        ready, _, _ = select.select([self._fd], [], [], seconds)
        if ready:
            with suppress(OSError):  # the far end has closed
                self.raw += os.read(self._fd, 65536)

    def wait_for(self, text: str, pause: float = 0.1) -> None:
        deadline = time.monotonic() + PATIENCE
        while text not in self.text:
            assert time.monotonic() < deadline, f"{text!r} never came; on screen:\n{self.text[-2000:]}"
            self.read(pause)

    def send(self, keys: str) -> None:
        self.mark()
        os.write(self._fd, keys.encode())

    def kill(self, number: int = signal.SIGKILL) -> None:
        os.kill(self.pid, number)

    def wait(self) -> int:
        """The wait status, once the program has ended."""
        deadline = time.monotonic() + PATIENCE
        while True:
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                self.pid = 0
                return status
            assert time.monotonic() < deadline, "the program did not end"
            self.read(0.05)

    def close(self) -> None:
        if self.pid:
            with suppress(ProcessLookupError, ChildProcessError):
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
        os.close(self._fd)
