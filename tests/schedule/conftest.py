"""What the scheduling tests share: cards with nothing in them but what the schedule looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fatutor.deck.model import Card, Kind, Place


@pytest.fixture(scope="session")
def make_card() -> Callable[..., Card]:
    """A card by id; `base` defaults to the id, everything else can be named."""

    def make(card_id: str, **given: Any) -> Card:
        values: dict[str, Any] = {
            "id": card_id,
            "base": card_id,
            "kind": Kind.RECALL,
            "title": card_id,
            "prompt": "?",
            "answer": "!",
            "place": Place("deck.md", 1),
            "deck": "deck",
            "digest": "d0",
        }
        return Card(**(values | given))

    return make
