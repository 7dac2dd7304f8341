"""What attention loses in 8 bits, and what scales by block and a rotation win back."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernels.demos import Demo, Param
from kernels.demos.common import Steps, normal, verdict
from kernels.wire import Event, Result, Row

if TYPE_CHECKING:
    from torch import Tensor

HEAD_DIM = 128
BLOCK = 128
LARGEST = 448.0  # of e4m3
OUTLIERS, OUTLIER_SIZE = 1e-3, 10.0  # a number in a thousand has another normal, ten times as wide, added
P_SCALE = 256.0  # P is at most 1; times 256 it uses the range that e4m3 has for large numbers
BITS = {"bf16": 8, "e4m3": 4}  # of a mantissa, with the leading one that is not stored
FORMULA = 2.0 ** (BITS["bf16"] - BITS["e4m3"])
# The ratio is one of roundings alone if both types round the same numbers. In 8 bits P is rounded as well and
# small numbers beside an outlier lose bits, in 16 bits the exponent range hides both: half as much again.
TOLERANCE = 1.5
NAMES = ("bf16", "e4m3, a scale a tensor", "e4m3, a scale a block", "the same, Q and K rotated")

DEMO = Demo(
    name="fp8-error",
    claim="8-bit attention is off by about 16 times as much as bf16; rotating Q and K wins back about half.",
    question="Attention at d = 128 with a few outliers among its inputs, all of Q, K, V and P in 8 bits "
    "(e4m3, one scale a tensor). How many times larger than with bf16 inputs is its error?",
    unit="×",
    form="number",
    needs=("torch",),
    devices=("cuda", "cpu"),
    params=(Param("n", 2048, (512, 1024, 2048), "queries and keys"),),
    seconds=4.0,
    plan="Round inputs as each type does, compute in fp32, and compare with float64.",
    explain="""\
A mantissa of p bits (with the leading one) rounds a number by at most 2⁻ᵖ of itself. bf16 has p = 8 and e4m3
has p = 4, so the same roundings are 2⁴ = 16 times larger.

Two things move it from there. e4m3 reaches from 2⁻⁹ to 448 only, so each tensor needs a *scale*; one outlier
sets it, and small numbers fall to where e4m3 has fewer bits.

- **A scale for each block** confines the harm of an outlier to its block. Where each block has one, as at
  N = 512 here, it gains nothing.
- **A rotation** removes the outlier. For an orthogonal M, (QM)(KM)ᵀ = QKᵀ: nothing changes, but each entry of
  QM mixes all d entries of Q, so an outlier of size a becomes d entries of a / √d. M is a Hadamard matrix
  with random signs, which takes d log d additions. It does nothing for V and P.

FlashAttention-3 does both: 2.4e-2 becomes 9.1e-3 in the paper's test, a factor 2.6 of *error*, not of speed.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """The root mean square error of each against float64."""
    import torch

    n = params["n"]
    steps = Steps(len(NAMES) + 1)
    yield steps.begin("float64")
    q, k, v = (_with_outliers(n, device, seed) for seed in (0, 10, 20))
    exact = torch.softmax(q.double() @ k.double().T / math.sqrt(HEAD_DIM), -1) @ v.double()
    rotation = _hadamard(device) * torch.sign(normal(HEAD_DIM, 1, device=device, dtype="float32", seed=30))

    inputs = {
        NAMES[0]: lambda: [x.bfloat16().float() for x in (q, k, v)],
        NAMES[1]: lambda: [_round(x, len(x)) for x in (q, k, v)],
        NAMES[2]: lambda: [_round(x, BLOCK) for x in (q, k, v)],
        NAMES[3]: lambda: [_round(x, BLOCK) for x in (q @ rotation, k @ rotation, v)],
    }
    errors: dict[str, float] = {}
    for name in NAMES:
        yield steps.begin(name)
        o = _attention(*inputs[name](), eight_bits=name != NAMES[0])
        errors[name] = float((o.double() - exact).square().mean().sqrt())
        ratio = errors[name] / errors[NAMES[0]]
        yield Row(name, None, errors[name], "", f"RMSE; {ratio:.1f} times that of bf16")

    bf16, tensor, block, rotated = (errors[name] for name in NAMES)
    ratio = tensor / bf16
    wrong = []
    if not FORMULA / TOLERANCE <= ratio <= FORMULA * TOLERANCE:
        wrong.append(f"8 bits are off by {ratio:.1f} times as much, not by about {FORMULA:g} times")
    # Scales by block help where blocks are free of outliers. Of a few blocks none may be: that is not judged.
    if not rotated < min(block, tensor):
        wrong.append("the rotation does not help")
    yield Result(
        quantity="e4m3 against bf16",
        formula=FORMULA,
        measured=ratio,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"one scale a tensor is {ratio:.1f} times as far off as bf16; scales by block and the rotation "
        f"bring that to {rotated / bf16:.1f} times, {tensor / rotated:.1f} times less",
        derivation=f"2^({BITS['bf16']} - {BITS['e4m3']}) = {FORMULA:g} for the same roundings.",
        limits="Rounding emulated: products are summed in fp32, where tensor cores keep fewer bits for 8-bit "
        "inputs. No speed. Other outliers give other figures.",
    )


def _with_outliers(n: int, device: str, seed: int) -> Tensor:
    import torch

    usual, extra = (normal(n, HEAD_DIM, device=device, dtype="float32", seed=seed + i) for i in (0, 1))
    generator = torch.Generator().manual_seed(seed + 2)
    chosen = torch.rand(n, HEAD_DIM, generator=generator).to(usual.device) < OUTLIERS
    return usual + OUTLIER_SIZE * extra * chosen


def _round(x: Tensor, rows: int) -> Tensor:
    """x as e4m3 keeps it, with a scale for each `rows` rows."""
    import torch

    blocks = x.reshape(-1, rows, x.shape[1])
    scale = blocks.abs().amax((1, 2), keepdim=True) / LARGEST
    return ((blocks / scale).to(torch.float8_e4m3fn).float() * scale).reshape(x.shape)


def _attention(q: Tensor, k: Tensor, v: Tensor, *, eight_bits: bool) -> Tensor:
    import torch

    s = q @ k.T / math.sqrt(HEAD_DIM)
    p = (s - s.amax(-1, keepdim=True)).exp()
    l = p.sum(-1, keepdim=True)  # noqa: E741 - as the papers call it
    if eight_bits:
        p = (p * P_SCALE).to(torch.float8_e4m3fn).float() / P_SCALE
    return p @ v / l


def _hadamard(device: str) -> Tensor:
    """The orthogonal matrix of ±1 / √d."""
    import torch

    h = torch.ones(1, 1, device="cuda" if device == "cuda" else "cpu")
    while len(h) < HEAD_DIM:
        h = torch.cat((torch.cat((h, h), 1), torch.cat((h, -h), 1)))
    return h / math.sqrt(HEAD_DIM)
