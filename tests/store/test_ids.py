from __future__ import annotations

from datetime import UTC, datetime, timedelta
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from fatutor.store.ids import Ids

AT = datetime(2026, 11, 29, 10, tzinfo=UTC)


def test_an_id_starts_with_its_milliseconds() -> None:
    made = Ids(lambda bits: 0).new(AT)
    assert made == f"{int(AT.timestamp() * 1000):012x}" + 16 * "0"


def test_all_random_bits_are_used() -> None:
    made = Ids(lambda bits: (1 << bits) - 1).new(AT)
    assert made.endswith(16 * "f")
    assert len(made) == 28


def test_the_same_seed_gives_the_same_ids() -> None:
    first, second = (Ids(Random(3).getrandbits) for _ in range(2))
    assert [first.new(AT) for _ in range(5)] == [second.new(AT) for _ in range(5)]


@given(st.lists(st.integers(-(10**7), 10**7), max_size=30), st.integers())
def test_ids_grow_whatever_the_clock_does(steps: list[int], seed: int) -> None:
    ids = Ids(Random(seed).getrandbits)
    made = [ids.new(AT + timedelta(milliseconds=step)) for step in steps]
    assert made == sorted(set(made))
    assert {len(one) for one in made} <= {28}
