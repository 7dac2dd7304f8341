"""FLOPs for each byte, of standard and of tiled attention, beside the ridge."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import (
    COUNTED,
    TIMED,
    Steps,
    ceilings,
    differing,
    forwards,
    on_gpu,
    percent,
    timed,
    verdict,
)
from kernels.measure import counted, roofline, traffic
from kernels.wire import Event, Result, Row, Series

HEAD_DIM, ITEMSIZE = 64, 2
TILE = 64
HEIGHTS = (64, 128)
LENGTHS = (128, 256, 512)
GPU_TIMES, GPU_HEADS = 16, 16
# The four kernels are plain, not tuned: they may stay below the roof of memory, but cannot pass it. Some of
# S may still lie in L2 when it is read, and a roof is measured by a copy: together a fifth above it.
ABOVE = 1.2

DEMO = Demo(
    name="ridge-and-intensity",
    claim="Standard attention does d / 3 FLOPs a byte at most, left of every ridge; tiled attention far "
    "more.",
    question="An A100 needs 156 FLOPs for each byte to be busy. How many does standard attention do, for "
    "each byte that it asks memory for? One head, N = 512, d = 64, fp16, six N × N passes.",
    unit="FLOP/B",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 512, LENGTHS, f"queries and keys; {GPU_TIMES} times as many on a GPU"),),
    seconds=4.0,
    plan="Count FLOPs and bytes of both, or set both on this GPU's measured roofline.",
    explain="""\
The ridge is where the two roofs meet: peak / bandwidth, 312e12 / 2.0e12 = 156 FLOP/B on an A100, 295 on an
H100, 206 on an H200. Left of it time is bytes / bandwidth, right of it FLOPs / peak.

    standard   4 N² d / (6 N² · 2 B)         →  d / 3, 21 at d = 64
    tiled      4 N² d / (2 · 2 N d · N / B)  →  B

for long N and tiles of B queries; d / 3 is 43 at d = 128. At N = 512 the products' own reads take standard
attention from 21 down to 14. N cancels: longer context does not help, nor do fewer FLOPs. The tiled figure is
against what the kernel *asks* for; most of the repeats of K and V come from L2, and against DRAM it is N / 2
if everything is read once.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Intensities, counted or placed on a roofline."""
    yield from (_on_gpu if device == "cuda" else _counted)(params["n"])


def _counted(n: int) -> Iterator[Event]:
    from kernels.tiles import Tile

    lengths = [length for length in LENGTHS if length <= n]
    steps = Steps(len(lengths) * (1 + len(HEIGHTS)))
    curves: dict[str, list[float]] = {"standard": [], **{f"tiled, {rows} queries": [] for rows in HEIGHTS}}
    formulas: dict[str, float] = {}
    wrong: list[str] = []
    for length in lengths:
        problem, flops = traffic.Problem(length, length, HEAD_DIM, ITEMSIZE), 4 * length**2 * HEAD_DIM
        asked = {"standard": traffic.standard(problem, tile_rows=TILE, tile_columns=TILE).total}
        for rows in HEIGHTS:
            asked[f"tiled, {rows} queries"] = traffic.tiled(problem, tile_rows=rows, tile_columns=TILE).total
        for name, rows in zip(curves, (0, *HEIGHTS), strict=True):
            yield steps.begin(f"{name}, N = {length}")
            found = (
                counted.tiled(problem, Tile(rows, TILE))
                if rows
                else counted.standard(problem, Tile(TILE, TILE))
            )
            curves[name].append(found.intensity)
            formulas[name] = flops / asked[name]
            both = {"FLOPs": (flops, found.operations.flops), "bytes": (asked[name], found.bytes.total)}
            wrong += [f"{name} at N = {length}: {what}" for what in differing(both)]

    ridges = {
        chip: roofline.sheet(chip, "hbm_rounded" if chip == "A100" else "hbm").ridge
        for chip in ("A100", "H100", "H200")
    }
    for name, values in curves.items():
        yield Row(name, formulas[name], values[-1], "FLOP/B", f"N = {n}")
        yield Series(name, lengths, values, "N", "FLOP/B")
    for chip, ridge in ridges.items():
        yield Row(f"ridge of {chip}", ridge, None, "FLOP/B", "dense bf16, by datasheet")
    standard = curves["standard"][-1]
    if standard > min(ridges.values()):
        wrong.append("standard attention is right of a ridge")
    yield Result(
        quantity="standard",
        formula=formulas["standard"],
        measured=standard,
        unit="FLOP/B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"at {standard:.1f} FLOP/B an A100 reaches {percent(standard / ridges['A100'])} of its peak at "
        f"best; tiles of {HEIGHTS[-1]} queries bring it to {curves[f'tiled, {HEIGHTS[-1]} queries'][-1]:.0f}",
        derivation=f"4·{n}²·{HEAD_DIM} = {4 * n * n * HEAD_DIM:,} FLOPs over "
        f"{4 * n * n * HEAD_DIM / formulas['standard']:,.0f} B = {formulas['standard']:.1f} FLOP/B; for long "
        f"N 4·{HEAD_DIM} / (6·{ITEMSIZE}) = {4 * HEAD_DIM / 6 / ITEMSIZE:.1f}.",
        limits=COUNTED,
    )


def _on_gpu(n: int) -> Iterator[Event]:
    from kernels import flash, four_kernels, tiles

    n *= GPU_TIMES
    steps = Steps(3)
    yield steps.begin("the two roofs of this GPU")
    roof = ceilings()
    yield steps.begin(f"inputs of N = {n:,}")
    q, k, v = (on_gpu(1, GPU_HEADS, n, HEAD_DIM) for _ in range(3))
    tile = flash.tile_for(HEAD_DIM, ITEMSIZE, tiles.capability(q))
    problem, flops = (
        traffic.Problem(n, n, HEAD_DIM, ITEMSIZE, heads=GPU_HEADS),
        4 * n**2 * HEAD_DIM * GPU_HEADS,
    )
    asked = {
        "standard": traffic.standard(problem, tile_rows=TILE, tile_columns=TILE).total,
        "tiled": traffic.tiled(problem, tile_rows=tile.queries, tile_columns=tile.keys).total,
    }
    yield steps.begin("both in turns")
    usual: dict[str, Any] = {"causal": False, "scale": HEAD_DIM**-0.5}
    times = timed(
        {
            "standard": forwards(four_kernels.forward, q, k, v, **usual),
            "tiled": forwards(flash.forward, q, k, v, **usual),
        }
    )
    # The intensity at which this rate would lie on the roof of memory: what bandwidth explains of the time.
    explained = {name: flops / time.median / roof.bandwidth for name, time in times.items()}
    # S and P cross DRAM, tiles of K and V mostly do not: their figure by formula is against L2.
    crossing = {"standard": 6 * n * n * ITEMSIZE * GPU_HEADS, "tiled": traffic.floor(problem).total}
    intensity = {name: flops / crossing[name] for name in times}
    for name, time in times.items():
        note = f"{flops / time.median / 1e12:.0f} TFLOP/s of {roof.peak / 1e12:.0f}"
        yield Row(name, intensity[name] if name == "standard" else None, explained[name], "FLOP/B", note)
        yield Row(f"asked of L2, {name}", flops / asked[name], None, "FLOP/B")
    yield Row(
        "ridge",
        None,
        roof.ridge,
        "FLOP/B",
        f"{roof.peak / 1e12:.0f} TFLOP/s, {roof.bandwidth / 1e12:.2f} TB/s",
    )
    wrong = []
    if explained["standard"] > ABOVE * intensity["standard"]:
        wrong.append("standard attention is faster than its bytes allow")
    if intensity["standard"] >= roof.ridge:
        wrong.append("standard attention is right of the ridge")
    if explained["tiled"] <= ABOVE * intensity["standard"]:
        wrong.append("tiled attention does not pass the roof that holds the standard one")
    yield Result(
        quantity="standard",
        formula=intensity["standard"],
        measured=explained["standard"],
        unit="FLOP/B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"standard attention stays under the roof of memory at {intensity['standard']:.0f} FLOP/B; the "
        f"tiled kernel reaches {explained['tiled'] / explained['standard']:.0f} times its rate, which DRAM "
        "could not feed it",
        spread=explained["standard"] * times["standard"].spread / times["standard"].median,
        derivation=f"S and P: 4·{HEAD_DIM} / (6·{ITEMSIZE}) = {intensity['standard']:.1f} FLOP/B, times "
        f"{roof.bandwidth / 1e12:.2f} TB/s is {roof.attainable(intensity['standard']) / 1e12:.0f} TFLOP/s at "
        f"most. Ridge: {roof.peak / 1e12:.0f} / {roof.bandwidth / 1e12:.2f} = {roof.ridge:.0f} FLOP/B.",
        limits=TIMED
        + " Measured here is the rate divided by bandwidth: the intensity at most, if every byte came "
        "from DRAM at full speed.",
    )
