"""Which deck has its turn: Today's table and the drill name the same one, day after day."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from fatutor.desk import Desk
from fatutor.settings import Settings


def plain_deck(folder: Path, name: str) -> None:
    cards = "".join(f"## T\n<!-- card id={name}-{n} kind=recall -->\nx\n### Answer\nx\n" for n in range(3))
    folder.mkdir(exist_ok=True)
    (folder / f"{name}.md").write_text(f"---\nfatutor: 1\ntitle: {name}\n---\n{cards}", "utf-8")


def test_two_new_cards_a_day_reach_every_deck_and_one_that_is_added_at_once(
    make_desk: Callable[..., Desk], tmp_path: Path, clock: Any
) -> None:
    bundled, own = tmp_path / "bundled", tmp_path / "own"
    own.mkdir()
    for name in ("one", "two", "three"):
        plain_deck(bundled, name)
    days: list[list[str]] = []
    for day in range(5):
        if day == 2:
            plain_deck(own, "mine")
        desk = make_desk(Settings(new_per_day=2), roots=[bundled, own])
        new = {name: share.new for name, share in desk.overview().tallies.items() if share.new}
        drill = desk.drill()
        asked: list[str] = []
        while drill.turn is not None:
            if drill.turn.state.is_new:
                asked.append(drill.turn.card.id)
            drill.answer()
            drill.grade(4, 3)
        assert {name: sum(card.startswith(name) for card in asked) for name in new} == new
        assert sum(new.values()) == len(asked) == 2
        days.append(asked)
        desk.close()
        clock.forward(days=1)
    assert days == [
        ["one-0", "three-0"],
        ["two-0", "one-1"],
        ["mine-0", "three-1"],
        ["two-1", "mine-1"],
        ["one-2", "three-2"],
    ]
