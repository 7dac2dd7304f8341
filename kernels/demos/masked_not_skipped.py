"""A mask over the full matrix, and tiles that are not visited: which of them saves anything?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import COUNTED, TIMED, Steps, differing, forwards, on_gpu, percent, timed, verdict
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row

HEAD_DIM, ITEMSIZE = 64, 2
TILE = WINDOW = 64  # a query sees itself and the WINDOW keys before it: its own tile and the one before
GPU_TIMES, GPU_HEADS = 16, 8
# Masked and unmasked differ by one comparison a score; a tenth covers the noise of a clock.
NOISE = 1.1
# What skipping promises is for long rows of tiles; short ones cost a program's beginning and end as well.
SLACK = 2.0

DEMO = Demo(
    name="masked-not-skipped",
    claim="A mask over the full matrix saves nothing; skipping whole tiles saves in proportion.",
    question="N = 512, and each query may see itself and the 64 keys before it: an eighth of the scores. "
    "Standard attention sets the others to -inf. How many times fewer bytes does it move than without a "
    "mask?",
    unit="×",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 512, (256, 512), f"queries and keys; {GPU_TIMES} times as many on a GPU"),),
    seconds=4.0,
    plan="Count both kernels with and without a mask, or time them on a GPU.",
    explain="""\
Standard attention writes S, reads it to mask it, writes it, and reads it again, N² numbers each time. A
hidden score is a number like any other: -inf takes two bytes. So the bytes are those of full attention, and
where bytes set the time, so is the time. No FLOPs are saved either: QKᵀ was computed before the mask.

The tiled kernel knows which tiles hold nothing that is seen, and does not visit them: with tiles as wide as
the window each row of T tiles visits two, 2T - 1 in all, of T². FLOPs, bytes and time fall together.

This is the paradox of sparse attention before 2022: variants with a small part of the FLOPs were no faster.
On a path that waits for memory, cutting FLOPs buys nothing. Once the path computes, skipping pays.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Standard and tiled, full and masked."""
    yield from (_on_gpu if device == "cuda" else _counted)(params["n"])


def _counted(n: int) -> Iterator[Event]:
    from kernels.tiles import Tile

    steps = Steps(4)
    tiles, tile = n // TILE, Tile(TILE, TILE)
    full, causal = (traffic.Problem(n, n, HEAD_DIM, ITEMSIZE, causal=masked) for masked in (False, True))
    found: dict[str, counted.Counted] = {}
    for name, problem, count, window in (
        ("standard", full, counted.standard, {}),
        ("standard, masked", causal, counted.standard, {}),
        ("tiled", full, counted.tiled, {}),
        ("tiled, window skipped", causal, counted.tiled, {"window": WINDOW}),
    ):
        yield steps.begin(name)
        found[name] = count(problem, tile, **window)

    visited = 2 * tiles - 1
    each = 2 * TILE * HEAD_DIM * ITEMSIZE  # K and V of a tile
    kept = 2 * n * HEAD_DIM * ITEMSIZE + 4 * n  # Q, O and the logsumexp
    standard = traffic.standard(full, tile_rows=TILE, tile_columns=TILE).total
    formulas = {
        "standard": standard,
        "standard, masked": standard,
        "tiled": kept + tiles**2 * each,
        "tiled, window skipped": kept + visited * each,
    }
    flops = {name: one.operations.flops for name, one in found.items()}
    for name, one in found.items():
        yield Row(name, formulas[name], one.bytes.total, "B", f"{flops[name]:,} matrix FLOPs")
    wrong = differing({name: (formulas[name], one.bytes.total) for name, one in found.items()})
    if flops["standard, masked"] != flops["standard"]:
        wrong.append("the mask changes the FLOPs of standard attention")
    if flops["tiled, window skipped"] * tiles**2 != flops["tiled"] * visited:
        wrong.append("skipping does not cut the FLOPs in proportion")
    measured = found["standard"].bytes.total / found["standard, masked"].bytes.total
    yield Result(
        quantity="saved by the mask",
        formula=1.0,
        measured=measured,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"masked or not, standard attention asks for {standard:,} B and computes as much; the tiled "
        f"kernel visits {visited} of {tiles**2} tiles and does {percent(visited / tiles**2)} of the work",
        derivation=f"Standard: every score crosses memory, hidden or not. Tiled: 2·{tiles} - 1 = {visited} "
        f"tiles of {tiles}² = {tiles**2}, each with {each:,} B of K and V, and {kept:,} B for Q, O and the "
        "logsumexp.",
        limits=COUNTED + " The standard kernel masks causally here; where the mask lies changes no byte.",
    )


def _on_gpu(n: int) -> Iterator[Event]:
    from kernels import flash, four_kernels

    n *= GPU_TIMES
    steps = Steps(2)
    yield steps.begin(f"inputs of N = {n:,}")
    q, k, v = (on_gpu(1, GPU_HEADS, n, HEAD_DIM) for _ in range(3))
    usual: dict[str, Any] = {"scale": HEAD_DIM**-0.5}
    calls = {
        "standard": forwards(four_kernels.forward, q, k, v, causal=False, **usual),
        "standard, masked": forwards(four_kernels.forward, q, k, v, causal=True, **usual),
        "tiled": forwards(flash.forward, q, k, v, causal=False, **usual),
        "tiled, window skipped": forwards(flash.forward, q, k, v, causal=True, window=WINDOW, **usual),
    }
    yield steps.begin("all four in turns")
    times = timed(calls)
    for name, time in times.items():
        yield Row(name, None, time.median, "s")
    saved = times["standard"].median / times["standard, masked"].median
    skipped = times["tiled"].median / times["tiled, window skipped"].median
    tiles = n // TILE
    promised = tiles**2 / (2 * tiles - 1)
    yield Row("saved by the mask", 1.0, saved, "×", "standard")
    yield Row("saved by skipping", None, skipped, "×", f"tiled; with tiles of {TILE} at most {promised:.0f}")
    wrong = []
    if saved > NOISE:
        wrong.append(f"with its mask standard attention is {saved:.2f} times as fast")
    if skipped < SLACK:
        wrong.append(f"skipping tiles is only {skipped:.2f} times as fast")
    yield Result(
        quantity="saved by the mask",
        formula=1.0,
        measured=saved,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"with {WINDOW + 1} of {n:,} keys visible, standard attention takes {1 / saved:.2f} times the "
        f"time of the full one, and the tiled kernel is {skipped:.0f} times faster than itself",
        spread=saved * (times["standard"].spread / times["standard"].median),
        derivation=f"The same bytes in the same time: 1. Skipping leaves 2T - 1 of T² tiles, at most "
        f"{promised:.0f} times less with T = {n:,} / {TILE} = {tiles}.",
        limits=TIMED + " The standard kernel masks causally here. Skipping also leaves so little work that a "
        "kernel's beginning and end show.",
    )
