"""The grades of an answer and the keys that give them: one table, read by every screen and every report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

PASS = 3  # the lowest quality that counts as recalled (SM-2, rule 6)
SETTLED = 4  # the lowest quality that ends the day's relearning (SM-2, rule 7)


@dataclass(frozen=True, slots=True)
class Grade:
    """One step of SM-2's scale: `quality` 0-5 and a one-word `label`."""

    quality: int
    label: str


GRADES = (
    Grade(0, "blackout"),  # nothing came back
    Grade(1, "wrong"),  # though the answer looked familiar
    Grade(2, "again"),  # wrong, though the answer seemed within reach
    Grade(3, "hard"),  # right, with serious effort
    Grade(4, "good"),  # right, after some thought
    Grade(5, "easy"),  # right at once
)

# Four keys give the upper four grades. "again" is quality 2: it costs 0.32 of ease, and three lapses still
# leave 1.54, where quality 0 would reach the floor after two.
FOUR_KEYS: Mapping[int, Grade] = {grade.quality - 1: grade for grade in GRADES[2:]}
SIX_KEYS: Mapping[int, Grade] = {grade.quality: grade for grade in GRADES}


def grading_keys(six_grades: bool = False) -> Mapping[int, Grade]:
    """Key to grade: `1`-`4` by default, `0`-`5` where a learner wants the whole scale."""
    return SIX_KEYS if six_grades else FOUR_KEYS
