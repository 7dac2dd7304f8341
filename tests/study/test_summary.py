"""The summary of a sitting: each card once, by its last grade; times and points of every answer."""

from __future__ import annotations

from fatutor.desk import Desk
from fatutor.study.summary import summarise

ANSWERS = {"ridge": "", "number": "256", "choice": "2", "written": "words"}


def test_a_card_that_came_again_is_one_card_with_its_longest_answer(desk: Desk, clock) -> None:
    drill = desk.drill()
    order: list[str] = []
    for seconds, quality in ((50, 2), (10, 4), (40, 5), (5, 4), (30, 4)):
        assert drill.turn is not None
        order.append(drill.turn.card.id)
        clock.forward(seconds=seconds)
        drill.answer(ANSWERS[drill.turn.card.id])
        drill.grade(quality, quality - 1)
    assert drill.turn is None and order[4] == order[0]
    done = summarise(drill.graded)
    assert (done.cards, done.seconds) == (4, 135)
    assert done.by_grade == (("good", 3), ("easy", 1))
    assert [(slow.card.id, slow.entry.speaking_ms) for slow in done.slowest] == [
        (order[0], 50_000),
        (order[2], 40_000),
    ]
    assert done.comes_back == ((1, 4),)
