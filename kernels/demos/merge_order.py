"""Blocks of keys in any order, width and tree: is it the same answer, and are they the same bits?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from typing import TYPE_CHECKING, Any

from kernels.demos import Demo, Param
from kernels.demos.common import FP32_ROUNDING, Steps, normal, off, power, verdict
from kernels.wire import Event, Result, Row

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.online_softmax import State

HEAD_DIM = 64
WIDTH = 32
CHOICES = (
    "the same bits",
    "equal up to rounding",
    "close: off by about a per cent",
    "wrong, unless from left to right",
)

DEMO = Demo(
    name="merge-order",
    claim="Summaries of blocks may be merged in any order, width or tree: only rounding differs.",
    question="The keys are cut into blocks. Their summaries (m, l, o) are merged from left to right, from "
    "right to left, shuffled, or as a tree, and in blocks of other widths. How do the outputs compare, in "
    "fp32?",
    unit="",
    form="choice",
    choices=CHOICES,
    needs=("torch",),
    devices=("cuda", "cpu"),
    params=(Param("n", 512, (128, 256, 512), "queries and keys"),),
    seconds=2.0,
    plan="Merge the same blocks in eight ways, and compare each with float64 and with the first.",
    explain="""\
A block's summary is m = max s, l = Σ exp(s - m), o = Σ exp(s - m) v. Merging two summaries moves both to the
larger m and adds. Whatever the order, the result over a set of keys A is

    (max over A of s,  Σ over A of exp(s - m),  Σ over A of exp(s - m) v)

which depends on the set alone. So merging is associative and commutative, and (-inf, 0, 0) changes nothing.
One law, four uses: blocks inside a kernel, parts of a cache in split-KV decoding, shards of a sequence on the
GPUs of a ring, and a prefix that many requests share.

Floating-point addition is not associative. Another order rounds differently in the last bits: reordering, not
approximation. The difference is about √N · 2⁻²⁴ at most, and in float64 it is 2²⁹ times smaller again.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Each order against float64 and against the first."""
    import torch

    from kernels.online_softmax import EMPTY_ROW, State, block, finish, merge

    n = params["n"]
    q, k, v = (normal(n, HEAD_DIM, device=device, dtype="float32", seed=seed) for seed in range(3))
    s = q @ k.T / math.sqrt(HEAD_DIM)
    exact = torch.softmax(s.double(), -1) @ v.double()

    def blocks(width: int) -> list[State[Tensor]]:
        return [block(*pair) for pair in zip(s.split(width, 1), v.split(width), strict=True)]

    parts = blocks(WIDTH)
    shuffled = torch.randperm(len(parts), generator=torch.Generator().manual_seed(3)).tolist()
    ways: dict[str, Sequence[State[Tensor]]] = {
        "left to right": parts,
        "right to left": parts[::-1],
        "shuffled": [parts[place] for place in shuffled],
        "as a tree": parts,
        **{f"blocks of {width}": blocks(width) for width in (16, 128, n)},
    }
    steps = Steps(len(ways) + 1)
    # Merging rounds a handful of times on each of log₂ to N / 16 levels; a sum over N terms is off by √N
    # roundings.
    limit = math.sqrt(n) * FP32_ROUNDING
    wrong: list[str] = []
    first: Tensor | None = None
    alike, largest = 0, 0.0
    for name, states in ways.items():
        yield steps.begin(name)
        merged = _tree(states) if name == "as a tree" else reduce(merge, states)
        o, _ = finish(merged)
        first = o if first is None else first
        alike += bool((o == first).all()) and o is not first
        largest = max(largest, off(o, first))
        error = off(o, exact)
        yield Row(
            name, None, error, "", "the first" if o is first else f"{power(off(o, first))} from the first"
        )
        if not error <= limit:
            wrong.append(f"{name} is off by {power(error)}, more than {power(limit)}")

    yield steps.begin("the empty summary")
    empty = State(
        *(torch.full_like(x, e) for x, e in zip(_fields(parts[0]), _fields(EMPTY_ROW), strict=True))
    )
    kept = all(
        bool((a == b).all())
        for state in (merge(empty, parts[0]), merge(parts[0], empty))
        for a, b in zip(_fields(state), _fields(parts[0]), strict=True)
    )
    yield Row("(-inf, 0, 0) changes", 0, 0 if kept else 1, "", "bit for bit")
    wrong += [] if kept else ["(-inf, 0, 0) is not neutral"]
    identical = alike == len(ways) - 1
    yield Result(
        quantity="largest difference between two orders",
        formula=None,
        measured=largest,
        unit="",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"no order is further than {power(limit)} from float64, and two differ by {power(largest)} at "
        f"most; {alike} of the {len(ways) - 1} others have the first one's bits",
        derivation=f"Rounding allows √{n}·2⁻²⁴ = {power(limit)}, relative to the outputs.",
        limits="Plain torch in place of a kernel. How many orders give the same bits is luck.",
        answer=_answer(identical=identical, largest=largest, limit=limit),
    )


def _tree(states: Sequence[State[Tensor]]) -> State[Tensor]:
    """Neighbours in pairs, then pairs of pairs."""
    from kernels.online_softmax import merge

    if len(states) == 1:
        return states[0]
    half = len(states) // 2
    return merge(_tree(states[:half]), _tree(states[half:]))


def _fields(state: State[Any]) -> tuple[Any, Any, Any]:
    return state.m, state.l, state.o


def _answer(*, identical: bool, largest: float, limit: float) -> str:
    if identical:
        return CHOICES[0]
    return CHOICES[1] if largest <= 2 * limit else CHOICES[2] if largest < 0.1 else CHOICES[3]
