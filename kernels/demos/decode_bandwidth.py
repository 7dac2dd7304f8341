"""One new query for a whole cache: FLOPs for each byte."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import COUNTED, TIMED, Steps, ceilings, forwards, on_gpu, percent, timed, verdict
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row, Series

HEADS, HEAD_DIM = 8, 64
LENGTHS = (256, 512, 1024)
GPU_BATCH, GPU_HEADS, GPU_HEAD_DIM, GPU_LENGTHS = 16, 32, 128, (1024, 2048, 4096, 8192)
# A copy reads and writes, decoding only reads, which may go a little faster; three quarters of a copy's rate
# leaves room for the start of a kernel and the merge of its parts.
BELOW, ABOVE = 0.75, 1.2

DEMO = Demo(
    name="decode-bandwidth",
    claim="A step of decoding does one FLOP for each byte of K and V: its time is bytes over bandwidth.",
    question="Decoding: one new query for each head, and every head has keys and values of its own, in fp16. "
    "How many FLOPs does attention do for each byte that it reads?",
    unit="FLOP/B",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 1024, LENGTHS, "keys in the cache; a GPU takes 1024 to 8192"),),
    seconds=3.0,
    plan="Count the bytes of a decoding step, or time it against this GPU's bandwidth.",
    explain="""\
For each key a query does 2d FLOPs for its score and 2d for its value, and reads 2 · d numbers of e bytes:

    4 d / (2 d e) = 2 / e = 1 FLOP/B        at two bytes

N and d cancel. The ridge is 150 to 300, so the arithmetic is free and the time is bytes / bandwidth: 16
sequences of 8192 keys with 32 heads at d = 128 are 2.15 GB, half a millisecond on an H200.

There is no N × N matrix to spare, so FlashAttention has nothing to save here. What helps is fewer bytes (GQA,
fewer bits), more queries a read (batches share weights, speculation shares the cache), and enough programs at
work to draw the full bandwidth: split-KV. The matrix unit multiplies 16 rows at a time; 15 of them are
padding.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """FLOP/B, counted or timed."""
    yield from _on_gpu() if device == "cuda" else _counted(params["n"])


def _counted(longest: int) -> Iterator[Event]:
    lengths = [n for n in LENGTHS if n <= longest]
    steps = Steps(len(lengths))
    asked, wrong = [], []
    problem, padded = None, 0
    for n in lengths:
        yield steps.begin(f"{n} keys")
        problem = traffic.Problem(1, n, HEAD_DIM, 2, heads=HEADS)
        found = counted.decoding(problem, kv_heads=HEADS, splits=1)
        asked.append(found.bytes.total)
        padded = found.operations.flops
        formula = traffic.decoding(problem, kv_heads=HEADS, splits=1)
        if found.bytes.total != formula:
            wrong.append(f"{n} keys take {found.bytes.total:,} B and not {formula:,} B")
    assert problem is not None
    n, flops = lengths[-1], counted.decoding_flops(problem)
    formula = traffic.decoding(problem, kv_heads=HEADS, splits=1)
    cache = 2 * HEADS * n * HEAD_DIM * 2
    measured = flops / asked[-1]
    yield Row("intensity", flops / formula, measured, "FLOP/B")
    yield Row("bytes", formula, asked[-1], "B", f"K and V alone: {cache:,} B")
    yield Row("FLOPs needed", flops, None, "FLOP")
    yield Row("FLOPs of padded tiles", 16 * flops, padded, "FLOP", "16 rows a product, one of them a query")
    yield Series("bytes", lengths, asked, "keys", "B")
    wrong += [] if padded == 16 * flops else ["the padded FLOPs are not 16 times those needed"]
    yield Result(
        quantity="intensity",
        formula=flops / formula,
        measured=measured,
        unit="FLOP/B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"K and V are {percent(cache / formula, 1)} of the {formula:,} B, each read once, for {flops:,} "
        "FLOPs",
        derivation=f"4·{HEADS}·{n}·{HEAD_DIM} = {flops:,} FLOPs over {cache:,} B of K and V, and "
        f"{formula - cache:,} B of Q, O and the logsumexp: {flops / formula:.3f} FLOP/B.",
        limits=COUNTED + " Time is what a GPU adds: bytes over bandwidth.",
    )


def _on_gpu() -> Iterator[Event]:
    from kernels import decode

    steps = Steps(2)
    yield steps.begin("the bandwidth of this GPU")
    roof = ceilings()
    yield steps.begin(f"caches of {GPU_LENGTHS[0]:,} to {GPU_LENGTHS[-1]:,} keys")
    calls, problems = {}, {}
    for n in GPU_LENGTHS:
        q = on_gpu(GPU_BATCH, GPU_HEADS, 1, GPU_HEAD_DIM)
        k, v = (on_gpu(GPU_BATCH, GPU_HEADS, n, GPU_HEAD_DIM) for _ in range(2))
        calls[str(n)] = forwards(decode.forward, q, k, v, causal=True, scale=GPU_HEAD_DIM**-0.5)
        problems[n] = traffic.Problem(1, n, GPU_HEAD_DIM, 2, batch=GPU_BATCH, heads=GPU_HEADS)
    times = timed(calls)
    asked = {n: traffic.decoding(problems[n], kv_heads=GPU_HEADS, splits=1) for n in GPU_LENGTHS}
    for n in GPU_LENGTHS:
        time = times[str(n)].median
        yield Row(
            f"time, {n:,} keys", asked[n] / roof.bandwidth, time, "s", f"{asked[n] / time / 1e12:.2f} TB/s"
        )
    yield Series("time", GPU_LENGTHS, [times[str(n)].median for n in GPU_LENGTHS], "keys", "s")
    longest = GPU_LENGTHS[-1]
    time, flops = times[str(longest)], counted.decoding_flops(problems[longest])
    formula, measured = flops / asked[longest], flops / (time.median * roof.bandwidth)
    yield Row("intensity", formula, measured, "FLOP/B", "FLOPs over time and bandwidth")
    wrong = []
    if not BELOW <= measured / formula <= ABOVE:
        wrong.append(f"its bytes cross at {percent(measured / formula)} of the rate of a copy")
    yield Result(
        quantity="intensity",
        formula=formula,
        measured=measured,
        unit="FLOP/B",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"{asked[longest] / 1e9:.2f} GB take {time.median * 1e3:.2f} ms, {percent(measured / formula)} of "
        f"a copy's {roof.bandwidth / 1e12:.2f} TB/s, and {percent(flops / time.median / roof.peak, 1)} of "
        "the FLOPs that the GPU can do",
        spread=measured * time.spread / time.median,
        derivation=f"{flops:,} FLOPs over {asked[longest]:,} B = {formula:.3f} FLOP/B; at "
        f"{roof.bandwidth / 1e12:.2f} TB/s that takes {asked[longest] / roof.bandwidth * 1e3:.2f} ms.",
        limits=TIMED + " Measured is what time and bandwidth imply, not a count.",
    )
