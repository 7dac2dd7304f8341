"""Driving the app: keys in, the text of the screen out."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from textual.pilot import Pilot

from fatutor.desk import Desk
from fatutor.ui.app import FatutorApp


class Seat:
    """A person at the app."""

    def __init__(self, app: FatutorApp, pilot: Pilot[Any]) -> None:
        self.app = app
        self.pilot = pilot

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.pilot.pause()

    async def type(self, text: str) -> None:
        await self.press(*("space" if c == " " else c for c in text))

    @property
    def lines(self) -> list[str]:
        """What is on the screen, line by line."""
        strips = self.app.screen._compositor.render_strips()
        return [strip.text.rstrip() for strip in strips]

    @property
    def frame(self) -> str:
        return "\n".join(self.lines).replace("\u00a0", " ")

    def expect(self, *texts: str) -> None:
        for text in texts:
            assert text in self.frame, f"{text!r} is not on the screen:\n{self.frame}"

    def shows(self, *texts: str) -> bool:
        return all(text in self.frame for text in texts)


Scene = Callable[[Seat], Awaitable[None]]


@pytest.fixture
def sit() -> Callable[..., None]:
    """Run a scene at the app on a desk, at a terminal size."""

    def run(desk: Desk, scene: Scene, size: tuple[int, int] = (80, 24), **options: Any) -> None:
        async def play() -> None:
            app = FatutorApp(desk, {}, **options)
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                await scene(Seat(app, pilot))

        asyncio.run(play())

    return run
