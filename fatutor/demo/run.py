"""One run of one demo: events out of a child process, which is gone when the run is left."""

from __future__ import annotations

import asyncio
import signal
import tempfile
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from fatutor.demo.child import Child, Lines
from fatutor.demo.events import (
    LINE_CAP,
    OTHER_VERSION,
    Event,
    Failed,
    Noise,
    Progress,
    Result,
    read_event,
)
from fatutor.demo.launcher import Launcher
from fatutor.errors import FatutorError

_GRACE = 1.0
"""Seconds that a child gets to say the rest once it has given its result or has exited."""

_BUDGET = 4 * 1024 * 1024
"""Bytes of events that one run may add up to. A demo needs a few thousand."""

_LAST_WORDS = 200
"""Characters of the log's last line that a failure quotes."""


class Run:
    """A demo under way.

        async with Run(launcher, "bytes-moved", {"n": 512}, "auto") as run:
            async for event in run:
                ...
        run.log     # the last lines of stderr, and whatever on stdout was no event

    Exactly one Result or Failed comes out (rows and series may still follow it); Progress that is already
    overtaken is left out. To cancel, cancel the task or leave the block: the child and all that it started
    is ended either way.
    """

    def __init__(
        self,
        launcher: Launcher,
        demo: str,
        params: Mapping[str, object],
        device: str,
        *,
        limit_seconds: float | None = None,
    ) -> None:
        """`limit_seconds` replaces the launcher's own limit.

        Raises FatutorError for a name, a value or a device that no command line should carry.
        """
        self._launcher = launcher
        self._argv = launcher.running(demo, params, device)
        self._demo = demo
        self._limit = launcher.limit_seconds if limit_seconds is None else limit_seconds
        self._deadline = float("inf")
        self._outcome: Result | Failed | None = None
        self._spent = 0
        self.heard = False
        """Whether anything that came was an event."""
        self.other_version = False
        """Whether an event of another version of the wire came."""

    async def __aenter__(self) -> Self:
        """Starts the child. Raises FatutorError where that fails."""
        # A fresh folder: `python -m` puts the working folder first on its path, and nothing is left behind.
        self._folder = tempfile.TemporaryDirectory(prefix="fatutor-", ignore_cleanup_errors=True)
        try:
            cwd = self._launcher.cwd or Path(self._folder.name)
            self._child = await Child.start(self._argv, self._launcher.env, cwd)
        except BaseException as error:
            self._folder.cleanup()
            if isinstance(error, OSError | ValueError):
                raise FatutorError(
                    f"{self._argv[0]} could not be started: {getattr(error, 'strerror', None) or error}",
                    "check that it is installed",
                ) from error
            raise
        self._deadline = asyncio.get_running_loop().time() + self._limit
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            await self._child.stop()
        finally:
            self._folder.cleanup()

    @property
    def log(self) -> tuple[str, ...]:
        """At most the last 200 lines that were no events, oldest first, cleaned."""
        return self._child.log.read()

    @property
    def last_words(self) -> str:
        """The log's last line, cut short; empty where that is no text, but bytes of some kind."""
        line = self.log[-1][:_LAST_WORDS] if self.log else ""
        return "" if line.count("\ufffd") > len(line) // 8 else line

    @property
    def exit_code(self) -> int | None:
        """None while it runs; minus the signal's number where a signal ended it."""
        return self._child.exit_code

    async def __aiter__(self) -> AsyncIterator[Event]:
        lines = Lines(LINE_CAP)
        while (chunk := await self._next_chunk()) is not None:
            for event in self._read(lines.feed(chunk)):
                yield event
            # A child that floods us must not keep the screen from its turn.
            await asyncio.sleep(0)
        for event in self._read(lines.rest()):
            yield event
        if self._outcome is None:
            self._outcome = await self._no_result()
            yield self._outcome

    async def _next_chunk(self) -> bytes | None:
        """More output; None at its end, when time is up, or when only a stray still holds the pipe."""
        child, clock = self._child, asyncio.get_running_loop().time
        until = self._deadline
        while clock() < self._deadline:
            if (chunk := child.take()) is not None:
                return chunk
            if child.output_ended:
                return None
            if child.exited.is_set():
                until = min(until, clock() + _GRACE)
            child.news.clear()
            try:
                async with asyncio.timeout_at(until):
                    await child.news.wait()
            except TimeoutError:
                return None
        return None

    def _read(self, lines: Iterable[bytes]) -> Iterator[Event]:
        progress: Progress | None = None
        for line in lines:
            event = read_event(line)
            if isinstance(event, Noise):
                self._child.log.add(event.text)
                self.other_version |= event.reason == OTHER_VERSION
                continue
            self.heard = True
            if isinstance(event, Progress):
                progress = event
            elif self._outcome is None or not isinstance(event, Result | Failed):
                if progress:
                    yield progress
                    progress = None
                yield self._noted(event, len(line))
                if self._spent > _BUDGET:
                    return
        if progress:
            yield progress

    def _noted(self, event: Event, size: int) -> Event:
        """This event, or the end of the run where all of them together have become too much."""
        now = asyncio.get_running_loop().time()
        self._spent += size
        if self._spent > _BUDGET:
            self._deadline = now
            if self._outcome is None:
                event = Failed(
                    f"{self._demo} sent more than {_BUDGET >> 20} MiB of rows", "choose a smaller size"
                )
        if isinstance(event, Result | Failed):
            self._outcome = event
            self._deadline = min(self._deadline, now + _GRACE)
        return event

    async def _no_result(self) -> Failed:
        """Why the output ended before a result."""
        where, here = f"{self._demo}{self._launcher.at}", self._launcher.way_out
        if asyncio.get_running_loop().time() >= self._deadline:
            if self._launcher.remote and not self.heard:
                return Failed(f"{self._launcher.remote} gave no answer within {self._limit:g} s", here(""))
            return Failed(f"{where} took longer than {self._limit:g} s", "choose a smaller size")
        await self._child.settles_within(_GRACE)
        code = self._child.exit_code
        if self.other_version and not self.heard:
            what = f"the kernels{self._launcher.at} speak another version of the wire"
            return Failed(what, "copy the folder kernels/ of this fatutor there")
        if code is None:
            return Failed(f"{where} closed its output without a result", here("run it again"))
        if code >= 0:
            end = f"ended with exit code {code} and without a result"
            way_out = here("run it again, or another size")
        else:
            end = f"was ended by {_signal_name(-code)}"
            killed = code == -signal.SIGKILL
            way_out = "choose a smaller size: memory may have run out" if killed else here("run it again")
        last = f": {self.last_words.rstrip('.')}" if self.last_words else ""
        return Failed(f"{where} {end}{last}", way_out)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
