from __future__ import annotations

import json
from datetime import date

from hypothesis import given
from hypothesis import strategies as st

from fatutor.schedule.state import CardState, Memory
from fatutor.store.rows import STATE_COLUMNS, columns_of, from_json, state_of, to_json

days = st.one_of(st.none(), st.dates())
counts = st.integers(0, 10**6)
states = st.builds(
    CardState,
    st.builds(Memory, counts, counts, st.integers(130, 1000), counts),
    due=days,
    introduced=days,
    last_review=days,
    relearn_on=days,
    suspended=st.booleans(),
    buried_until=days,
    flagged=st.booleans(),
    digest=st.text(),
)


@given(states)
def test_a_state_comes_back_from_its_json(state: CardState) -> None:
    assert from_json(json.loads(json.dumps(to_json(state)))) == state


@given(states)
def test_a_state_comes_back_from_its_columns(state: CardState) -> None:
    columns = columns_of(state)
    assert tuple(columns) == STATE_COLUMNS
    assert state_of(*columns.values()) == state


def test_json_holds_what_differs_from_a_card_never_seen() -> None:
    assert to_json(CardState()) == {}
    assert to_json(CardState(Memory(1, 1), due=date(2026, 11, 30), digest="d")) == {
        "repetition": 1,
        "interval": 1,
        "due": "2026-11-30",
        "digest": "d",
    }
