"""A query that may see no key: NaN, the mean of V, or 0?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernels.demos import Demo, Param
from kernels.demos.common import Steps, normal, verdict
from kernels.wire import Event, Result, Row

if TYPE_CHECKING:
    from torch import Tensor

HEAD_DIM = 64
SCALE = 1 / 8
KEYS = 64
SENTINEL = -1e30
CHOICES = ("0", "the mean of V", "NaN", "the first row of V")

DEMO = Demo(
    name="masked-rows",
    claim="A query without a key gets 0 and a logsumexp of -inf, which takes a guard: -inf less -inf is NaN.",
    question="Causal attention with more queries than keys: the first queries see nothing. Scores that are "
    "hidden are set to -inf, and the row becomes exp(s - max s) / Σ, times V. What does such a query get?",
    unit="",
    form="choice",
    choices=CHOICES,
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("blind", 32, (1, 16, 32), "queries without a key"),),
    seconds=2.0,
    plan="Compute the same rows without a guard, with a large finite number, and with the tiled kernel.",
    explain="""\
Three ways to hide a score, and what becomes of a row in which all are hidden:

- **-inf, no guard.** The maximum is -inf, and (-inf) - (-inf) is NaN. In the online form that NaN enters l
  and o and stays, even if later tiles hold keys that the query sees: α = exp(m - m_new) with both at -inf.
- **A large negative number**, -1e30. The maximum is -1e30 too, every exponent 0, every weight 1: the row gets
  the *mean of V*, hidden rows included. Plausible, and wrong.
- **-inf with a guard.** The reference is 0 where the maximum is -inf, so each weight is exp(-inf) = 0. At the
  end l = 0 is replaced by 1: the output is 0 / 1 = 0, and the logsumexp stays -inf.

0 and -inf are what merging needs: (-inf, 0, 0) is its neutral element, so a part of the cache that a query
does not see changes nothing.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Blind rows and seeing rows, in four ways."""
    import torch

    from kernels import flash, standard

    blind, n = params["blind"], KEYS + params["blind"]
    steps = Steps(4)
    q = normal(1, 1, n, HEAD_DIM, device=device, dtype="float32")
    k, v = (normal(1, 1, KEYS, HEAD_DIM, device=device, dtype="float32", seed=seed) for seed in (1, 2))
    hidden = ~standard.visible(n, KEYS, causal=True, device=q.device)
    s = q @ k.mT * SCALE
    exact, _ = standard.attention(q.double(), k.double(), v.double(), causal=True, scale=SCALE)

    yield steps.begin("-inf, no guard")
    naive = _softmax(s.masked_fill(hidden, -math.inf)) @ v
    first = naive[0, 0, :blind]
    nan = bool(first.isnan().all())
    yield Row("-inf, no guard", None, None, "", "NaN" if nan else "finite")

    yield steps.begin("-1e30")
    finite = (_softmax(s.masked_fill(hidden, SENTINEL)) @ v)[0, 0, :blind]
    from_mean = float((finite - v.mean(2)[0]).abs().max())
    yield Row("-1e30", None, from_mean, "", "distance from the mean of V")

    yield steps.begin("the tiled kernel")
    o, L = flash.forward(q, k, v, causal=True, scale=SCALE)
    largest = float(o[..., :blind, :].abs().max())
    minus_inf = bool((L[..., :blind] == -math.inf).all())
    yield Row(
        "tiled kernel", 0, largest, "", f"largest output; logsumexp {'is' if minus_inf else 'is not'} -inf"
    )

    yield steps.begin("queries that see keys")
    rest = float((o.double() - exact)[..., blind:, :].abs().max())
    spared = bool(naive[..., blind:, :].isfinite().all())
    yield Row("other queries", None, rest, "", "largest error of the tiled kernel")

    # Outputs are of size 1 and sums have 64 terms: 1e-5 is far above their rounding and far below any
    # mistake.
    checks = {
        "the unguarded formula is finite": not nan,
        "-1e30 does not give the mean of V": from_mean > 1e-5,
        "the tiled kernel does not give 0 and -inf": largest != 0 or not minus_inf,
        "other queries are harmed": rest > 1e-5 or not spared,
    }
    wrong = [what for what, holds in checks.items() if holds]
    blind_ones = "the first sees" if blind == 1 else f"the first {blind} see"
    yield Result(
        quantity="largest output of the tiled kernel",
        formula=0,
        measured=largest,
        unit="",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or "without a guard the row is NaN, with -1e30 it is the mean of V, and the tiled kernel gives "
        "exactly 0 with a logsumexp of -inf",
        derivation=f"{n} queries, {KEYS} keys, aligned at the end: query i sees the keys up to i - {blind}, "
        f"so {blind_ones} none: exp(-inf - (-inf)) = exp(NaN).",
        limits="Libraries differ: some return NaN here, some the mean of V, some 0, and it changed between "
        f"versions. PyTorch {torch.__version__} is not what is tested.",
        answer=_answer(first, v),
    )


def _softmax(s: Tensor) -> Tensor:
    """As it is written on the board."""
    e = (s - s.amax(-1, keepdim=True)).exp()
    return e / e.sum(-1, keepdim=True)


def _answer(rows: Tensor, v: Tensor) -> str | None:
    """Which of the choices the rows are."""
    candidates = {CHOICES[0]: 0 * v.mean(2)[0], CHOICES[1]: v.mean(2)[0], CHOICES[3]: v[0, 0, :1]}
    if rows.isnan().all():
        return CHOICES[2]
    return next((name for name, x in candidates.items() if (rows - x).abs().max() < 1e-5), None)
