"""What FlashAttention-2 took away by swapping the loops and dividing once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import COUNTED, TIMED, Steps, differing, forwards, on_gpu, percent, timed, verdict
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row

HEAD_DIM, ITEMSIZE = 64, 2
TILE = 64
GPU_HEADS, GPU_N = 4, 8192
CHOICES = (
    "matrix FLOPs",
    "exponentials",
    "bytes of K and V",
    "divisions, and the trips of O and its statistics",
)

DEMO = Demo(
    name="fa2-deferred",
    claim="FlashAttention-2 does the same products and exponentials with one division an output and O on "
    "chip.",
    question="FlashAttention-1 takes a tile of keys and lets all queries pass by; FlashAttention-2 takes a "
    "tile of queries and lets all keys pass by, and divides o by l at the end. Of what does the second do "
    "less?",
    unit="×",
    form="choice",
    choices=CHOICES,
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 256, (128, 256, 512), f"queries and keys; {GPU_N:,} on a GPU"),),
    seconds=3.0,
    plan="Count what both compute and ask for, or time both with few heads.",
    explain="""\
With T tiles of keys (and of queries), for each head:

| | FlashAttention-1 | FlashAttention-2 |
|---|---|---|
| matrix FLOPs | 4 N² d | 4 N² d |
| exponentials | N² + N T | N² + N T |
| divisions | N d T: o stays normalised | N d: once, at the end |
| K and V read | once | T times |
| Q read | T times | once |
| O read and written | 2 T times | written once |
| l and m, float32 | 16 N T bytes | 4 N: one logsumexp |

Bytes fall by about 1.5 at d = 64 with square tiles. The larger gain is not among them. On an A100
vector operations run at a sixteenth of the rate of tensor cores, so a division for each entry of o and tile
is dear. And a tile of queries depends on no other, so the grid has heads · N / B programs in place of one a
head: with 4 heads, 4 of 132 multiprocessors worked.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Both orders of loops, counted or timed."""
    yield from _on_gpu() if device == "cuda" else _counted(params["n"])


def _counted(n: int) -> Iterator[Event]:
    from kernels.tiles import Tile

    steps = Steps(2)
    problem, tile, tiles = traffic.Problem(n, n, HEAD_DIM, ITEMSIZE), Tile(TILE, TILE), n // TILE
    yield steps.begin("FlashAttention-1")
    first = counted.keys_outside(problem, tile)
    yield steps.begin("FlashAttention-2")
    second = counted.tiled(problem, tile)
    formulas = {
        "FlashAttention-1": {
            **_work(n, divisions=n * HEAD_DIM * tiles),
            "bytes": traffic.keys_outside(problem, tile_columns=TILE).total,
        },
        "FlashAttention-2": {
            **_work(n, divisions=n * HEAD_DIM),
            "bytes": traffic.tiled(problem, tile_rows=TILE, tile_columns=TILE).total,
        },
    }
    found = {"FlashAttention-1": _found(first), "FlashAttention-2": _found(second)}
    wrong: list[str] = []
    for what, unit in (("divisions", ""), ("bytes", "B"), ("matrix FLOPs", "FLOP"), ("exponentials", "")):
        for name, short in (("FlashAttention-1", "FA1"), ("FlashAttention-2", "FA2")):
            yield Row(f"{what}, {short}", formulas[name][what], found[name][what], unit)
            wrong += differing({f"{what} of {name}": (formulas[name][what], found[name][what])})
    kv = [sum(one.bytes.read[x] for x in ("K", "V")) for one in (first, second)]
    yield Row("K and V, FA1", 2 * n * HEAD_DIM * ITEMSIZE, kv[0], "B", "once")
    yield Row(
        "K and V, FA2", 2 * n * HEAD_DIM * ITEMSIZE * tiles, kv[1], "B", f"{tiles} times: more, not less"
    )
    fewer = first.operations.divisions / second.operations.divisions
    less = {
        CHOICES[0]: second.operations.flops < first.operations.flops,
        CHOICES[1]: second.operations.exponentials < first.operations.exponentials,
        CHOICES[2]: kv[1] < kv[0],
        CHOICES[3]: second.operations.divisions < first.operations.divisions,
    }
    answers = [choice for choice, is_less in less.items() if is_less]
    wrong += [] if answers == [CHOICES[3]] else [f"it does less of: {', '.join(answers) or 'nothing'}"]
    yield Result(
        quantity="divisions, FA1 against FA2",
        formula=float(tiles),
        measured=fewer,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"the same FLOPs and exponentials with {fewer:g} times fewer divisions and "
        f"{first.bytes.total / second.bytes.total:.2f} times fewer bytes, although K and V are read {tiles} "
        "times and not once",
        derivation=f"Divisions: {n}·{HEAD_DIM}·{tiles} = {n * HEAD_DIM * tiles:,} against {n}·{HEAD_DIM} = "
        f"{n * HEAD_DIM:,}. Bytes: {first.bytes.total:,} against {second.bytes.total:,}.",
        limits=COUNTED + " That one has a program a head and the other many is for a GPU to show.",
        answer=answers[0] if len(answers) == 1 else None,
    )


def _work(n: int, *, divisions: int) -> dict[str, int]:
    exponentials = n * n + n * (n // TILE)
    return {"matrix FLOPs": 4 * n * n * HEAD_DIM, "exponentials": exponentials, "divisions": divisions}


def _found(one: counted.Counted) -> dict[str, int]:
    done = one.operations
    return {
        "matrix FLOPs": done.flops,
        "exponentials": done.exponentials,
        "divisions": done.divisions,
        "bytes": one.bytes.total,
    }


def _on_gpu() -> Iterator[Event]:
    import torch

    from kernels import flash, flash_fa1, tiles

    steps = Steps(2)
    yield steps.begin(f"{GPU_HEADS} heads of N = {GPU_N:,}")
    q, k, v = (on_gpu(1, GPU_HEADS, GPU_N, HEAD_DIM) for _ in range(3))
    usual: dict[str, Any] = {"causal": False, "scale": HEAD_DIM**-0.5}
    calls = {
        "FlashAttention-1": forwards(flash_fa1.forward, q, k, v, **usual),
        "FlashAttention-2": forwards(flash.forward, q, k, v, **usual),
    }
    yield steps.begin("both in turns")
    times = timed(calls)
    multiprocessors = torch.cuda.get_device_properties().multi_processor_count
    rows = flash.tile_for(HEAD_DIM, ITEMSIZE, tiles.capability(q)).queries
    programs = {"FlashAttention-1": GPU_HEADS, "FlashAttention-2": GPU_HEADS * -(-GPU_N // rows)}
    for name, time in times.items():
        yield Row(
            f"time, {name}", None, time.median, "s", f"{programs[name]} programs, {multiprocessors} SMs"
        )
    faster = times["FlashAttention-1"].median / times["FlashAttention-2"].median
    yield Row("time, FA1 against FA2", None, faster, "×")
    # With one program a head most of the chip idles: anything under five would be another story.
    wrong = [] if faster >= 5 else [f"FlashAttention-2 is only {faster:.1f} times as fast"]
    yield Result(
        quantity="time, FA1 against FA2",
        formula=None,
        measured=faster,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"with {GPU_HEADS} heads the second is {faster:.0f} times faster: {programs['FlashAttention-2']} "
        f"programs in place of {GPU_HEADS} for {multiprocessors} multiprocessors, and o stays on chip",
        spread=faster * sum(time.spread / time.median for time in times.values()),
        derivation=f"{GPU_HEADS} of {multiprocessors} multiprocessors are "
        f"{percent(GPU_HEADS / multiprocessors)}; divisions fall {GPU_N // TILE} times, and "
        f"O is written once in place of {GPU_N // TILE} times.",
        limits=TIMED + " A GPU cannot count divisions: the interpreter does. The kernel with the first order "
        "of loops is written to be counted, not tuned.",
        answer=CHOICES[3],
    )
