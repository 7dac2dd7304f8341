from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.deck.model import Slip
from fatutor.schedule import rules
from fatutor.schedule.facts import Facts
from fatutor.schedule.queue import GRADING_SECONDS, Counts, Limits, Queue, today_queue
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState, Memory
from fatutor.schedule.tally import Tally, tally

TODAY = date(2026, 11, 29)
USUAL = Limits()
Make = Callable[..., Slip]


def ago(days: int) -> date:
    return TODAY - timedelta(days=days)


def seen(late: int = 0, interval: int = 6, **more: date | bool | None) -> CardState:
    """Last reviewed `interval` days before it fell due, `late` days ago."""
    state = CardState(Memory(2, interval), ago(late), ago(90), ago(late + interval))
    return state._replace(**more)


AGAIN = CardState(Memory(0, 1), ago(-1), ago(90), TODAY, relearn_on=TODAY)
DONE = CardState(Memory(1, 1), ago(-1), TODAY, TODAY)  # introduced and settled today


def ids(cards: tuple[Slip, ...]) -> list[str]:
    return [card.id for card in cards]


def queue_of(
    cards: list[Slip], states: Mapping[str, CardState], limits: Limits = USUAL, *committed: str
) -> Queue:
    return today_queue(cards, Facts(states, frozenset(committed)), TODAY, limits)


def test_nothing_gives_an_empty_queue() -> None:
    queue = queue_of([], {})
    assert (queue.cards, queue.counts.total, queue.held.total, queue.minutes) == ((), 0, 0, 0)


def test_relearning_comes_first_then_due_then_new(make_card: Make) -> None:
    cards = [make_card(name) for name in ("new", "due", "again", "later")]
    queue = queue_of(cards, {"due": seen(), "again": AGAIN, "later": seen(late=-1)})
    assert ids(queue.cards) == ["again", "due", "new"]
    assert queue.counts == Counts(relearning=1, due=1, new=1)


def test_due_cards_go_by_how_late_they_are_for_their_interval(make_card: Make) -> None:
    cards = [make_card(name, topic=name) for name in ("month", "fresh", "week", "daily")]
    states = {
        "month": seen(late=5, interval=30),
        "fresh": seen(late=0, interval=1),
        "week": seen(late=5, interval=6),
        "daily": seen(late=2, interval=1),
    }
    assert ids(queue_of(cards, states).due) == ["daily", "week", "month", "fresh"]


def test_ties_are_broken_by_id_and_not_by_the_order_given(make_card: Make) -> None:
    cards = [make_card(name, topic=name) for name in "badc"]
    states = {name: seen(late=1) for name in "abcd"}
    assert ids(queue_of(cards, states).due) == ids(queue_of(cards[::-1], states).due) == list("abcd")


def test_suspended_and_buried_cards_stay_out_whatever_they_are(make_card: Make) -> None:
    cards = [make_card(name) for name in ("new", "due", "again", "buried", "back")]
    states = {
        "new": CardState(suspended=True),
        "due": seen(suspended=True),
        "again": AGAIN._replace(suspended=True),
        "buried": seen(buried_until=ago(-1)),
        "back": seen(buried_until=TODAY),
    }
    assert ids(queue_of(cards, states).cards) == ["back"]


def test_a_flag_changes_nothing(make_card: Make) -> None:
    assert ids(queue_of([make_card("a")], {"a": CardState(flagged=True)}).new) == ["a"]


def test_cards_of_a_beat_wait_for_its_gate(make_card: Make) -> None:
    cards = [make_card("gate", gate="gate"), make_card("inside", gate="gate"), make_card("plain")]
    assert ids(queue_of(cards, {}).cards) == ["plain"]
    assert set(ids(queue_of(cards, {}, Limits(), "gate").cards)) == {"gate", "inside", "plain"}


class TestNewCards:
    def test_a_daily_limit(self, make_card: Make) -> None:
        cards = [make_card(f"c{n}") for n in range(20)]
        assert ids(queue_of(cards, {}).new) == [f"c{n}" for n in range(8)]
        assert queue_of(cards, {}, Limits(new_per_day=0)).new == ()

    def test_those_introduced_today_anywhere_count(self, make_card: Make) -> None:
        """Also where only some decks are drilled, and where a deck is gone."""
        cards = [make_card(f"c{n}") for n in range(9)]
        states = {f"elsewhere-{n}": DONE for n in range(5)}
        assert len(queue_of(cards, states).new) == 3
        assert queue_of(cards, states | {f"gone-{n}": DONE for n in range(5)}).new == ()

    def test_decks_take_turns(self, make_card: Make) -> None:
        cards = [make_card(f"{deck}{n}", deck=deck) for deck in "abc" for n in range(5)]
        assert ids(queue_of(cards, {}).new) == ["a0", "b0", "c0", "a1", "b1", "c1", "a2", "b2"]

    def test_answering_one_does_not_move_the_others(self, make_card: Make) -> None:
        cards = [make_card(f"{deck}{n}", deck=deck) for deck in "abc" for n in range(5)]
        assert ids(queue_of(cards, {"a0": DONE}).new) == ["b0", "c0", "a1", "b1", "c1", "a2", "b2"]

    def test_decks_that_had_no_turn_today_are_first_tomorrow(self, make_card: Make) -> None:
        """Eight decks and eight cards a day used to leave every deck after them without one."""
        cards = [make_card(f"{deck}{n}", deck=deck) for deck in "abcdefghij" for n in range(20)]
        seen_before = {f"{deck}0": seen(late=-3) for deck in "abcdefgh"}
        assert ids(queue_of(cards, seen_before).new) == ["i0", "j0", "a1", "b1", "c1", "d1", "e1", "f1"]

    def test_a_deck_that_was_just_added_comes_first(self, make_card: Make) -> None:
        cards = [make_card(f"{deck}{n}", deck=deck) for deck in ("a", "b", "own") for n in range(5)]
        known = {name: seen(late=-3) for name in ("a0", "a1", "b0")}
        assert ids(queue_of(cards, known, Limits(new_per_day=6)).new) == [
            "own0", "b1", "own1", "a2", "b2", "own2"
        ]  # fmt: skip

    def test_a_suspended_card_has_had_its_turn(self, make_card: Make) -> None:
        cards = [make_card(f"{deck}{n}", deck=deck) for deck in "ab" for n in range(2)]
        known = {"a0": seen(suspended=True), "b0": CardState(suspended=True)}
        assert ids(queue_of(cards, known).new) == ["b1", "a1"]

    def test_siblings_that_wait_take_no_turn(self, make_card: Make) -> None:
        cards = [make_card(f"a#c{n}", base="a", deck="a") for n in range(3)] + [make_card("a-last", deck="a")]
        cards += [make_card(f"b{n}", deck="b") for n in range(4)]
        assert ids(queue_of(cards, {}, Limits(new_per_day=4)).new) == ["a#c0", "b0", "a-last", "b1"]

    @pytest.mark.parametrize(
        ("days", "new"),
        [(1, 40), (2, 20), (3, 14), (5, 8), (100, 8), (0, 8), (-3, 8)],
    )
    def test_pacing_to_the_interview(self, make_card: Make, days: int, new: int) -> None:
        cards = [make_card(f"c{n}") for n in range(40)]
        assert len(queue_of(cards, {}, Limits(interview_on=ago(-days))).new) == new

    def test_pacing_gives_one_day_one_quota(self, make_card: Make) -> None:
        cards = [make_card(f"c{n}") for n in range(40)]
        limits = Limits(interview_on=ago(-2))
        states = {f"c{n}": DONE for n in range(12)}
        assert len(queue_of(cards, states, limits).new) == 20 - 12

    def test_pacing_looks_at_what_can_be_drilled(self, make_card: Make) -> None:
        cards = [make_card(f"c{n}", gate="shut") for n in range(40)] + [make_card("open")]
        assert ids(queue_of(cards, {}, Limits(new_per_day=0, interview_on=ago(-1))).new) == ["open"]


class TestSiblings:
    def test_one_of_a_base_a_day(self, make_card: Make) -> None:
        cards = [make_card(f"x#c{n}", base="x") for n in (1, 2, 3)]
        assert ids(queue_of(cards, {}).new) == ["x#c1"]

    def test_the_most_urgent_is_asked(self, make_card: Make) -> None:
        cards = [make_card(f"x#c{n}", base="x") for n in (1, 2, 3)]
        queue = queue_of(cards, {"x#c2": seen(late=1), "x#c3": seen(late=5)})
        assert ids(queue.cards) == ["x#c3"]

    def test_none_after_one_had_its_turn_today(self, make_card: Make) -> None:
        cards = [make_card("x#c1", base="x"), make_card("x#c2", base="x"), make_card("x#c3", base="x")]
        assert queue_of(cards, {"x#c1": DONE, "x#c2": seen(late=5)}).cards == ()

    def test_none_while_one_is_being_relearned(self, make_card: Make) -> None:
        cards = [make_card("x#c1", base="x"), make_card("x#c2", base="x")]
        assert ids(queue_of(cards, {"x#c1": AGAIN, "x#c2": seen()}).cards) == ["x#c1"]

    def test_relearning_is_not_parted(self, make_card: Make) -> None:
        cards = [make_card("x#c1", base="x"), make_card("x#c2", base="x")]
        assert queue_of(cards, {"x#c1": AGAIN, "x#c2": AGAIN}).counts.relearning == 2

    def test_a_suspended_sibling_takes_no_turn(self, make_card: Make) -> None:
        cards = [make_card("x#c1", base="x"), make_card("x#c2", base="x")]
        assert ids(queue_of(cards, {"x#c1": seen(suspended=True), "x#c2": seen()}).due) == ["x#c2"]


class TestTopics:
    def test_neighbours_differ(self, make_card: Make) -> None:
        cards = [make_card(f"{tag}{n}", topic=tag) for tag in ("io", "math") for n in range(3)]
        states = {card.id: seen(late=1) for card in cards}
        assert ids(queue_of(cards, states).cards) == ["io0", "math0", "io1", "math1", "io2", "math2"]

    def test_across_groups_too(self, make_card: Make) -> None:
        cards = [make_card(f"{tag}{n}", topic=tag) for tag in ("io", "math") for n in range(2)]
        queue = queue_of(cards, {"io0": seen()})
        assert ids(queue.cards) == ["io0", "math0", "io1", "math1"]

    def test_across_an_empty_group_too(self, make_card: Make) -> None:
        cards = [make_card(name, topic=name[:2]) for name in ("io0", "io1", "math")]
        assert ids(queue_of(cards, {"io0": AGAIN}).cards) == ["io0", "math", "io1"]

    def test_decks_can_be_topics(self, make_card: Make) -> None:
        cards = [make_card(f"{deck}{n}", deck=deck) for deck in "ab" for n in range(2)]
        states = {card.id: seen(late=1) for card in cards}
        assert ids(queue_of(cards, states).cards) == ["a0", "b0", "a1", "b1"]


class TestMinutes:
    def test_the_estimate_is_rounded_up(self, make_card: Make) -> None:
        queue = queue_of([make_card("a", target_seconds=60), make_card("b", target_seconds=30)], {})
        assert GRADING_SECONDS == 20
        assert queue.minutes == 3  # 130 seconds

    def test_what_does_not_fit_is_held(self, make_card: Make) -> None:
        cards = [make_card(f"{name}{n}") for name in ("again", "due", "new") for n in range(3)]
        states = {f"again{n}": AGAIN for n in range(3)} | {f"due{n}": seen() for n in range(3)}
        queue = queue_of(cards, states, Limits(minutes=6))  # 4.5 cards of 80 seconds
        assert queue.counts == Counts(relearning=3, due=1, new=0)
        assert queue.held == Counts(relearning=0, due=2, new=3)
        assert queue.minutes == 6

    def test_the_most_urgent_are_kept(self, make_card: Make) -> None:
        cards = [make_card(name) for name in "abc"]
        states = {"a": seen(late=1), "b": seen(late=9), "c": seen(late=5)}
        assert set(ids(queue_of(cards, states, Limits(minutes=3)).due)) == {"b", "c"}

    def test_new_cards_beyond_the_daily_limit_are_not_held(self, make_card: Make) -> None:
        cards = [make_card(f"c{n}") for n in range(20)]
        assert queue_of(cards, {}, Limits(minutes=60)).held.total == 0

    def test_one_card_longer_than_the_sitting_is_asked_all_the_same(self, make_card: Make) -> None:
        queue = queue_of([make_card("long", target_seconds=600), make_card("b")], {}, Limits(minutes=1))
        assert ids(queue.cards) == ["long"]
        assert queue.held == Counts(new=1)


class TestTally:
    def test_decks_add_up_to_the_queue(self, make_card: Make) -> None:
        cards = [make_card(f"{deck}{n}", deck=deck) for deck in ("b", "a") for n in range(9)]
        states = {
            "a0": seen(),
            "a1": AGAIN,
            "b0": seen(late=3),
            "b1": seen(late=-3),
            "a2": seen(suspended=True),
        }
        facts = Facts(states)
        queue = today_queue(cards, facts, TODAY)
        table = tally(queue, cards, facts)
        assert list(table) == ["b", "a"]
        assert table["b"] == Tally(relearning=0, due=1, new=5, known=2, total=9)
        assert table["a"] == Tally(relearning=1, due=1, new=3, known=2, total=9)
        assert (
            Counts(
                sum(row.relearning for row in table.values()),
                sum(row.due for row in table.values()),
                sum(row.new for row in table.values()),
            )
            == queue.counts
        )

    def test_a_deck_with_nothing_to_do_is_still_listed(self, make_card: Make) -> None:
        card = make_card("a", gate="shut")
        assert tally(queue_of([card], {}), [card], Facts()) == {"deck": Tally(total=1)}


def test_three_new_one_graded_undo_is_three_again(make_card: Make) -> None:
    cards = [make_card(name) for name in "abc"]
    before = queue_of(cards, {})
    graded = {"a": rules.grade(CardState(), 2, TODAY, Scheduler(), "")}
    assert queue_of(cards, graded).counts == Counts(relearning=1, due=0, new=2)
    assert queue_of(cards, {"a": CardState()}) == before  # the state from before, which undo restores
    assert before.counts == Counts(relearning=0, due=0, new=3)


states = st.one_of(
    st.none(),
    st.builds(seen, st.integers(-3, 30), st.integers(1, 60), suspended=st.booleans()),
    st.builds(seen, st.integers(0, 9), buried_until=st.sampled_from([ago(1), TODAY, ago(-1)])),
    st.sampled_from([AGAIN, DONE, CardState(), CardState(flagged=True)]),
)
library = st.lists(
    st.tuples(st.sampled_from("ab"), st.integers(0, 9), st.sampled_from("tuv"), states), max_size=24
)
limits = st.builds(
    Limits,
    st.integers(0, 9),
    st.one_of(st.none(), st.integers(1, 20)),
    st.one_of(st.none(), st.builds(ago, st.integers(-9, 2))),
)


def shelf(
    make: Make, given_cards: list[tuple[str, int, str, CardState | None]]
) -> tuple[list[Slip], dict[str, CardState]]:
    cards = [
        make(f"c{n}", base=f"{deck}-{base}", deck=deck, topic=tag)
        for n, (deck, base, tag, _) in enumerate(given_cards)
    ]
    return cards, {f"c{n}": state for n, (*_, state) in enumerate(given_cards) if state is not None}


@given(library, limits)
def test_laws_of_the_queue(make_card: Make, given_cards: list, wanted: Limits) -> None:
    cards, known = shelf(make_card, given_cards)
    queue = queue_of(cards, known, wanted)
    everything = queue_of(cards, known, replace(wanted, minutes=None))

    assert len(set(ids(queue.cards))) == len(queue.cards)
    for card in queue.cards:
        state = known.get(card.id, CardState())
        assert not state.suspended
        assert state.buried_until is None or state.buried_until <= TODAY
    assert all(known[card.id].relearn_on == TODAY for card in queue.relearning)
    assert all(known.get(card.id, CardState()).is_new for card in queue.new)

    asked = {card.base for card in cards if known.get(card.id, CardState()).last_review == TODAY}
    bases = [card.base for card in (*queue.due, *queue.new)]
    assert len(set(bases)) == len(bases)
    assert not asked & set(bases)

    counts, held, whole = queue.counts, queue.held, everything.counts
    assert counts.relearning + held.relearning == whole.relearning
    assert counts.due + held.due == whole.due
    assert counts.new + held.new == whole.new
    assert min(held.relearning, held.due, held.new) >= 0
    if wanted.minutes is not None and len(queue.cards) > 1:
        assert queue.minutes <= wanted.minutes
    assert bool(queue.cards) == bool(everything.cards)

    rows = tally(queue, cards, Facts(known)).values()
    assert sum(row.relearning + row.due + row.new for row in rows) == counts.total


@given(library, limits, st.lists(st.integers(2, 5), max_size=12))
def test_the_rest_of_the_day_stays_as_announced(
    make_card: Make, given_cards: list, wanted: Limits, qualities: list[int]
) -> None:
    """Answer the first card, again and again: what is left is what was announced, without that card."""
    cards, known = shelf(make_card, given_cards)
    wanted = replace(wanted, minutes=None)
    queue = queue_of(cards, known, wanted)
    for quality in qualities:
        if not queue.cards:
            break
        card = queue.cards[0]
        state = known.get(card.id, CardState())
        known[card.id] = rules.answer(state, rules.kind_of(state, TODAY), quality, TODAY, Scheduler(), "")
        after = queue_of(cards, known, wanted)
        announced = set(ids(queue.cards)) - (set() if quality < 4 else {card.id})
        assert set(ids(after.cards)) == announced
        queue = after


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=12),
    st.integers(1, 9),
    st.integers(1, 12),
    st.booleans(),
)
def test_no_deck_with_new_cards_falls_behind(
    make_card: Make, sizes: list[int], new_per_day: int, days: int, again: bool
) -> None:
    """Day by day, card by card: a deck that has new cards is at most one card behind any other."""
    cards = [make_card(f"{deck}-{n}", deck=f"{deck}") for deck, size in enumerate(sizes) for n in range(size)]
    known: dict[str, CardState] = {}
    introduced = [0] * len(sizes)
    for day in range(days):
        today = TODAY + timedelta(days=day)
        queue = today_queue(cards, Facts(known), today, Limits(new_per_day))
        assert len(queue.new) == min(new_per_day, len(cards) - len(known))
        for card in queue.new:
            known[card.id] = rules.grade(CardState(), 2 if again else 4, today, Scheduler(), "")
            introduced[int(card.deck)] += 1
            unfinished = [n for n, size in zip(introduced, sizes, strict=True) if n < size]
            assert min(unfinished, default=max(introduced)) >= max(introduced) - 1
