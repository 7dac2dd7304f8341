"""A child process in a group of its own, its output in bounded memory, and its certain end."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import cast

from fatutor.text.clean import clean_line

PATIENCE = 2.0
"""Seconds between the polite signal and the final one."""

_LOG_LINES = 200
_LOG_LINE_CAP = 4 * 1024
_CHUNKS_AHEAD = 4


class Lines:
    """Splits chunks into lines and never holds more than one line of `cap` + 1 bytes.

    A longer line comes out cut to `cap` + 1 bytes, so that whoever reads it can tell.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._open = b""

    def feed(self, chunk: bytes) -> list[bytes]:
        """The lines that this chunk completes, without their ends."""
        first, *rest = chunk.split(b"\n")
        room = self._cap + 1 - len(self._open)
        self._open += first[:room]
        if not rest:
            return []
        lines = [self._open, *(line[: self._cap + 1] for line in rest)]
        self._open = lines.pop()
        return lines

    def rest(self) -> list[bytes]:
        """What was left without an end of line."""
        left, self._open = self._open, b""
        return [left] if left else []


class Tail:
    """The last lines of a log. Cleaned only when looked at, since a flood is mostly thrown away."""

    def __init__(self) -> None:
        self._lines = Lines(_LOG_LINE_CAP)
        self._kept: deque[bytes] = deque(maxlen=_LOG_LINES)

    def feed(self, chunk: bytes) -> None:
        self._kept.extend(self._lines.feed(chunk))

    def close(self) -> None:
        """Takes what was left without an end of line. Safe to call twice."""
        self._kept.extend(self._lines.rest())

    def add(self, line: str) -> None:
        self._kept.append(line.encode("utf-8", "replace")[:_LOG_LINE_CAP])

    def read(self) -> tuple[str, ...]:
        """Oldest first, without blank lines; of a line that overwrote itself, what was left standing."""
        shown = (_standing(line) for line in self._kept)
        return tuple(line for line in shown if line)


def _standing(line: bytes) -> str:
    text = line.decode("utf-8", "replace").rstrip()
    return clean_line(text.rsplit("\r", 1)[-1]).rstrip()


class Child(asyncio.SubprocessProtocol):
    """One process that leads its own session. `stop` leaves nothing of its group alive.

    Not asyncio.subprocess.Process: its `wait` may also wait for pipes, which a stray grandchild can hold
    open after the child itself is gone.
    """

    def __init__(self) -> None:
        self.log = Tail()
        self.output_ended = False
        self.exited = asyncio.Event()
        self.news = asyncio.Event()
        """Set on output, on its end and on the exit; whoever waits for it clears it."""
        self._settled = asyncio.Event()
        self._chunks: deque[bytes] = deque()
        self._transport: asyncio.SubprocessTransport

    @classmethod
    async def start(cls, argv: Sequence[str], env: Mapping[str, str], cwd: Path) -> Child:
        """Raises OSError where the program cannot be started, ValueError for a NUL in its arguments."""
        loop = asyncio.get_running_loop()
        # A session of its own: ctrl-c in the terminal reaches only us, and one signal reaches all of it.
        _, child = await loop.subprocess_exec(cls, *argv, env=dict(env), cwd=cwd, start_new_session=True)
        return child

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the signal's number where a signal ended it."""
        return self._transport.get_returncode()

    def take(self) -> bytes | None:
        """The next chunk of output that is already here."""
        if not self._chunks:
            return None
        chunk = self._chunks.popleft()
        if len(self._chunks) < _CHUNKS_AHEAD and not self.output_ended:
            self._reading().resume_reading()
        return chunk

    async def settles_within(self, seconds: float) -> None:
        """Returns once it has exited and all it said is here, or after that many seconds."""
        await _within(seconds, self._settled)

    async def stop(self) -> None:
        """Closes stdin, asks the group to end, and after PATIENCE makes it. Safe to call twice.

        A cancellation in the meantime only makes it quicker.
        """
        try:
            if stdin := self._transport.get_pipe_transport(0):
                stdin.close()
            if not self.exited.is_set():
                self._end_group(force=False)
            await _within(PATIENCE, self.exited)
        finally:
            if not self.exited.is_set():
                self._end_group(force=True)
            self._transport.close()
            await _within(PATIENCE, self.exited)
            self.log.close()

    def _reading(self) -> asyncio.ReadTransport:
        return cast("asyncio.ReadTransport", self._transport.get_pipe_transport(1))

    def _end_group(self, *, force: bool) -> None:
        # The group's number stays taken while any member lives; an empty group is no error.
        with suppress(ProcessLookupError, PermissionError):
            if sys.platform == "win32":
                self._transport.kill()
            elif pid := self._transport.get_pid():
                os.killpg(pid, signal.SIGKILL if force else signal.SIGTERM)

    # What the event loop calls.

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.SubprocessTransport", transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.log.feed(data)
            return
        self._chunks.append(data)
        if len(self._chunks) >= _CHUNKS_AHEAD:
            self._reading().pause_reading()
        self.news.set()

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        if fd == 1:
            self.output_ended = True
            self.news.set()
        elif fd == 2:
            self.log.close()

    def process_exited(self) -> None:
        # What it started has no more business, and may hold the pipes open.
        self._end_group(force=True)
        self.exited.set()
        self.news.set()

    def connection_lost(self, exc: Exception | None) -> None:
        self._settled.set()


async def _within(seconds: float, event: asyncio.Event) -> None:
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await event.wait()
