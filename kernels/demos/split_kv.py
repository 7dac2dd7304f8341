"""The keys of a cache in parts, each on its own multiprocessor, and merged."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import (
    FP32_ROUNDING,
    Steps,
    forwards,
    many,
    normal,
    off,
    on_gpu,
    percent,
    power,
    timed,
    verdict,
)
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row, Series

HEADS, KV_HEADS, HEAD_DIM = 8, 2, 64
SPLITS = (1, 2, 3, 4, 6, 8)
GPU_HEADS, GPU_KV_HEADS, GPU_HEAD_DIM, GPU_KEYS = 32, 8, 128, 65536
GPU_SPLITS = (1, 2, 4, 8, 16, 32, 64)
BF16_ROUNDING = 2.0**-8
CHOICES = (
    "nothing: the same bits",
    "rounding in the last bits",
    "about a per cent",
    "the tails of the distribution",
)

DEMO = Demo(
    name="split-kv",
    claim="A cache may be attended to in parts, whose outputs merge exactly; parts are what fills the chip.",
    question="One new query, and a cache cut into S parts. Each part gives an output and a logsumexp, from "
    "which a second kernel makes the answer. What does that cost in accuracy, in fp32, against one part?",
    unit="",
    form="choice",
    choices=CHOICES,
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 512, (256, 512), f"keys in the cache; {GPU_KEYS:,} on a GPU"),),
    seconds=4.0,
    plan="Decode with one part and with several, and compare the outputs; on a GPU also time them.",
    explain="""\
A part's finished output o_p with its logsumexp L_p is a summary of its keys, with sum 1 on the reference L_p.
So

    L = log Σ_p exp(L_p)        o = Σ_p exp(L_p - L) · o_p

is the softmax over all keys: the merge of online softmax, over parts instead of tiles. Exact over the real
numbers, in floating point equal up to the last bits, since the additions come in another order.

Why bother: one query has one tile, so a kernel that cuts queries starts batch · kv_heads programs. One
sequence with 8 KV heads keeps 8 of 132 multiprocessors busy, 6 %, and each can draw only its share of the
bandwidth. With 16 parts there are 128. The price is S outputs and logsumexps written and read in float32, and
a second kernel: 8 · S · d bytes a query head, nothing beside 4 · N · d for its keys and values.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Errors by number of parts, with bytes or with times."""
    yield from (_on_gpu if device == "cuda" else _counted)(params["n"])


def _counted(n: int) -> Iterator[Event]:
    from kernels import decode, standard

    steps = Steps(len(SPLITS) + 1)
    q = normal(1, HEADS, 1, HEAD_DIM, device="interpreter", dtype="float32")
    k, v = (normal(1, KV_HEADS, n, HEAD_DIM, device="interpreter", dtype="float32", seed=s) for s in (1, 2))
    scale = HEAD_DIM**-0.5
    exact, _ = standard.attention(q.double(), k.double(), v.double(), causal=True, scale=scale)
    # A sum of N terms in another order, and a few roundings more to merge.
    limit = math.sqrt(n) * FP32_ROUNDING
    wrong: list[str] = []
    outputs, largest = [], 0.0
    for splits in SPLITS:
        yield steps.begin(many(splits, "part"))
        o, _ = decode.forward(q, k, v, causal=True, scale=scale, splits=splits)
        outputs.append(o)
        largest = max(largest, off(o, outputs[0]))
        error = off(o, exact)
        yield Row(
            many(splits, "part"),
            None,
            error,
            "",
            f"{power(off(o, outputs[0]))} from one",
        )
        if not error <= limit:
            wrong.append(f"with {many(splits, 'part')} it is off by {power(error)}, more than {power(limit)}")
    most = SPLITS[-1]
    yield steps.begin("bytes")
    problem = traffic.Problem(1, n, HEAD_DIM, 2, heads=HEADS)
    formula = traffic.decoding(problem, kv_heads=KV_HEADS, splits=most)
    found = counted.decoding(problem, kv_heads=KV_HEADS, splits=most).bytes.total
    one = traffic.decoding(problem, kv_heads=KV_HEADS, splits=1)
    yield Row(f"bytes, {most} parts", formula, found, "B", f"one part: {one:,} B")
    wrong += [] if found == formula else [f"{most} parts ask for {found:,} B and not {formula:,} B"]
    alike = sum(bool((o == outputs[0]).all()) for o in outputs[1:])
    yield Result(
        quantity="largest difference from one part",
        formula=None,
        measured=largest,
        unit="",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"1 to {most} parts agree with float64 within {power(limit)} and with each other within "
        f"{power(largest)}; {alike} of {len(SPLITS) - 1} have the bits of one part",
        derivation=f"Rounding allows √{n}·2⁻²⁴ = {power(limit)}. At N = {n} in fp16 {most} parts take "
        f"{formula - one:,} B more than one, {percent((formula - one) / one)}; the share falls with N.",
        limits="The interpreter checks values and bytes. That parts fill the chip takes a GPU to see.",
        answer=_answer(alike == len(SPLITS) - 1, largest),
    )


def _on_gpu(_: int) -> Iterator[Event]:
    import torch

    from kernels import decode

    steps = Steps(2)
    yield steps.begin(f"{GPU_KEYS:,} keys in 1 to {GPU_SPLITS[-1]} parts")
    q = on_gpu(1, GPU_HEADS, 1, GPU_HEAD_DIM)
    k, v = (on_gpu(1, GPU_KV_HEADS, GPU_KEYS, GPU_HEAD_DIM) for _ in range(2))
    calls = {
        str(splits): forwards(decode.forward, q, k, v, causal=True, scale=GPU_HEAD_DIM**-0.5, splits=splits)
        for splits in GPU_SPLITS
    }
    outputs = {name: call()[0] for name, call in calls.items()}
    yield steps.begin("times in turns")
    times = timed(calls)
    multiprocessors = torch.cuda.get_device_properties().multi_processor_count
    moved = 2 * k.nbytes
    for splits in GPU_SPLITS:
        time, programs = times[str(splits)].median, GPU_KV_HEADS * splits
        note = f"{programs} programs on {multiprocessors} SMs, {moved / time / 1e12:.2f} TB/s"
        yield Row(many(splits, "part"), None, time, "s", note)
    yield Series("time", GPU_SPLITS, [times[str(splits)].median for splits in GPU_SPLITS], "parts", "s")
    largest = max(off(o, outputs["1"]) for o in outputs.values())
    best = min(GPU_SPLITS, key=lambda splits: times[str(splits)].median)
    gain = times["1"].median / times[str(best)].median
    wrong = []
    # Outputs are rounded to bf16, once each: two roundings apart at most.
    if not largest <= 2 * BF16_ROUNDING:
        wrong.append(f"parts are {power(largest)} apart")
    if gain < 2:
        wrong.append(f"{many(best, 'part')} at best: only {gain:.1f} times as fast as one")
    alike = all(bool((o == outputs["1"]).all()) for o in outputs.values())
    yield Result(
        quantity="largest difference from one part",
        formula=None,
        measured=largest,
        unit="",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"{best} parts take {times[str(best)].median * 1e6:.0f} µs and one takes "
        f"{times['1'].median * 1e6:.0f}, {gain:.0f} times as long, and they differ by {power(largest)}, the "
        "rounding of bf16",
        derivation=f"{GPU_KV_HEADS} KV heads are {GPU_KV_HEADS} programs for {multiprocessors} "
        f"multiprocessors, {percent(GPU_KV_HEADS / multiprocessors)}; with S parts {GPU_KV_HEADS}·S.",
        limits="One GPU, bf16 outputs; fp32 is compared in the interpreter.",
        answer=_answer(alike, largest if largest > 2 * BF16_ROUNDING else FP32_ROUNDING),
    )


def _answer(alike: bool, largest: float) -> str:
    if alike:
        return CHOICES[0]
    return CHOICES[1] if largest < 1e-4 else CHOICES[2] if largest < 0.1 else CHOICES[3]
