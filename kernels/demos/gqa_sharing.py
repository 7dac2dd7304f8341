"""Query heads that share keys and values: fewer bytes for the same FLOPs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import (
    COUNTED,
    TIMED,
    Steps,
    ceilings,
    forwards,
    many,
    on_gpu,
    percent,
    timed,
    verdict,
)
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row, Series

HEADS, KEYS, HEAD_DIM = 8, 1024, 64
KV_HEADS = (8, 2, 1)
GPU_TIMES, GPU_BATCH, GPU_KEYS, GPU_HEAD_DIM = 4, 16, 8192, 128
# As in decoding at large: a copy's rate, less the start of a kernel, which weighs more as the bytes shrink.
BELOW, ABOVE = 0.6, 1.2

DEMO = Demo(
    name="gqa-sharing",
    claim="Query heads that share a KV head read it once together: bytes fall by the group, intensity rises "
    "by it.",
    question="Decoding in fp16: 8 query heads, one query each, share 2 KV heads. How many FLOPs does "
    "attention do for each byte, if a kernel reads each key and value once for its whole group?",
    unit="FLOP/B",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(
        Param("kv_heads", 2, KV_HEADS, f"KV heads for {HEADS} query heads; {GPU_TIMES} times both on a GPU"),
    ),
    seconds=3.0,
    plan="Count the bytes of a step with 8, 2 and 1 KV heads, or time them.",
    explain="""\
With g = heads / kv_heads query heads a group, each key and value serves g queries:

    FLOPs   4 · heads · N · d
    bytes   2 · kv_heads · N · d · e
    ratio   2 g / e = g FLOP/B at two bytes

1 for multi-head attention, g for grouped, the number of heads for multi-query. The cache shrinks by g as
well. Both need a model that was trained with it, or converted and trained on.

The saving needs a kernel that packs a group's queries into one tile. One that gives a program to each query
head asks for K and V g times, and relies on the cache between. On the matrix unit packing costs nothing: it
multiplies 16 rows in any case.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Intensity by number of KV heads, counted or timed."""
    yield from (_on_gpu if device == "cuda" else _counted)(params["kv_heads"])


def _counted(chosen: int) -> Iterator[Event]:
    steps = Steps(len(KV_HEADS))
    problem = traffic.Problem(1, KEYS, HEAD_DIM, 2, heads=HEADS)
    flops = counted.decoding_flops(problem)
    measured, formula, wrong = {}, {}, []
    for kv_heads in KV_HEADS:
        yield steps.begin(many(kv_heads, "KV head"))
        found = counted.decoding(problem, kv_heads=kv_heads, splits=1).bytes
        asked = traffic.decoding(problem, kv_heads=kv_heads, splits=1)
        cache, read = 2 * kv_heads * KEYS * HEAD_DIM * 2, found.read["K"] + found.read["V"]
        measured[kv_heads], formula[kv_heads] = flops / found.total, flops / asked
        yield Row(_name(kv_heads), formula[kv_heads], measured[kv_heads], "FLOP/B", f"of {HEADS} query heads")
        yield Row(f"K and V, {_name(kv_heads)}", cache, read, "B")
        if (read, found.total) != (cache, asked):
            wrong.append(
                f"with {many(kv_heads, 'KV head')} {found.total:,} B are asked for and not {asked:,} B"
            )
    yield Series("intensity", KV_HEADS[::-1], [measured[h] for h in KV_HEADS[::-1]], "KV heads", "FLOP/B")
    yield Result(
        quantity=_name(chosen),
        formula=formula[chosen],
        measured=measured[chosen],
        unit="FLOP/B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"K and V are read once a group: {HEADS // chosen} query heads share each byte, and the FLOPs "
        f"stay {flops:,}",
        derivation=f"4·{HEADS}·{KEYS}·{HEAD_DIM} = {flops:,} FLOPs over 2·{chosen}·{KEYS}·{HEAD_DIM}·2 = "
        f"{2 * chosen * KEYS * HEAD_DIM * 2:,} B of K and V and a little more: {formula[chosen]:.2f} FLOP/B.",
        limits=COUNTED,
    )


def _on_gpu(chosen: int) -> Iterator[Event]:
    from kernels import decode

    steps = Steps(2)
    yield steps.begin("the bandwidth of this GPU")
    roof = ceilings()
    heads = HEADS * GPU_TIMES
    yield steps.begin(f"{heads} query heads in groups")
    calls = {}
    for kv_heads in KV_HEADS:
        q = on_gpu(GPU_BATCH, heads, 1, GPU_HEAD_DIM)
        k, v = (on_gpu(GPU_BATCH, kv_heads * GPU_TIMES, GPU_KEYS, GPU_HEAD_DIM) for _ in range(2))
        calls[_name(kv_heads)] = forwards(decode.forward, q, k, v, causal=True, scale=GPU_HEAD_DIM**-0.5)
    times = timed(calls)
    problem = traffic.Problem(1, GPU_KEYS, GPU_HEAD_DIM, 2, batch=GPU_BATCH, heads=heads)
    flops, measured, formula, wrong = counted.decoding_flops(problem), {}, {}, []
    for kv_heads in KV_HEADS:
        time = times[_name(kv_heads)].median
        asked = traffic.decoding(problem, kv_heads=kv_heads * GPU_TIMES, splits=1)
        formula[kv_heads], measured[kv_heads] = flops / asked, flops / (time * roof.bandwidth)
        rate = f"{time * 1e6:.0f} µs, {asked / time / 1e12:.2f} TB/s"
        note = f"{kv_heads * GPU_TIMES} KV heads of {heads}: {rate}"
        yield Row(_name(kv_heads), formula[kv_heads], measured[kv_heads], "FLOP/B", note)
        if not BELOW <= measured[kv_heads] / formula[kv_heads] <= ABOVE:
            share = measured[kv_heads] / formula[kv_heads]
            wrong.append(f"{_name(kv_heads)} reads at {percent(share)} of the rate of a copy")
    time = times[_name(chosen)]
    yield Result(
        quantity=_name(chosen),
        formula=formula[chosen],
        measured=measured[chosen],
        unit="FLOP/B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"{HEADS // chosen} query heads to a KV head take {times[_name(HEADS)].median / time.median:.1f} "
        "times less time than heads that share nothing, for the same FLOPs",
        spread=measured[chosen] * time.spread / time.median,
        derivation=f"{flops:,} FLOPs over {flops / formula[chosen]:,.0f} B = {formula[chosen]:.2f} FLOP/B.",
        limits=TIMED + " Measured is what time and bandwidth imply, not a count.",
    )


def _name(kv_heads: int) -> str:
    group = HEADS // kv_heads
    return "no sharing" if group == 1 else f"groups of {group}"
