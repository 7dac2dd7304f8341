"""Is tiled attention an approximation? Both ways of computing it, set against float64."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import power
from kernels.wire import Event, Progress, Result, Row

HEAD_DIM = 64
SCALE = 1 / 8

# Rounding to p bits changes a number by at most 2⁻ᵖ of itself. The root mean square over all mantissas is
# √(1 / (8 ln 2)) of that: 1/√3 for an error spread evenly over its interval, √(3 / (8 ln 2)) for the
# mantissas. Three digits of it, as printed, so that a reader can work out again what follows.
TYPICAL = 0.425
HALF_BITS = {"fp16": 11, "bf16": 8}
FP32_ROUNDING = 2.0**-24
TILED_ROUNDINGS = 2  # P and O
STANDARD_ROUNDINGS = 7  # P and O, and S, which counts five times: see `explain`
SLACK = 1.1  # the prediction is a mean, a run is a sample of some 10⁴ outputs
NO_FURTHER = 2.0  # the ratio to the standard error up to which two roundings in another order explain it

CHOICES = (
    "about 1000 times further",
    "about 10 times further",
    "no further, or nearer",
    "no distance at all: equal to the last bit",
)

DEMO = Demo(
    name="same-answer",
    claim="Tiling with a running rescale is the same attention, not an approximation of it.",
    question="Tiled attention never sees a whole row of scores. In the same precision, how much further from "
    "the float64 answer does it end up than standard attention?",
    unit="",
    form="choice",
    choices=CHOICES,
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 512, (128, 256, 512), "queries and keys"),),
    seconds=4.0,
    plan="Run the tiled and the standard kernels on the same inputs, and compare both with float64.",
    explain="""\
Over the real numbers both compute the same thing: moving (l, o) to a new reference multiplies both by
exp(m_old - m_new), which cancels in o / l. What is left is rounding, and it can be predicted.

Let δ be the typical rounding of the type, 0.425 · 2⁻¹¹ = 2.08e-4 for fp16 (root mean square over all
mantissas). Sums are kept in fp32 by both and add nothing visible.

- **Tiled** rounds twice: P before its product with V, and O. Independent errors add as squares:
  √2 · δ = 2.9e-4.
- **Standard** also stores S in fp16. An error of δ in s is an error of s·δ in exp(s); weighted by what each
  entry contributes, exp(2s), normal scores of variance 1 have a mean square of 2² + 1 = 5. (The scale 1/8
  is a power of two and rounds nothing.) So √(5 + 1 + 1) · δ = 5.5e-4.

In fp16 the tiled answer is therefore *nearer*, because S never leaves the fp32 registers. In fp32 the two
products dominate: errors grow like the square root of their length, √N · 2⁻²⁴ at most. Large scores make
it worse for both, since a score s carries an error of |s| · 2⁻²⁴ into its exponential.
""",
)


@dataclass(frozen=True, slots=True)
class Case:
    """Normal inputs of a type and shape; `spread` is the standard deviation of the scores."""

    name: str
    dtype: str
    queries: int
    keys: int
    causal: bool = False
    spread: float = 1.0


@dataclass(frozen=True, slots=True)
class Outcome:
    """Errors relative to the float64 answer (Frobenius norms), and the limit that rounding sets."""

    tiled: float
    standard: float
    limit: float
    identical: bool

    @property
    def ratio(self) -> float:
        return self.tiled / self.standard if self.standard else math.inf


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Every case on both; then what becomes of queries without a key."""
    n = params["n"]
    bf16 = [Case("bf16", "bf16", n, n)] if device == "cuda" else []  # the interpreter gets bf16 wrong
    ordinary = [
        Case("fp16", "fp16", n, n),
        *bf16,
        Case("fp32", "fp32", n, n),
        Case("fp16, ragged N = 200", "fp16", 200, 200),
        Case("fp16, causal", "fp16", n, n, causal=True),
    ]
    huge = Case("fp32, scores × 10⁴", "fp32", 200, 200, spread=1e4)
    wrong: list[str] = []
    outcomes: dict[Case, Outcome] = {}
    steps = len(ordinary) + 2
    for case in (*ordinary, huge):
        yield Progress(len(outcomes), steps, case.name)
        outcome = outcomes[case] = _compare(case, device)
        if not outcome.tiled <= outcome.limit:  # so written, NaN is too far off as well
            wrong.append(f"{case.name} is off by {power(outcome.tiled)}, more than {power(outcome.limit)}")
        yield Row(case.name, _predicted(case), outcome.tiled, "", f"standard {power(outcome.standard)}")

    yield Progress(len(outcomes), steps, "queries without a key")
    worst, all_minus_inf = _blind(device)
    yield Row("queries without a key", 0, worst, "", "largest output; logsumexp is -inf")
    if worst != 0 or not all_minus_inf:
        wrong.append("a query without a key does not get 0 and -inf")

    # Huge scores make near ties rare and decisive, so that ratio is luck; their limit is tested above.
    ratio = max(outcomes[case].ratio for case in ordinary)
    if ratio > NO_FURTHER:
        wrong.append(f"the tiled answer is {ratio:.1f} times further off than the standard one")
    first, once = outcomes[ordinary[0]], _rounding("fp16")
    yield Result(
        quantity="relative error, tiled in fp16",
        formula=_predicted(ordinary[0]),
        measured=first.tiled,
        unit="",
        verdict="refuted" if wrong else "confirmed",
        why="; ".join(wrong)
        or f"in fp16 the tiled answer is {1 / first.ratio:.1f} times nearer to float64 than the standard "
        "one, which rounds S as well; no case is off by more than rounding explains",
        derivation=f"P and O are rounded to fp16, each by 0.425·2⁻¹¹ = {power(once, 3)}; together "
        f"√2·0.425·2⁻¹¹ = {power(math.sqrt(TILED_ROUNDINGS) * once, 3)}. Standard also rounds S: "
        f"√7·0.425·2⁻¹¹ = {power(math.sqrt(STANDARD_ROUNDINGS) * once, 3)}, and is off by "
        f"{power(first.standard, 3)}.",
        limits=_LIMITS[device],
        answer=_answer(ratio, identical=all(outcomes[case].identical for case in ordinary)),
    )


_LIMITS = {
    "interpreter": "The interpreter rounds as a GPU does, but sums in NumPy's order; it cannot do bf16.",
    "cuda": "One GPU and one head; another GPU sums in another order.",
}


def _rounding(dtype: str) -> float:
    return TYPICAL * 2.0 ** -HALF_BITS[dtype]


def _predicted(case: Case) -> float | None:
    """The tiled error to expect: of half precision over whole rows, where theory gives it."""
    if case.dtype not in HALF_BITS or case.causal:
        return None
    return math.sqrt(TILED_ROUNDINGS) * _rounding(case.dtype)


def _answer(ratio: float, *, identical: bool) -> str:
    if identical:
        return CHOICES[3]
    return CHOICES[2] if ratio <= NO_FURTHER else CHOICES[1] if ratio <= 100 else CHOICES[0]


def _inputs(case: Case, device: str) -> list[Any]:
    import torch

    dtype = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}[case.dtype]
    generator = torch.Generator().manual_seed(0)
    place = "cuda" if device == "cuda" else "cpu"
    scaled = ((case.queries, case.spread**0.5), (case.keys, case.spread**0.5), (case.keys, 1.0))
    return [
        (torch.randn(1, 1, n, HEAD_DIM, generator=generator) * size).to(place, dtype) for n, size in scaled
    ]


def _compare(case: Case, device: str) -> Outcome:
    from kernels import flash, four_kernels, standard

    q, k, v = _inputs(case, device)
    exact, _ = standard.attention(q.double(), k.double(), v.double(), causal=case.causal, scale=SCALE)
    tiled, _ = flash.forward(q, k, v, causal=case.causal, scale=SCALE)
    plain = four_kernels.forward(q, k, v, causal=case.causal, scale=SCALE)

    if case.dtype in HALF_BITS:
        limit = SLACK * math.sqrt(TILED_ROUNDINGS) * _rounding(case.dtype)
    else:
        largest = float((q.double() @ k.double().transpose(-1, -2)).abs().max()) * SCALE
        limit = max(math.sqrt(case.keys), largest) * FP32_ROUNDING
    return Outcome(_off(tiled, exact), _off(plain, exact), limit, bool((tiled == plain).all()))


def _off(answer: Any, exact: Any) -> float:
    return float((answer.double() - exact).norm() / exact.norm())


def _blind(device: str) -> tuple[float, bool]:
    """The largest output of causal queries before the first key, and whether each logsumexp is -inf."""
    from kernels import flash

    case = Case("blind", "fp32", queries=96, keys=64, causal=True)
    o, L = flash.forward(*_inputs(case, device), causal=True, scale=SCALE)
    blind = case.queries - case.keys
    return float(o[..., :blind, :].abs().max()), bool((L[..., :blind] == -math.inf).all())
