"""The identity: its algebra over one row of floats, and the same lines over tensors."""

import math
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kernels.online_softmax import EMPTY_ROW, State, block, finish, fold, merge

SCORES = (1.0, 3.0, 2.0, 5.0)
VALUES = (10.0, 20.0, 30.0, 40.0)

keys = st.tuples(st.floats(-50, 50), st.floats(-100, 100))
blocks = st.lists(keys, min_size=1, max_size=6)
hidden_key = st.tuples(st.just(-math.inf), st.floats(-100, 100))


def summary(pairs: list[tuple[float, float]]) -> State[float]:
    return block([s for s, _ in pairs], [v for _, v in pairs])


def direct(pairs: list[tuple[float, float]]) -> float:
    """Softmax over everything at once, in the obvious way."""
    top = max(s for s, _ in pairs)
    weights = [math.exp(s - top) for s, _ in pairs]
    return sum(p * v for p, (_, v) in zip(weights, pairs, strict=True)) / sum(weights)


def near(a: State[float], b: State[float]) -> bool:
    """Equal up to rounding: o may cancel, so its error is measured against what was added up."""
    return (
        a.m == b.m
        and math.isclose(a.l, b.l, rel_tol=1e-12)
        and math.isclose(a.o, b.o, rel_tol=1e-12, abs_tol=1e-10 * a.l)
    )


def test_worked_example() -> None:
    first, second = block(SCORES[:2], VALUES[:2]), block(SCORES[2:], VALUES[2:])
    assert (first.m, second.m) == (3, 5)
    assert (first.l, first.o) == pytest.approx((1.135335, 21.353353), abs=1e-6)
    assert (second.l, second.o) == pytest.approx((1.049787, 41.493612), abs=1e-6)
    both = merge(first, second)
    assert (both.l, both.o) == pytest.approx((1.203438, 44.383474), abs=1e-6)
    output, lse = finish(both)
    assert output == pytest.approx(36.880566, abs=1e-6)
    assert lse == pytest.approx(math.log(sum(map(math.exp, SCORES))))


def test_whole_numbers_are_taken_as_they_are() -> None:
    assert finish(block([1, 3, 2, 5], [10, 20, 30, 40]))[0] == pytest.approx(36.880566, abs=1e-6)


@given(blocks)
def test_the_empty_state_is_the_identity(pairs: list[tuple[float, float]]) -> None:
    state = summary(pairs)
    assert merge(EMPTY_ROW, state) == state
    assert merge(state, EMPTY_ROW) == state


@given(blocks, blocks)
def test_merging_commutes(a: list[tuple[float, float]], b: list[tuple[float, float]]) -> None:
    assert merge(summary(a), summary(b)) == merge(summary(b), summary(a))


@given(blocks, blocks, blocks)
def test_merging_is_associative_up_to_rounding(
    a: list[tuple[float, float]], b: list[tuple[float, float]], c: list[tuple[float, float]]
) -> None:
    x, y, z = summary(a), summary(b), summary(c)
    assert near(merge(merge(x, y), z), merge(x, merge(y, z)))


@given(st.lists(blocks, min_size=1, max_size=6))
def test_any_split_gives_softmax(split: list[list[tuple[float, float]]]) -> None:
    state = EMPTY_ROW
    for pairs in split:
        state = fold(state, [s for s, _ in pairs], [v for _, v in pairs])
    output, _ = finish(state)
    assert math.isclose(
        output, direct([pair for pairs in split for pair in pairs]), rel_tol=1e-9, abs_tol=1e-9
    )


@given(blocks, st.lists(hidden_key, min_size=1, max_size=3))
def test_hidden_keys_change_nothing(
    pairs: list[tuple[float, float]], hidden: list[tuple[float, float]]
) -> None:
    assert merge(summary(hidden), summary(pairs)) == summary(pairs)
    assert near(summary(pairs + hidden), summary(pairs))


@given(blocks, st.floats(-500, 500))
def test_a_shift_of_every_score_cancels(pairs: list[tuple[float, float]], shift: float) -> None:
    output, lse = finish(summary(pairs))
    shifted_output, shifted_lse = finish(summary([(s + shift, v) for s, v in pairs]))
    assert math.isclose(shifted_output, output, rel_tol=1e-9, abs_tol=1e-9)
    assert math.isclose(shifted_lse, lse + shift, rel_tol=1e-9, abs_tol=1e-9)


def test_a_row_without_a_key_is_zero_with_logsumexp_minus_infinity() -> None:
    assert finish(EMPTY_ROW) == (0.0, -math.inf)
    assert finish(block([-math.inf, -math.inf], [1.0, 2.0])) == (0.0, -math.inf)


def test_scores_beyond_the_range_of_exp_are_no_problem() -> None:
    assert finish(block([1e4, 1e4 + math.log(3)], [0.0, 4.0]))[0] == pytest.approx(3.0)


def test_tensors_follow_the_same_lines() -> None:
    torch = pytest.importorskip("torch")
    generator = torch.Generator().manual_seed(0)
    scores = torch.randn(2, 5, 12, generator=generator, dtype=torch.float64)
    values = torch.randn(2, 12, 3, generator=generator, dtype=torch.float64)
    scores[0, 2] = -math.inf  # one query without a key
    scores[1, 3, :6] = -math.inf  # and one that sees nothing in the first blocks

    widths = (1, 4, 2, 5)
    parts = [block(s, v) for s, v in zip(scores.split(widths, -1), values.split(widths, -2), strict=True)]
    output, lse = finish(reduce(merge, parts))

    expected = torch.softmax(scores, -1) @ values
    expected[0, 2] = 0
    torch.testing.assert_close(output, expected, rtol=1e-12, atol=1e-12)
    torch.testing.assert_close(lse[..., 0], scores.logsumexp(-1), rtol=1e-12, atol=1e-12)

    row = finish(block(scores[0, 0].tolist(), values[0, :, 1].tolist()))
    assert row == pytest.approx((output[0, 0, 1].item(), lse[0, 0, 0].item()), rel=1e-12)
