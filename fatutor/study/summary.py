"""What a sitting came to, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from fatutor.schedule.grades import GRADES
from fatutor.study.drill import Graded


@dataclass(frozen=True, slots=True)
class Summary:
    """`comes_back` pairs days ahead with cards, nearest first; `seconds` is time spent on cards.

    `slowest` holds two cards, each with the answer that took it longest.
    """

    cards: int
    seconds: float
    by_grade: tuple[tuple[str, int], ...]
    said: int
    points: int
    slowest: tuple[Graded, ...]
    comes_back: tuple[tuple[int, int], ...]


def summarise(graded: Sequence[Graded]) -> Summary:
    """Each card counts once, by its last grade; times and key points count every answer."""
    last = {answer.card.id: answer for answer in graded}
    qualities = Counter(answer.entry.quality for answer in last.values())
    ahead = Counter(
        (answer.entry.after.due - answer.entry.study_day).days
        for answer in last.values()
        if answer.entry.after.due is not None
    )
    longest = {answer.card.id: answer for answer in sorted(graded, key=_spoken)}
    slowest = sorted(longest.values(), key=_spoken, reverse=True)
    return Summary(
        cards=len(last),
        seconds=sum(answer.entry.total_ms or 0 for answer in graded) / 1000,
        by_grade=tuple(
            (GRADES[quality].label, count)
            for quality, count in sorted(qualities.items())
            if quality is not None
        ),
        said=sum(len(answer.entry.ticked) for answer in graded),
        points=sum(len(answer.card.key_points) for answer in graded),
        slowest=tuple(slowest[:2]) if len(last) > 2 else (),
        comes_back=tuple(sorted(ahead.items())),
    )


def _spoken(answer: Graded) -> int:
    return answer.entry.speaking_ms or 0
