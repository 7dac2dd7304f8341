from __future__ import annotations

from itertools import pairwise, permutations

from hypothesis import given
from hypothesis import strategies as st

from fatutor.schedule.interleave import interleave

Item = tuple[str, int]  # a topic and a place


def topic(item: Item) -> str:
    return item[0]


def items(topics: str) -> list[Item]:
    return [(name, place) for place, name in enumerate(topics)]


def order(topics: str, after: str = "") -> str:
    return "".join(map(topic, interleave(items(topics), topic, items(after))))


def clashes(row: list[Item]) -> int:
    return sum(topic(one) == topic(other) for one, other in pairwise(row))


def test_a_row_without_clashes_stays_as_it_is() -> None:
    assert interleave(items("abcabc"), topic) == items("abcabc")


def test_the_earliest_that_fits_goes_next() -> None:
    assert order("aabbc") == "ababc"


def test_a_crowded_topic_is_spread_before_it_is_too_late() -> None:
    assert order("bcaaa") == "abaca"


def test_what_cannot_be_parted_comes_last() -> None:
    assert order("aaaab") == "abaaa"
    assert order("aaa") == "aaa"


def test_the_row_before_counts() -> None:
    assert order("ab", after="xa") == "ba"
    assert order("aba", after="a") == "baa"


def test_an_empty_row() -> None:
    assert interleave([], topic) == []


@given(st.text("abc", max_size=7), st.text("abc", max_size=1))
def test_no_order_has_fewer_clashes(topics: str, before: str) -> None:
    row, after = items(topics), items(before)
    mixed = interleave(row, topic, after)
    assert sorted(mixed) == sorted(row)
    assert clashes(after + mixed) == min(clashes(after + list(other)) for other in permutations(row))


@given(st.text("abcd", max_size=60))
def test_within_a_topic_nobody_overtakes(topics: str) -> None:
    mixed = interleave(items(topics), topic)
    for name in set(topics):
        places = [place for other, place in mixed if other == name]
        assert places == sorted(places)
