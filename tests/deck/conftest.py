"""A small hardware table, and decks read from text or from files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.hardware import Hardware
from fatutor.deck.model import Deck
from fatutor.deck.parse import parse

PLAIN_FRONT = "---\nfatutor: 1\ntitle: Small\ntags: [io]\n---\n"
BEAT_FRONT = """---
fatutor: 1
title: Lesson
module: Tiny
beat: {number}
kind: concept
minutes: {minutes}
path: {path}
outcome: do one thing
---
"""


@pytest.fixture
def hardware() -> Hardware:
    return {"A100": {"bf16": 312e12, "hbm": 2.039e12, "ridge": 312 / 2.039}}


@pytest.fixture
def read(hardware: Hardware) -> Callable[..., Deck]:
    """Reads a body below plain front matter; `raw=True` takes the text as it is."""

    def read_text(body: str, *, raw: bool = False) -> Deck:
        text = body if raw else PLAIN_FRONT + body
        return parse(text, name="folder/small", path="folder/small.md", hardware=hardware)

    return read_text


@pytest.fixture
def beat_front() -> Callable[..., str]:
    def front(number: int = 1, minutes: int = 1, path: str = "core") -> str:
        return BEAT_FRONT.format(number=number, minutes=minutes, path=path)

    return front


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a deck file, plain front matter and the body given, and returns its path."""

    def write_file(name: str, body: str, *, front: str = PLAIN_FRONT) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes((front + body).encode("utf-8"))
        return path

    return write_file
