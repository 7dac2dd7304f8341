"""The identity behind FlashAttention, with nothing around it.

One row of attention is a ratio of two sums over the keys j,

    output = sum_j exp(s_j) v_j / sum_j exp(s_j)

and both sums may be taken relative to any reference m, since the factor exp(-m) cancels. So any set of
keys can be summarised, whatever its size, by three things:

    m = max_j s_j        l = sum_j exp(s_j - m)        o = sum_j exp(s_j - m) v_j

Two summaries of disjoint sets become one: move both to the larger reference and add. Nothing else is
needed from the scores, which is why they never have to be stored. Merging is associative and commutative,
with `(-inf, 0, 0)` as its identity, so blocks may come in any width, any order and any tree. FlashAttention,
split-KV decoding and ring attention are this one fact used on chip, over blocks of the cache, and over GPUs.

Over the real numbers nothing is approximated. In floating point another order rounds differently.

A state holds floats (one query, one column of V) or tensors (many queries): `merge` is the same lines for
both. Torch is not imported here; tensors bring their own methods.

Milakov & Gimelshein 2018 (arXiv 1805.02867) for m and l; Rabe & Staats 2021 (2112.05682) for o.
"""

# ruff: noqa: E741 - l is what the papers call it

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

if TYPE_CHECKING:
    from torch import Tensor

T = TypeVar("T", float, "Tensor")


@dataclass(frozen=True, slots=True)
class State(Generic[T]):
    """What has been learnt from some of the keys.

    Floats, or tensors with m and l of shape (…, N, 1) and o of shape (…, N, d).
    """

    m: T  # the largest score so far
    l: T  # the sum of exp(s - m)
    o: T  # the same sum with each term times its row of V; not divided yet


EMPTY_ROW: State[float] = State(-math.inf, 0.0, 0.0)
"""No keys seen: the identity of `merge` for one row."""


@overload
def block(scores: Sequence[float], values: Sequence[float]) -> State[float]: ...
@overload
def block(scores: Tensor, values: Tensor) -> State[Tensor]: ...
def block(scores: Sequence[float] | Tensor, values: Sequence[float] | Tensor) -> State[float] | State[Tensor]:
    """Summarise one block of keys on its own reference.

    scores: the block's scores, (n,) numbers or a (…, N, n) tensor; -inf hides a key from a query.
    values: the matching entries of V, (n,) numbers or a (…, n, d) tensor. A block has at least one key.
    """
    if isinstance(scores, Sequence):
        m = max(scores)
        weights = [_factor(s, m) for s in scores]
        return State(m, math.fsum(weights), math.fsum(p * v for p, v in zip(weights, values, strict=True)))
    assert not isinstance(values, Sequence)
    m = scores.amax(-1, keepdim=True)
    p = _factor(scores, m)
    return State(m, p.sum(-1, keepdim=True), p @ values)


def merge(a: State[T], b: State[T]) -> State[T]:
    """The summary of the keys of `a` and of `b` together."""
    m = _larger(a.m, b.m)
    alpha, beta = _factor(a.m, m), _factor(b.m, m)  # at most 1: moving to a larger reference only shrinks
    return State(m, alpha * a.l + beta * b.l, alpha * a.o + beta * b.o)


@overload
def fold(state: State[float], scores: Sequence[float], values: Sequence[float]) -> State[float]: ...
@overload
def fold(state: State[Tensor], scores: Tensor, values: Tensor) -> State[Tensor]: ...
def fold(state: Any, scores: Any, values: Any) -> Any:
    """Take in the next block: the step of FlashAttention's inner loop. Shapes as in `block`."""
    return merge(state, block(scores, values))


def finish(state: State[T]) -> tuple[T, T]:
    """The row's output o / l, and its logsumexp m + log l. A query that saw no key gets 0 and -inf."""
    if isinstance(state.l, (float, int)):
        seen = state.l or 1.0
        return state.o / seen, state.m + math.log(seen)
    seen = state.l.masked_fill(state.l == 0, 1)
    return state.o / seen, state.m + seen.log()


def _larger(a: Any, b: Any) -> Any:
    return max(a, b) if isinstance(a, (float, int)) else a.maximum(b)


def _factor(old: Any, new: Any) -> Any:
    """exp(old - new), and 0 where `old` is -inf: there (-inf) - (-inf) would give NaN."""
    if isinstance(old, (float, int)):
        return 0.0 if old == -math.inf else math.exp(old - new)
    return (old - new).exp().masked_fill(old == -math.inf, 0)
