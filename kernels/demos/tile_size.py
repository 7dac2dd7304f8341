"""What taller tiles save, and what stops them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import COUNTED, TIMED, Steps, forwards, many, on_gpu, power, timed, verdict
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row, Series

HEAD_DIM, ITEMSIZE = 64, 2
TILE_KEYS = 64
HEIGHTS = (16, 32, 64, 128, 256)
# Shared memory: what a program needs at d = 128, and what one may have on an H100 (228 KB less 1 KB).
WIDE, STAGES, LIMIT = 128, 3, 227 * 1024
GPU_N, GPU_HEADS, GPU_STAGES = 4096, 16, 2
TOO_DEEP = 4  # stages of 128 by 128 tiles: 288 KB
CHOICES = (
    "nothing: the taller the better",
    "shared memory and registers of a multiprocessor",
    "the size of the L2 cache",
    "the number of heads",
)

DEMO = Demo(
    name="tile-size",
    claim="K and V are read once for each tile of queries, so taller tiles read less, until they no longer "
    "fit.",
    question="A program holds a tile of queries while all of K and V pass by. Twice as many queries a tile "
    "is half the reads of K and V. What stops the tile from growing?",
    unit="",
    form="choice",
    choices=CHOICES,
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 256, (128, 256), "queries and keys counted"),),
    seconds=3.0,
    plan="Count the bytes of K and V at five heights of a tile, or time them, and look for the first that "
    "cannot be had.",
    explain="""\
With tiles of B queries, K and V are read ⌈N / B⌉ times: 2 N d e ⌈N / B⌉ bytes, halved by each doubling. In
FLOP/B that is about B: 4 B · keys · d FLOPs for 2 · keys · d · 2 bytes. So a tile wants to be taller than the
ridge of the memory that feeds it, 128 rows or so.

On chip it costs, with s tiles of keys in flight, at two bytes:

    shared memory = (B + 2 · s · keys) · d · e

128 × 128 at d = 128 with s = 2 is 160 KiB, with s = 3 it is 224 KiB, with s = 4 it is 288 KiB, and a program
on an H100 may have 227 KiB. The output of the tile sits in registers, B · d floats: 128 × 128 over 128
threads is 128 registers each of the 255 that a thread can have, beside the scores. Past that the compiler
spills.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Bytes by height, or times; then the tile that does not fit."""
    yield from _on_gpu() if device == "cuda" else _counted(params["n"])


def _counted(n: int) -> Iterator[Event]:
    from kernels.tiles import Tile

    steps = Steps(len(HEIGHTS))
    formulas, found = [], []
    for rows in HEIGHTS:
        yield steps.begin(f"{rows} queries a tile")
        asked = counted.tiled(traffic.Problem(n, n, HEAD_DIM, ITEMSIZE), Tile(rows, TILE_KEYS)).bytes
        formulas.append(2 * n * HEAD_DIM * ITEMSIZE * -(-n // rows))
        found.append(asked.read["K"] + asked.read["V"])
        yield Row(
            f"{rows} queries a tile",
            formulas[-1],
            found[-1],
            "B",
            f"K and V, read {many(-(-n // rows), 'time')}",
        )
    yield Series("K and V", HEIGHTS, found, "queries a tile", "B")
    needed = {rows: _shared(rows, WIDE, STAGES) for rows in HEIGHTS}
    for rows, size in needed.items():
        # In KiB: bytes of another kind than those that a chart of K and V compares.
        fits = "fits" if size <= LIMIT else "too much"
        yield Row(f"shared memory, {rows} by {WIDE}", size / 1024, None, "KiB", fits)
    too_tall = [rows for rows, size in needed.items() if size > LIMIT]
    wrong = [] if found == formulas else ["K and V bytes differ from the formula"]
    wrong += [] if too_tall else ["every height fits"]
    yield Result(
        quantity=f"K and V, {HEIGHTS[-1]} queries a tile",
        formula=formulas[-1],
        measured=found[-1],
        unit="B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"each doubling halves K and V bytes until one tile holds all {n} queries; at d = {WIDE} with "
        f"{STAGES} tiles of {WIDE} keys in flight, {too_tall[0]} queries would take "
        f"{needed[too_tall[0]] // 1024} KiB of the {LIMIT // 1024} KiB that a program may have on an H100",
        derivation=f"2·{n}·{HEAD_DIM}·{ITEMSIZE}·⌈{n} / B⌉ B for K and V. Shared memory for B = "
        f"{too_tall[0]}: ({too_tall[0]} + 2·{STAGES}·{WIDE})·{WIDE}·{ITEMSIZE} B = {needed[too_tall[0]]:,} B."
        if too_tall
        else "",
        limits=COUNTED + " Shared memory by formula: a compiler adds what it needs.",
        answer=CHOICES[1] if too_tall else CHOICES[0],
    )


def _on_gpu() -> Iterator[Event]:
    from kernels import flash
    from kernels.tiles import Tile

    steps = Steps(3)
    yield steps.begin("inputs")
    q, k, v = (on_gpu(1, GPU_HEADS, GPU_N, WIDE) for _ in range(3))

    def call(tile: Tile) -> Any:
        return forwards(flash.forward, q, k, v, causal=False, scale=WIDE**-0.5, tile=tile)

    yield steps.begin(f"{len(HEIGHTS)} heights")
    calls, limits = {}, []
    for rows in HEIGHTS:
        tile = Tile(rows, TILE_KEYS, warps=8 if rows >= 128 else 4, stages=GPU_STAGES)
        refusal = _refused(call(tile))
        if refusal:
            limits.append(rows)
            yield Row(f"{rows} queries a tile", None, None, "s", f"refused: {refusal}")
        else:
            calls[rows] = call(tile)
    times = timed({str(rows): chosen for rows, chosen in calls.items()})
    for rows in calls:
        kv = 2 * GPU_N * WIDE * ITEMSIZE * -(-GPU_N // rows) * GPU_HEADS
        yield Row(
            f"{rows} queries a tile",
            None,
            times[str(rows)].median,
            "s",
            f"asks for {kv / 1e9:.2f} GB of K, V",
        )
    yield Series("time", list(calls), [times[str(rows)].median for rows in calls], "queries a tile", "s")

    yield steps.begin(f"{WIDE} by {WIDE} with {TOO_DEEP} stages")
    refusal = _refused(call(Tile(WIDE, WIDE, warps=8, stages=TOO_DEEP)))
    needs, has = (refusal.required, refusal.limit) if refusal else (None, None)
    formula = _shared(WIDE, WIDE, TOO_DEEP)
    yield Row(f"shared memory, {TOO_DEEP} stages", formula, needs, "B", f"a program may have {has} B")

    best = min(calls, key=lambda rows: times[str(rows)].median)
    # Who reads three digits of each time sees no difference between these.
    shown = {rows: power(times[str(rows)].median, 3) for rows in calls}
    fastest = [rows for rows in calls if shown[rows] == shown[best]]
    wrong = [] if refusal else [f"{WIDE} by {WIDE} with {TOO_DEEP} stages fits"]
    if HEIGHTS[0] in fastest:
        wrong.append("no tile is faster than the lowest")
    # Barriers and the like come on top, a few hundred bytes.
    if needs is not None and not formula <= needs <= formula + 4096:
        wrong.append(f"shared memory is {needs:,} B and not about {formula:,} B")
    yield Result(
        quantity="shared memory",
        formula=formula,
        measured=needs,
        unit="B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"{' and '.join(map(str, fastest))} queries a tile are fastest, "
        f"{times[str(HEIGHTS[0])].median / times[str(best)].median:.1f} times faster than {HEIGHTS[0]}; a "
        f"tile that needs {needs:,} B of shared memory is refused",
        derivation=f"({WIDE} + 2·{TOO_DEEP}·{WIDE})·{WIDE}·{ITEMSIZE} B = {formula:,} B.",
        limits=TIMED + " Registers are not shown: past them the compiler spills, and the time tells.",
        answer=CHOICES[1] if refusal else CHOICES[0],
    )


def _shared(rows: int, keys: int, stages: int) -> int:
    """Bytes of shared memory at d = WIDE: the queries, and K and V for each stage."""
    return (rows + 2 * stages * keys) * WIDE * ITEMSIZE


def _refused(call: Any) -> Any:
    """What the compiler says if the kernel needs more than there is; None if it runs."""
    from triton.runtime.errors import OutOfResources

    try:
        call()
    except OutOfResources as refusal:
        return refusal
    return None
