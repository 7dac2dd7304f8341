"""The time of exponentials beside that of matrix products, by head dimension."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import (
    TIMED,
    Steps,
    ceilings,
    differing,
    forwards,
    on_gpu,
    timed,
    verdict,
)
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row, Series

N, TILE = 256, 64
HEAD_DIMS = (64, 128, 256)
EXP2_A_CLOCK = 16  # of a multiprocessor, from Ampere to Blackwell
FLOP_A_CLOCK = {(8, 0): 2048, (9, 0): 4096, (10, 0): 8192}  # dense bf16, by compute capability
HOPPER = FLOP_A_CLOCK[9, 0]
GPU_N, GPU_WIDTH = 8192, 2048  # heads · d on the GPU, so that every d has the same FLOPs
# Both rates are measured alone. Matrix products draw so much power that their clock falls to about 0.8 of
# that of the exponentials, and no product reaches its peak: together not more than half as much again.
SLACK = 1.5

DEMO = Demo(
    name="exp-wall",
    claim="On Hopper the exponentials of attention take 64 / d of the time of its matrix products.",
    question="A Hopper multiprocessor does 4096 matrix FLOPs and starts 16 exponentials a clock. At d = 128, "
    "how long do the exponentials of attention take, in per cent of the time of its two matrix products?",
    unit="%",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("d", 128, HEAD_DIMS, "head dimension"),),
    seconds=3.0,
    plan="Count exponentials and matrix FLOPs, or measure the rate of both on this GPU.",
    explain="""\
A score costs 2d FLOPs in QKᵀ, 2d in PV, and one exponential:

    matrix products   4 d / 4096 = d / 1024 clocks
    exponentials      1 / 16 clock
    ratio             (1 / 16) / (d / 1024) = 64 / d

100 % at d = 64, 50 % at d = 128, 25 % at d = 256. On an A100, with 2048 FLOPs a clock, it was 32 / d; on a
B200, with 8192, it is 128 / d: tensor cores double, exponentials stay at 16.

Done one after the other, d = 128 can use two thirds of the tensor cores. FlashAttention-3 hides one under the
other: while one warpgroup computes exponentials, another multiplies. At d = 64 even perfect overlap leaves
both units full. FlashAttention-4 computes part of the exponentials as polynomials, on the units that multiply
and add. The tiled kernel also has one exponential for each query and tile, to rescale: 1 / 64 more here.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """The ratio at each head dimension, counted or measured."""
    yield from (_on_gpu if device == "cuda" else _counted)(params["d"])


def _counted(d: int) -> Iterator[Event]:
    from kernels.tiles import Tile

    steps = Steps(len(HEAD_DIMS))
    ratios, wrong = [], []
    exps = N * N + N * (N // TILE)
    for dim in HEAD_DIMS:
        yield steps.begin(f"d = {dim}")
        done = counted.tiled(traffic.Problem(N, N, dim, 2), Tile(TILE, TILE)).operations
        ratios.append(100 * (done.exponentials / EXP2_A_CLOCK) / (done.flops / HOPPER))
        yield Row(f"d = {dim}", _share(dim), ratios[-1], "%", "of the products' time")
        if dim == d:
            yield Row("matrix FLOPs", 4 * N * N * dim, done.flops, "FLOP", f"d = {dim}")
            yield Row("exponentials", exps, done.exponentials, "exp", "N² and one a query and tile")
        found = {"FLOPs": (4 * N * N * dim, done.flops), "exponentials": (exps, done.exponentials)}
        wrong += [f"d = {dim}: {what}" for what in differing(found)]
    yield Series("exponentials", HEAD_DIMS, ratios, "d", "%")
    measured = ratios[HEAD_DIMS.index(d)]
    yield Result(
        quantity=f"d = {d}",
        formula=_share(d),
        measured=measured,
        unit="%",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"{4 * d} matrix FLOPs for each exponential, where Hopper could do {HOPPER // EXP2_A_CLOCK} in "
        "the same time",
        derivation=f"{exps:,} / {EXP2_A_CLOCK} = {exps // EXP2_A_CLOCK:,} clocks of exponentials, 4·{N}²·{d} "
        f"/ {HOPPER} = {4 * N * N * d // HOPPER:,} clocks of products: {_share(d):.4g} %, 64 / {d} and the "
        "rescaling.",
        limits="Counted by the interpreter on any machine; the rates are Hopper's by its documents, "
        "and no time is measured. Other work on scores (scaling, maxima, sums) comes on top.",
    )


def _share(d: int) -> float:
    return 100 * (HOPPER / EXP2_A_CLOCK) / (4 * d) * (1 + 1 / TILE)


def _on_gpu(d: int) -> Iterator[Event]:
    from kernels import tiles
    from kernels.attention import attention
    from kernels.measure import exponentials
    from kernels.measure.clock import EventClock

    steps = Steps(3)
    yield steps.begin("the rate of products")
    peak = ceilings().peak
    yield Row("matrix products", None, peak, "FLOP/s", "bf16, 8192 by 8192")
    yield steps.begin("the rate of exponentials")
    exps = exponentials.rate(EventClock())
    yield Row("exponentials", None, exps.median, "exp/s", "nothing beside them")
    yield steps.begin("attention at each d")
    calls, capability = {}, (0, 0)
    for dim in HEAD_DIMS:
        q, k, v = (on_gpu(1, GPU_WIDTH // dim, GPU_N, dim) for _ in range(3))
        capability = tiles.capability(q)
        calls[str(dim)] = forwards(attention, q, k, v)
    times = timed(calls)
    rate = FLOP_A_CLOCK.get(capability)
    measured = {dim: 100 * (peak / exps.median) / (4 * dim) for dim in HEAD_DIMS}
    formula = {dim: None if rate is None else 100 * rate / EXP2_A_CLOCK / (4 * dim) for dim in HEAD_DIMS}
    flops = 4 * GPU_N**2 * GPU_WIDTH
    reached = {dim: flops / times[str(dim)].median for dim in HEAD_DIMS}
    for dim in HEAD_DIMS:
        yield Row(
            f"d = {dim}",
            formula[dim],
            measured[dim],
            "%",
            f"attention reaches {reached[dim] / 1e12:.0f} TFLOP/s",
        )
    yield Series("attention", HEAD_DIMS, [reached[dim] for dim in HEAD_DIMS], "d", "FLOP/s")

    expected = formula[d]
    wrong = [] if reached[64] < reached[128] else ["attention is no slower at d = 64 than at d = 128"]
    if expected is not None and not 1 / SLACK <= measured[d] / expected <= SLACK:
        wrong.append(f"exponentials take {measured[d]:.0f} % of the products' time and not {expected:.0f} %")
    yield Result(
        quantity=f"d = {d}",
        formula=expected,
        measured=measured[d],
        unit="%",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"alone, the units do {exps.median / 1e12:.2f}e12 exponentials and {peak / 1e12:.0f}e12 FLOPs a "
        f"second; attention with the same FLOPs reaches {reached[64] / 1e12:.0f} TFLOP/s at d = 64 and "
        f"{reached[128] / 1e12:.0f} at d = 128",
        spread=measured[d] * exps.spread / exps.median,
        derivation=f"1 / {EXP2_A_CLOCK} clock for an exponential, 4·{d} / {rate} for its products."
        if rate
        else "The rates of this chip are not in the table, so there is no formula.",
        limits=TIMED + " Each unit is timed alone; how far they overlap inside a kernel is not seen.",
    )
