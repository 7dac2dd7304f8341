"""From what a learner said to a proposed grade. The learner decides; this only argues."""

from __future__ import annotations

from dataclasses import dataclass

from fatutor.deck.model import Card

AGAIN, HARD, GOOD, EASY = 2, 3, 4, 5


@dataclass(frozen=True, slots=True)
class Proposal:
    quality: int
    why: str


def propose(
    card: Card, ticked: frozenset[int], verdict: bool | None, speaking_seconds: float
) -> Proposal | None:
    """The quality (0-5) that ticks and a checked answer speak for; None while there is nothing to go by.

    `ticked` holds indices into `card.key_points`; `verdict` is whether a committed number or choice was
    right, None where only a person can tell. A missed critical point caps the proposal at hard: judging
    idea by idea is what keeps people from crediting an answer that only sounded right (Dunlosky,
    Hartwig, Rawson & Lipko 2011).
    """
    if verdict is False:
        return Proposal(AGAIN, "the committed answer is not right")
    points = card.key_points
    if not ticked:
        return Proposal(GOOD, "the committed answer is right") if verdict else None
    said = len(ticked)
    share = said / len(points)
    missed_critical = any(point.critical and i not in ticked for i, point in enumerate(points))
    if missed_critical:
        return Proposal(HARD if share >= 0.5 else AGAIN, "missed a critical point")
    counted = f"said {said} of {len(points)}"
    if said == len(points):
        if speaking_seconds <= card.target_seconds:
            return Proposal(EASY, f"{counted}, in time")
        return Proposal(GOOD, f"{counted}, over the clock")
    if share >= 0.75:
        return Proposal(GOOD, counted)
    return Proposal(HARD if share >= 0.5 else AGAIN, counted)
