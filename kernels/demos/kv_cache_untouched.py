"""The KV cache of a model, before and after FlashAttention."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import Steps, first_that_fits, forwards, normal, taken_bytes, verdict
from kernels.measure import memory
from kernels.wire import Event, Result, Row

LAYERS, HEADS, KV_HEADS, HEAD_DIM = 32, 32, 8, 128  # Llama-3-8B
ITEMSIZE = 2
GIB = 2**30
COUNTED_TOKENS = 512  # what the interpreter reads in about a second
TOKEN = 2 * LAYERS * KV_HEADS * HEAD_DIM * ITEMSIZE

DEMO = Demo(
    name="kv-cache-untouched",
    claim="FlashAttention leaves the KV cache as large as it was, and each step still reads all of it.",
    question="Llama-3-8B (32 layers, 8 KV heads, d = 128) in bf16, one sequence of 131,072 tokens. How many "
    "GiB is its KV cache once the model runs on FlashAttention?",
    unit="GiB",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("tokens", 131072, (8192, 32768, 131072), "tokens of context"),),
    seconds=4.0,
    plan="Read the cache of a layer with one new query, and count or weigh what is there before and after.",
    explain="""\
For each token every layer keeps one key and one value of each KV head:

    2 · layers · kv_heads · d · e = 2 · 32 · 8 · 128 · 2 B = 128 KiB a token

and 131,072 tokens make 16 GiB. FlashAttention removes S and P, which exist while a layer computes. It does
not touch what is kept between steps: the same tensors, read once in full for every new token. At one query
there is no N × N matrix to save in the first place.

What does shrink the cache changes the model or the numbers: fewer KV heads (GQA, MQA), a latent (MLA), 8-bit
or 4-bit entries, a window. Paging wastes less of it, and does not make it smaller.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """The cache's size, and what a step reads of it."""
    tokens = params["tokens"]
    formula = tokens * TOKEN / GIB
    yield from (_on_gpu if device == "cuda" else _counted)(tokens, formula)


def _counted(tokens: int, formula: float) -> Iterator[Event]:
    from kernels import decode
    from kernels.measure.bytes import counting

    steps = Steps(2)
    yield steps.begin(f"a layer's cache of {COUNTED_TOKENS} tokens")
    q = normal(1, HEADS, 1, HEAD_DIM, device="interpreter")
    k, v = (normal(1, KV_HEADS, COUNTED_TOKENS, HEAD_DIM, device="interpreter", seed=s) for s in (1, 2))
    held = k.nbytes + v.nbytes
    measured = held * LAYERS / COUNTED_TOKENS * tokens / GIB
    yield Row("KV cache", formula, measured, "GiB", f"{TOKEN // 1024} KiB a token, scaled up")

    yield steps.begin("one step of the tiled kernel")
    with counting(K=k, V=v) as count:
        decode.forward(q, k, v, causal=True, scale=HEAD_DIM**-0.5, splits=1)
    read = count.ledger.read.get("K", 0) + count.ledger.read.get("V", 0)
    yield Row("read by a step, one layer", held, read, "B", f"of {COUNTED_TOKENS} tokens: all of it, once")
    wrong = [] if read == held else [f"a step reads {read:,} B of a cache of {held:,} B"]
    wrong += [] if measured == formula else [f"the cache takes {measured:g} GiB"]
    yield Result(
        quantity="KV cache",
        formula=formula,
        measured=measured,
        unit="GiB",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"the tiled kernel takes the same keys and values, {TOKEN // 1024} KiB a token, and reads every "
        "byte of them once for each new token",
        derivation=_derivation(tokens, formula),
        limits=f"One layer and {COUNTED_TOKENS} tokens are held and counted; the rest is a multiple of that.",
    )


def _on_gpu(tokens: int, formula: float) -> Iterator[Event]:
    import torch

    from kernels.attention import attention

    steps = Steps(3)
    yield steps.begin(f"the cache of {tokens:,} tokens")
    before = taken_bytes("cuda") or 0
    sizes = [tokens >> step for step in range(8)]
    held, cache, refused = first_that_fits(
        sizes,
        lambda n: torch.zeros(LAYERS, 2, 1, KV_HEADS, n, HEAD_DIM, dtype=torch.bfloat16, device="cuda"),
    )
    measured = ((taken_bytes("cuda") or 0) - before) * (tokens / held) / GIB
    note = f"only {held:,} tokens fit, scaled up" if refused else "all of it, on the GPU"
    yield Row("KV cache", formula, measured, "GiB", note)
    q = torch.zeros(1, HEADS, 1, HEAD_DIM, dtype=torch.bfloat16, device="cuda")
    k, v = cache[0]
    calls = {
        "standard": forwards(attention, q, k, v, impl="standard"),
        "tiled": forwards(attention, q, k, v),
    }
    for call in calls.values():
        call()  # libraries take a workspace at their first call, and keep it
    with_cache = taken_bytes("cuda") or 0
    for name, call in calls.items():
        yield steps.begin(f"one step, {name}")
        extra = memory.peak(call) or 0
        yield Row(f"beside it, {name}", None, extra / GIB, "GiB", "for a step of one layer, then freed")
    changed = (taken_bytes("cuda") or 0) - with_cache
    yield Row("change of the cache", 0, changed, "B")
    wrong = [] if changed == 0 else [f"the cache changes by {changed:,} B"]
    # The allocator hands out blocks of 512 bytes, and large ones in multiples of 2 MiB.
    if abs(measured / formula - 1) > 0.01:
        wrong.append(f"the cache takes {measured:g} GiB")
    yield Result(
        quantity="KV cache",
        formula=formula,
        measured=measured,
        unit="GiB",
        verdict=verdict(wrong),
        why="; ".join(wrong) or "neither implementation changes it: both are given the same keys and values",
        derivation=_derivation(tokens, formula),
        limits="The cache of the model, without its weights.",
    )


def _derivation(tokens: int, formula: float) -> str:
    return (
        f"2·{LAYERS}·{KV_HEADS}·{HEAD_DIM}·{ITEMSIZE} B = {TOKEN // 1024} KiB a token; "
        f"times {tokens:,} tokens is {formula:g} GiB, with and without FlashAttention."
    )
