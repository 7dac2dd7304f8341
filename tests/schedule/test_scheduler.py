from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.errors import FatutorError
from fatutor.schedule.scheduler import Scheduler, scheduler_of
from fatutor.schedule.state import Memory


@pytest.mark.parametrize(
    ("scheduler", "tag"),
    [
        (Scheduler(), "sm2@365"),
        (Scheduler("sm2-text", 36500), "sm2-text@36500"),
        (Scheduler("sm2", None), "sm2"),
        (Scheduler("sm2-text", None), "sm2-text"),
    ],
)
def test_a_tag_gives_its_scheduler_back(scheduler: Scheduler, tag: str) -> None:
    assert scheduler.tag == tag
    assert scheduler_of(tag) == scheduler


@pytest.mark.parametrize(
    "tag", ["", "fsrs-6", "sm2@", "sm2@0", "sm2@-5", "sm2@1.5", "sm2@٣", "sm3@365", "SM2@365"]
)
def test_a_tag_of_another_fatutor_is_refused_with_a_way_out(tag: str) -> None:
    with pytest.raises(FatutorError) as caught:
        scheduler_of(tag)
    assert caught.value.way_out == "install a newer fatutor"


@given(st.integers(1, 400), st.integers(130, 350))
def test_profile_and_ceiling_reach_the_rule(interval: int, ease: int) -> None:
    memory = Memory(repetition=3, interval=interval, ease=ease)
    nearest = Scheduler("sm2", None).review(memory, 4).interval
    up = Scheduler("sm2-text", None).review(memory, 4).interval
    assert 0 <= up - nearest <= 1
    assert Scheduler("sm2", 10).review(memory, 4).interval == min(10, nearest)
