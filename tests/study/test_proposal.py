"""From ticks to a proposed grade."""

from __future__ import annotations

import pytest

from fatutor.deck.model import Card, KeyPoint, Kind, Place
from fatutor.study.proposal import propose


def card(*points: bool) -> Card:
    """A card whose key points are critical where True."""
    return Card(
        id="c",
        base="c",
        kind=Kind.INTERVIEW,
        title="",
        prompt="",
        answer="",
        place=Place("d.md", 1),
        deck="d",
        digest="",
        key_points=tuple(KeyPoint(f"p{i}", critical) for i, critical in enumerate(points)),
        target_seconds=60,
    )


@pytest.mark.parametrize(
    ("points", "ticked", "verdict", "seconds", "quality"),
    [
        ((True, False, False, False), {0, 1, 2, 3}, None, 60, 5),
        ((True, False, False, False), {0, 1, 2, 3}, None, 61, 4),
        ((True, False, False, False), {0, 1, 2}, None, 10, 4),
        ((True, False, False, False), {0, 1}, None, 10, 3),
        ((True, False, False, False), {0}, None, 10, 2),
        ((True, False, False, False), {1, 2, 3}, None, 10, 3),  # a missed critical point caps at hard
        ((True, False, False, False), {1}, None, 10, 2),
        ((False, False), {0, 1}, False, 10, 2),  # a wrong answer is wrong, whatever was said
        ((), set(), True, 10, 4),
        ((True,), set(), True, 10, 4),
    ],
)
def test_the_ticks_speak_for_a_grade(points, ticked, verdict, seconds, quality) -> None:
    proposal = propose(card(*points), frozenset(ticked), verdict, seconds)
    assert proposal is not None
    assert proposal.quality == quality


def test_with_nothing_to_go_by_nothing_is_proposed() -> None:
    assert propose(card(True, False), frozenset(), None, 10) is None
    assert propose(card(), frozenset(), None, 10) is None
