"""fatutor in a pty, on the test's own home and decks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.pty_terminal import Terminal

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def terminal(home: Path, decks: Path) -> Iterator[Callable[..., Terminal]]:
    """Start fatutor in a pty on the test's own home and decks."""
    opened: list[Terminal] = []

    def start(*arguments: str, size: tuple[int, int] = (80, 24), **more: str) -> Terminal:
        env = {
            "PATH": os.environ["PATH"],
            "PYTHONPATH": str(ROOT),
            "TERM": "xterm-256color",
            "LANG": "C.UTF-8",
            "FATUTOR_HOME": str(home),
            "TEXTUAL_DISABLE_KITTY_KEY": "1",
            **more,
        }
        argv = [sys.executable, "-m", "fatutor", "--decks", str(decks), *arguments]
        opened.append(Terminal(argv, env, size))
        return opened[-1]

    yield start
    for one in opened:
        one.close()
