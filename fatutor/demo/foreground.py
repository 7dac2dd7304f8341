"""A run for a verb that waits for it, with signals that end the run before they end us."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Any

from fatutor.demo.events import Event, Failed, Result
from fatutor.demo.launcher import Launcher
from fatutor.demo.run import Run
from fatutor.errors import FatutorError

# asyncio.run itself turns ctrl-c into a cancellation. A terminal that closes sends SIGHUP.
_SIGNALS = [getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]


def run_to_end(
    launcher: Launcher,
    demo: str,
    params: Mapping[str, object],
    device: str,
    on_event: Callable[[Event], None],
    *,
    limit_seconds: float | None = None,
) -> Result | Failed:
    """Runs a demo, hands every event to `on_event`, and returns the one that decided. Main thread only.

    On ctrl-c, SIGTERM or SIGHUP the child's group is ended first; then the signal takes its usual course
    (KeyboardInterrupt, or the end of this process). Raises FatutorError where the run cannot start.
    """
    caught: list[signal.Signals] = []

    async def follow() -> Result | Failed | None:
        outcome = None
        with _Cancelling(caught):
            async with Run(launcher, demo, params, device, limit_seconds=limit_seconds) as run:
                async for event in run:
                    if isinstance(event, Result | Failed):
                        outcome = event
                    on_event(event)
        return outcome

    outcome = None
    with suppress(asyncio.CancelledError):
        outcome = asyncio.run(follow())
    if caught:
        signal.raise_signal(caught[0])
    if outcome is None:
        raise FatutorError("the run was stopped", "start it again")
    return outcome


class _Cancelling:
    """While entered, the signals cancel the current task and are noted down instead of ending us."""

    def __init__(self, caught: list[signal.Signals]) -> None:
        self._caught = caught
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> None:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        assert task is not None

        def note(number: signal.Signals) -> None:
            self._caught.append(number)
            task.cancel()

        for number in _SIGNALS:
            handler = signal.getsignal(number)
            # Ignored means that whoever started us wants it so: nohup, for one.
            if handler is signal.SIG_IGN:
                continue
            with suppress(NotImplementedError):  # Windows: there ctrl+c raises KeyboardInterrupt
                loop.add_signal_handler(number, note, number)
                self._before[number] = handler

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for number, handler in self._before.items():
            loop.remove_signal_handler(number)
            signal.signal(number, handler or signal.SIG_DFL)
