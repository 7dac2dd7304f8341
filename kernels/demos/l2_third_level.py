"""Between what a kernel asks for and what DRAM moves lies a cache."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import Steps, ceilings, forwards, on_gpu, timed, verdict
from kernels.measure import traffic
from kernels.wire import Call, Event, Result, Row, Series

HEAD_DIM, ITEMSIZE = 64, 2
TILE = 64
KIB = 1024
SIZES = (16 * KIB, 64 * KIB, 256 * KIB, 1024 * KIB, 4096 * KIB)
LENGTHS = (128, 256, 512)
GPU_N, GPU_HEADS = 16384, 16
COUNTER_SLACK = 1.1  # the profiler's own reads, and instructions and constants

DEMO = Demo(
    name="l2-third-level",
    claim="Tiled attention asks for K and V many times over; a cache that holds them lets DRAM move them "
    "once.",
    question="At N = 512, d = 64, fp16 the tiled kernel asks for 1,181,696 bytes. The cache between it and "
    "DRAM holds 256 KiB, and K and V of the head take 128 KiB. How many bytes cross DRAM?",
    unit="B",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 512, LENGTHS, "queries and keys"),),
    seconds=4.0,
    plan="Replay every access through caches of five sizes, or read a GPU's counters.",
    explain="""\
Three levels, three byte counts:

- **requested**: what the programs ask for. K and V once for each tile of queries: 2 N d e (1 + N / B) + 4 N;
- **footprint**: each byte once: 4 N d e + 4 N;
- **DRAM**: in between, by what the cache keeps. With least-recently-used replacement, K and V are kept from
  one tile of queries to the next if both fit, beside Q and O passing by. If not, a loop over them finds
  nothing of what it left: all or nothing.

K and V of a head at N = 16,384, d = 128 take 8 MiB, and an H200 has at least 50 MiB of L2: there DRAM traffic
looks linear, while requests grow with N². S and P of standard attention are N² themselves and fit nowhere for
long N. So the tile has to be tall enough for L2's bandwidth, and fusing it is what spares DRAM.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """A replay, or the hardware's counters."""
    yield from (_on_gpu if device == "cuda" else _replayed)(params["n"])


def _replayed(n: int) -> Iterator[Event]:
    import torch

    from kernels import flash, four_kernels
    from kernels.measure import l2
    from kernels.tiles import Tile

    steps = Steps(4)
    problem, tile = traffic.Problem(n, n, HEAD_DIM, ITEMSIZE), Tile(TILE, TILE)
    q, k, v, o = torch.zeros(4, 1, 1, n, HEAD_DIM, dtype=torch.float16)
    s, p = torch.zeros(2, 1, 1, n, n, dtype=torch.float16)
    usual: dict[str, Any] = {"causal": False, "scale": 1.0, "tile": tile}
    yield steps.begin("tiled: trace")
    with l2.tracing() as tiled:
        flash.launch(q, k, v, o, torch.zeros(1, 1, n), **usual)
    yield steps.begin("tiled: replay")
    moved = {size: l2.dram_bytes(tiled, size) for size in SIZES}
    yield steps.begin("standard: trace")
    with l2.tracing() as standard:
        four_kernels.launch(q, k, v, s, p, o, **usual)
    yield steps.begin("standard: replay")
    standard_moved = {size: l2.dram_bytes(standard, size) for size in SIZES}

    requested = traffic.tiled(problem, tile_rows=TILE, tile_columns=TILE).total
    floor, kv = traffic.floor(problem).total, 2 * n * HEAD_DIM * ITEMSIZE
    # Beside K and V a tile of Q and of O pass by, and the logsumexp: with twice K and V there is room for
    # all.
    enough = next(size for size in SIZES if size >= 2 * kv)
    nothing = next((size for size in reversed(SIZES) if size < kv), None)
    yield Row("tiled, requested", requested, l2.SECTOR * sum(len(a.sectors) for a in tiled), "B")
    yield Row("tiled, footprint", floor, l2.footprint(tiled), "B", "each byte once")
    for size in SIZES:
        formula = floor if size >= enough else requested if size < kv else None
        yield Row(
            f"tiled, {size // KIB} KiB", formula, moved[size], "B", f"standard {standard_moved[size]:,} B"
        )
    for name, found in (("tiled", moved), ("standard", standard_moved)):
        yield Series(name, SIZES, list(found.values()), "B of cache", "B")
    wrong = [] if moved[enough] == floor else [f"{enough // KIB} KiB do not keep K and V"]
    if nothing is not None and moved[nothing] != requested:
        wrong.append(f"{nothing // KIB} KiB keep something")
    yield Result(
        quantity=f"tiled, {enough // KIB} KiB",
        formula=floor,
        measured=moved[enough],
        unit="B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"a cache of {enough // KIB} KiB keeps the {kv // KIB} KiB of K and V: {requested:,} B are asked "
        f"for and {floor:,} B cross DRAM; standard attention moves {standard_moved[enough]:,} B there",
        derivation=f"Q, K, V and O once: 4·{n}·{HEAD_DIM}·{ITEMSIZE} = {2 * kv:,} B; logsumexp 4·{n} = "
        f"{4 * n:,} B. Together {floor:,} B.",
        limits="A model: least recently used goes first, programs run one after another. A GPU runs hundreds "
        "at once, which share the cache. Only its counters can tell.",
        calls=_calls(n),
    )


def _on_gpu(n: int) -> Iterator[Event]:
    import torch

    from kernels import flash
    from kernels.measure import counters
    from kernels.tiles import Tile

    steps = Steps(3)
    floor = traffic.floor(traffic.Problem(n, n, HEAD_DIM, ITEMSIZE)).total
    yield steps.begin("hardware counters")
    counted = counters.count("flash", n=n, d=HEAD_DIM)
    read = sum(kernel.read for kernel in counted.kernels)
    written = sum(kernel.written for kernel in counted.kernels)
    inputs = 3 * n * HEAD_DIM * ITEMSIZE
    wrong: list[str] = []
    if not counted.why:
        yield Row("tiled, read from DRAM", inputs, read, "B", "by the hardware's counter; cold caches")
        yield Row("tiled, written to DRAM", None, written, "B", "the rest of O was still in L2 at the end")
        if read > COUNTER_SLACK * inputs + 64 * KIB:
            wrong.append(f"{read:,} B are read for inputs of {inputs:,} B")

    # Without counters time still tells: fewer bytes can have crossed than bandwidth allows in it.
    yield steps.begin(f"inputs of N = {GPU_N:,}")
    q, k, v = (on_gpu(1, GPU_HEADS, GPU_N, HEAD_DIM) for _ in range(3))
    tile = Tile(TILE, 2 * TILE)  # low, so that it asks for K and V more often than DRAM could answer
    problem = traffic.Problem(GPU_N, GPU_N, HEAD_DIM, ITEMSIZE, heads=GPU_HEADS)
    asked = traffic.tiled(problem, tile_rows=tile.queries, tile_columns=tile.keys).total
    yield steps.begin("time and bandwidth")
    roof = ceilings()
    call = forwards(flash.forward, q, k, v, causal=False, scale=HEAD_DIM**-0.5, tile=tile)
    time = timed({"tiled": call})["tiled"]
    most = roof.bandwidth * time.median
    l2_size = torch.cuda.get_device_properties().L2_cache_size
    yield Row(
        f"requested, N = {GPU_N:,}", asked, None, "B", f"{GPU_HEADS} heads, tiles of {tile.queries} queries"
    )
    yield Row(
        "DRAM in that time, at most",
        None,
        most,
        "B",
        f"{time.median * 1e3:.2f} ms at {roof.bandwidth / 1e12:.2f} TB/s",
    )
    if most >= asked:
        wrong.append("DRAM could have moved all that was asked for")
    yield Result(
        quantity="tiled",
        formula=floor,
        measured=None if counted.why else read + (floor - inputs),
        unit="B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"at N = {GPU_N:,} the kernel asks for {asked / 1e9:.1f} GB in a time in which DRAM moves "
        f"{most / 1e9:.1f} GB at most: the L2 of {l2_size // 2**20} MiB served the rest"
        + ("" if counted.why else f"; the counter reads {read:,} B for inputs of {inputs:,} B"),
        spread=None,
        derivation=f"Q, K, V and O once at N = {n}: 4·{n}·{HEAD_DIM}·{ITEMSIZE} + 4·{n} = {floor:,} B.",
        limits=f"No counter: {counted.why}."
        if counted.why
        else "The counter's reads, and writes by formula: what is in L2 at the end has not been written yet.",
        calls=_calls(n) if counted.why else (),
    )


def _calls(n: int) -> tuple[Call, ...]:
    return (Call("tiled", "flash", n, HEAD_DIM, 1, "float16"),)
