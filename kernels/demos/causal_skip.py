"""How much of the work is left when tiles above the diagonal are not visited?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import (
    COUNTED,
    TIMED,
    Steps,
    differing,
    forwards,
    on_gpu,
    timed,
    verdict,
)
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row

HEAD_DIM = 64
TILE = 64
LENGTHS = (128, 256, 512)
GPU_TIMES, GPU_HEADS, GPU_HEAD_DIM = 32, 16, 128
# The longest programs start first and the last ones still end alone; the diagonal's tiles cost a mask each.
SLACK = 1.25

DEMO = Demo(
    name="causal-skip",
    claim="A causal mask that skips whole tiles leaves T (T + 1) / 2 of T² of them: little more than half.",
    question="One causal head, N = 512, tiles of 64 by 64. What share of the full attention's matrix work "
    "does the tiled kernel do, in per cent?",
    unit="%",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 512, LENGTHS, f"queries and keys; {GPU_TIMES} times as many on a GPU"),),
    seconds=3.0,
    plan="Count the matrix FLOPs with and without the mask, or time both on a GPU.",
    explain="""\
Cut both sides into T = N / B tiles. Tile row i (from 1) needs the tiles 1 … i: below the diagonal all of a
tile's scores count, on it about half, above it none. So

    visited = 1 + 2 + … + T = T (T + 1) / 2        share = (T + 1) / (2 T)

36 of 64 tiles for T = 8, 56 %; for T = 128 it is 50.4 %. Only the T tiles on the diagonal need a mask at all.
K and V are read for visited tiles alone, so bytes fall as well.

The speed-up is at most 2T / (T + 1), and real kernels get 1.6 to 1.95: programs now differ in length, so the
longest have to start first.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Full and causal, counted or timed."""
    yield from (_on_gpu if device == "cuda" else _counted)(params["n"])


def _counted(n: int) -> Iterator[Event]:
    from kernels.tiles import Tile

    tiles = n // TILE
    visited = tiles * (tiles + 1) // 2
    steps = Steps(2)
    problems = {causal: traffic.Problem(n, n, HEAD_DIM, 2, causal=causal) for causal in (False, True)}
    found = {}
    for causal, problem in problems.items():
        yield steps.begin("causal" if causal else "full")
        found[causal] = counted.tiled(problem, Tile(TILE, TILE))
    flops = {causal: one.operations.flops for causal, one in found.items()}
    each = 4 * TILE * TILE * HEAD_DIM  # two products a tile
    formula, measured = 100 * visited / tiles**2, 100 * flops[True] / flops[False]
    asked = traffic.tiled(problems[True], tile_rows=TILE, tile_columns=TILE).total
    yield Row("share", formula, measured, "%")
    yield Row("tiles, full", tiles**2, flops[False] // each, "tiles")
    yield Row("tiles, causal", visited, flops[True] // each, "tiles")
    yield Row("FLOPs, causal", visited * each, flops[True], "FLOP")
    yield Row("bytes, causal", asked, found[True].bytes.total, "B", f"full: {found[False].bytes.total:,} B")
    wrong = differing(
        {
            "FLOPs": (visited * each, flops[True]),
            "FLOPs without a mask": (tiles**2 * each, flops[False]),
            "bytes": (asked, found[True].bytes.total),
        }
    )
    yield Result(
        quantity="share",
        formula=formula,
        measured=measured,
        unit="%",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"{visited} of {tiles**2} tiles are visited, and {tiles} of them, on the diagonal, need a mask",
        derivation=f"T = {n} / {TILE} = {tiles}: {tiles}·{tiles + 1} / 2 = {visited} of {tiles**2} tiles, "
        f"{formula:.4g} %.",
        limits=COUNTED,
    )


def _on_gpu(n: int) -> Iterator[Event]:
    from kernels import flash, tiles

    n *= GPU_TIMES
    steps = Steps(2)
    yield steps.begin(f"inputs of N = {n:,}")
    q, k, v = (on_gpu(1, GPU_HEADS, n, GPU_HEAD_DIM) for _ in range(3))
    tile = flash.tile_for(GPU_HEAD_DIM, 2, tiles.capability(q))
    read = [
        traffic.tiled(
            traffic.Problem(n, n, GPU_HEAD_DIM, 2, causal=causal),
            tile_rows=tile.queries,
            tile_columns=tile.keys,
        ).read["K"]
        for causal in (False, True)
    ]
    formula = 100 * read[1] / read[0]
    yield steps.begin("full and causal in turns")
    times = timed(
        {
            name: forwards(flash.forward, q, k, v, causal=name == "causal", scale=GPU_HEAD_DIM**-0.5)
            for name in ("full", "causal")
        }
    )
    full, causal = times["full"], times["causal"]
    measured = 100 * causal.median / full.median
    yield Row("share", formula, measured, "%", "of the time")
    for name, time in times.items():
        yield Row(f"time, {name}", None, time.median, "s")
    wrong = [] if measured <= SLACK * formula else [f"the causal kernel takes {measured:.0f} % of the time"]
    yield Result(
        quantity="share",
        formula=formula,
        measured=measured,
        unit="%",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"the causal kernel is {full.median / causal.median:.2f} times as fast, where the tiles "
        f"promise at most {100 / formula:.2f}; masks and programs of unequal length take the rest",
        spread=measured * (causal.spread / causal.median + full.spread / full.median),
        derivation=f"N = {n:,}, d = {GPU_HEAD_DIM}, {GPU_HEADS} heads, tiles of {tile.queries} by "
        f"{tile.keys}: {formula:.4g} % of the tiles.",
        limits=TIMED,
    )
