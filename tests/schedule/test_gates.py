from __future__ import annotations

from collections.abc import Callable

import pytest

from fatutor.deck.model import Beat, Slip, Track
from fatutor.schedule.gates import drillable, opener, unlocked


def beat(number: int, track: Track = Track.CORE, module: str = "attention") -> Beat:
    return Beat(module, number, "concept", 5, track, "", f"{module}-{number:02}")


# As the module is: 05 and 06 are deep dives, 07 belongs to the core path.
BEATS = [beat(n, Track.DEEP_DIVE if n in (5, 6) else Track.CORE) for n in range(1, 8)]


def open_numbers(*committed: int) -> list[int]:
    gates = unlocked(BEATS, {f"attention-{n:02}" for n in committed})
    return sorted(int(gate[-2:]) for gate in gates)


def test_at_first_only_the_first_beat_is_open() -> None:
    assert open_numbers() == [1]


@pytest.mark.parametrize(
    ("committed", "numbers"),
    [
        ((1,), [1, 2]),
        ((1, 2, 3), [1, 2, 3, 4]),
        ((1, 2, 3, 4), [1, 2, 3, 4, 5, 7]),  # the core path goes on, and the deep dive opens beside it
        ((1, 2, 3, 4, 5), [1, 2, 3, 4, 5, 6, 7]),
        ((1, 2, 3, 4, 7), [1, 2, 3, 4, 5, 7]),
        ((1, 2, 3, 4, 5, 6, 7), [1, 2, 3, 4, 5, 6, 7]),
    ],
)
def test_a_committed_gate_opens_the_next_beat(committed: tuple[int, ...], numbers: list[int]) -> None:
    assert open_numbers(*committed) == numbers


def test_each_beat_names_the_one_that_opens_it() -> None:
    openers = [opener(one, BEATS) for one in BEATS]
    assert [before and before.number for before in openers] == [None, 1, 2, 3, 4, 5, 4]


def test_the_order_of_the_files_does_not_matter() -> None:
    assert unlocked(BEATS[::-1], {"attention-01"}) == {"attention-01", "attention-02"}


def test_modules_open_for_themselves() -> None:
    other = [beat(1, module="decoding"), beat(2, module="decoding")]
    assert unlocked([*BEATS, *other], {"attention-01"}) == {"attention-01", "attention-02", "decoding-01"}


def test_a_missing_number_does_not_close_what_follows() -> None:
    assert unlocked([beat(1), beat(3)], {"attention-01"}) == {"attention-01", "attention-03"}


def test_cards_of_a_beat_join_the_drill_with_its_own_gate(make_card: Callable[..., Slip]) -> None:
    gate, prompt = make_card("g1", gate="g1"), make_card("p", gate="g1")
    plain = make_card("plain")
    assert [drillable(card, set()) for card in (gate, prompt, plain)] == [False, False, True]
    assert [drillable(card, {"g1"}) for card in (gate, prompt, plain)] == [True, True, True]
    assert not drillable(prompt, {"g0", "g2"})
