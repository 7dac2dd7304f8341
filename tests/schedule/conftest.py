"""What the scheduling tests share: cards as the schedule sees them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fatutor.deck.model import Slip


@pytest.fixture(scope="session")
def make_card() -> Callable[..., Slip]:
    """A card by id; `base` defaults to the id and `topic` to the deck, everything else can be named."""

    def make(card_id: str, base: str = "", deck: str = "deck", topic: str = "", **more: Any) -> Slip:
        return Slip(
            card_id,
            base or card_id,
            deck,
            topic or deck,
            **({"target_seconds": 60, "gate": None, "line": 1} | more),
        )

    return make
