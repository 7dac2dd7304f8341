"""Four ways to write the inner step of online softmax, one of which is right."""

# ruff: noqa: E741 - l is what the papers call it

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kernels.demos import Demo, Param
from kernels.demos.common import FP32_ROUNDING, Steps, normal, power, verdict
from kernels.wire import Event, Result, Row

if TYPE_CHECKING:
    from torch import Tensor

HEAD_DIM = 64
BLOCK = 64
CHOICES = (
    "A: a = exp(m_new - m), l = a·l + Σp, o = a·o + p·V",
    "B: a = exp(m - m_new), l = a·l + Σp, o = o + a·(p·V)",
    "C: a = exp(m - m_new), l = a·l + Σp, o = a·o + p·V",
    "D: a = exp(m - m_new), l = l + a·Σp, o = o + a·(p·V)",
)
RIGHT = CHOICES[2]

DEMO = Demo(
    name="bug-hunt",
    claim="When the maximum grows, the old sum and the old output both shrink by exp(m_old - m_new).",
    question="A block of keys has scores s and values V. All four updates begin with m_new = max(m, max s) "
    "and p = exp(s - m_new), and at the end the output is o / l. Which one computes attention?",
    unit="",
    form="choice",
    choices=CHOICES,
    needs=("torch",),
    devices=("cuda", "cpu"),
    params=(Param("n", 512, (128, 256, 512), "queries and keys"),),
    seconds=2.5,
    plan="Run each update over the same blocks in fp32, and compare with float64.",
    explain="""\
Before the block, l = Σ exp(s_j - m) and o = Σ exp(s_j - m) v_j over the keys seen. To express the same sums
on the reference m_new, multiply each term by

    exp(s_j - m_new) / exp(s_j - m) = exp(m - m_new)

The factor does not depend on j, so it leaves the sum: it multiplies what is *old*, and l and o *alike*. The
block's own p is on the new reference already. The maximum never falls, so the factor is at most 1: one that
can be larger is the sign of a bug.

By hand, with scores 1, 3 | 2, 5 and values 10, 20 | 30, 40: after the first block m = 3, l = 1.1353 and
o = 21.353. The second has m_new = 5, so a = e⁻² = 0.1353, Σp = 1.0498, p·V = 41.494:
l = 1.2034, o = 44.383, and o / l = 36.88. Leaving o alone gives 52.22, outside the values altogether; A gives
21.11, which looks like attention. Nothing crashes.
""",
)


@dataclass(frozen=True, slots=True)
class Update:
    """New l and o from old l and o, the block's Σp and p·V, and exp(m - m_new)."""

    name: str
    step: Callable[[Any, Any, Any, Any, Any], tuple[Any, Any]]


def _inverted(a: Any) -> Any:
    """exp(m_new - m), but 0 before the first block, where it would be infinite."""
    return a.reciprocal().masked_fill(a == 0, 0)


UPDATES = (
    Update(CHOICES[0], lambda l, o, p, pv, a: (_inverted(a) * l + p, _inverted(a) * o + pv)),
    Update(CHOICES[1], lambda l, o, p, pv, a: (a * l + p, o + a * pv)),
    Update(CHOICES[2], lambda l, o, p, pv, a: (a * l + p, a * o + pv)),
    Update(CHOICES[3], lambda l, o, p, pv, a: (l + a * p, o + a * pv)),
    Update("o left alone", lambda l, o, p, pv, a: (a * l + p, o + pv)),
    Update("l left alone", lambda l, o, p, pv, a: (l + p, a * o + pv)),
    Update("o times 1 / a", lambda l, o, p, pv, a: (a * l + p, _inverted(a) * o + pv)),
)
BY_HAND = (1.135335, 21.353353, 1.049787, 41.493612, math.exp(-2))
"""l, o, Σp, p·V and a of the example in `explain`."""


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Each update over all blocks, and one that averages the blocks' outputs."""
    import torch

    n = params["n"]
    steps = Steps(len(UPDATES) + 1)
    q, k, v = (normal(n, HEAD_DIM, device=device, dtype="float32", seed=seed) for seed in range(3))
    s = q @ k.T / math.sqrt(HEAD_DIM)
    exact = torch.softmax(q.double() @ k.double().T / math.sqrt(HEAD_DIM), -1) @ v.double()

    errors: dict[str, float] = {}
    for update in UPDATES:
        yield steps.begin(update.name)
        o = _online(s, v, update)
        errors[update.name] = float((o.double() - exact).abs().max())
        l, o = update.step(*torch.tensor(BY_HAND, dtype=torch.float64))
        yield Row(
            update.name.split(":")[0], None, errors[update.name], "", f"example by hand: {float(o / l):.2f}"
        )
    yield steps.begin("average of the blocks' outputs")
    o = torch.stack([torch.softmax(s_b, -1) @ v_b for s_b, v_b in _blocks(s, v)]).mean(0)
    errors["average of the blocks"] = float((o.double() - exact).abs().max())
    yield Row("average of the blocks", None, errors["average of the blocks"], "", "example by hand: 29.17")

    # Outputs are weighted means of V, and rounding grows like the root of the number of terms: four times
    # that leaves room for the largest of n · d outputs. What is wrong is off by a good part of V itself.
    limit = 4 * math.sqrt(n) * FP32_ROUNDING * float(v.abs().max())
    right = [name for name, error in errors.items() if error <= limit]
    wrong = [] if right == [RIGHT] else [f"within rounding of float64: {', '.join(right) or 'none'}"]
    others = [error for name, error in errors.items() if name != RIGHT]
    yield Result(
        quantity="largest error of the right update",
        formula=None,
        measured=errors[RIGHT],
        unit="",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"only C stays within rounding of float64, {power(errors[RIGHT])}; the others are off by "
        f"{min(others):.2g} to {max(others):.2g}, where outputs are of size {float(exact.std()):.2f}",
        derivation="Scores 1, 3 | 2, 5 and values 10, 20 | 30, 40: l = 0.1353·1.1353 + 1.0498 = 1.2034 and "
        "o = 0.1353·21.353 + 41.494 = 44.383, so o / l = 36.88.",
        limits="Plain torch in place of a kernel; random normal inputs. The mistakes are as large for "
        "others.",
        answer=right[0] if len(right) == 1 else None,
    )


def _online(s: Tensor, v: Tensor, update: Update) -> Tensor:
    """(n, d) outputs of the update, over blocks of keys from the first to the last."""
    m = s.new_full((s.shape[0], 1), -math.inf)
    l, o = m.new_zeros(m.shape), v.new_zeros(s.shape[0], v.shape[1])
    for s_block, v_block in _blocks(s, v):
        m_new = m.maximum(s_block.amax(-1, keepdim=True))
        p = (s_block - m_new).exp()
        l, o = update.step(l, o, p.sum(-1, keepdim=True), p @ v_block, (m - m_new).exp())
        m = m_new
    return o / l


def _blocks(s: Tensor, v: Tensor) -> Iterator[tuple[Tensor, Tensor]]:
    yield from zip(s.split(BLOCK, 1), v.split(BLOCK), strict=True)
