"""The memory that scores and probabilities would take: asked, computed, and attempted."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import Steps, first_that_fits, free_bytes, on_gpu, taken_bytes, timed, verdict
from kernels.measure import memory
from kernels.wire import Event, Result, Row

BATCH, HEADS, HEAD_DIM = 8, 32, 128
ITEMSIZE = 2
GIB = 2**30
SHARE = 8  # on a CPU at most one part in so many of what is free, so that nothing else has to give way
# Pages are taken whole, and other threads of the process take some too: 2 % of the 16 MiB held at least.
TOLERANCE = 0.02

DEMO = Demo(
    name="the-256-gib",
    claim="S and P of one layer at N = 16,384 take 256 GiB; tiled attention never makes them.",
    question="Batch 8, 32 heads, N = 16,384 tokens, two bytes a number. How many GiB would the scores S and "
    "the probabilities P of one layer take together?",
    unit="GiB",
    form="number",
    needs=("torch",),
    devices=("cuda", "cpu"),
    params=(Param("n", 16384, (4096, 8192, 16384, 32768), "tokens"),),
    seconds=3.0,
    plan="Ask for S and P at that size, step down to what this machine holds, and scale up by N².",
    explain="""\
One matrix has N² numbers for each head of each sequence:

    N² · heads · batch · e = 16384² · 32 · 8 · 2 B
                           = 2²⁸ · 2⁸ · 2 B = 2³⁷ B = 128 GiB

and there are two of them, S and P: 256 GiB, for one layer, forward alone. An H200 has 141 GB. Training keeps
P of every layer until the backward pass.

The tiled kernel keeps one float32 logsumexp a query: 4 · N · heads · batch = 16 MiB, the 16,384th part.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """What they would take, what can be had, and what the tiled kernel takes."""
    n = params["n"]
    formula, logsumexp = _scores(n) / GIB, 4 * n * HEADS * BATCH
    free = free_bytes(device)
    steps = Steps(3 if device == "cuda" else 2)

    yield steps.begin(f"S and P at N = {n:,}")
    where = "the GPU" if device == "cuda" else "this machine"
    if device == "cuda":
        held, taken, refused = first_that_fits(_halves(n), _take)
        got = "granted" if not refused else "refused"
    else:
        # A system may promise memory that it does not have, so the full size is not even asked for.
        got = "granted" if free is not None and _scores(n) < free else "not tried: it would not fit"
        held = next(size for size in (512, 256, 128) if size == 128 or _scores(size) * SHARE <= (free or 0))
        taken = _take(held, device)
    yield Row("free here", None, None if free is None else free / GIB, "GiB", where)

    yield steps.begin(f"S and P at N = {held:,}")
    measured = taken * (n / held) ** 2 / GIB
    yield Row("S and P", formula, measured, "GiB", f"at N = {n:,}: {got}")
    yield Row(f"S and P at N = {held:,}", _scores(held) / GIB, taken / GIB, "GiB", "held, and measured")
    extra = logsumexp
    if device == "cuda":
        yield steps.begin(f"the tiled kernel at N = {n:,}")
        reached, (extra, note), _ = first_that_fits(_halves(n), _tiled)
        extra *= n // reached
        yield Row("beyond the output, tiled", logsumexp / GIB, extra / GIB, "GiB", note)
    else:
        yield Row("beyond the output, tiled", logsumexp / GIB, None, "GiB", "one float32 for each query")

    wrong = []
    if abs(measured / formula - 1) > TOLERANCE:
        wrong.append(f"N = {held:,} takes {taken:,} B and not {_scores(held):,} B")
    if extra > logsumexp * (1 + TOLERANCE):
        wrong.append(f"the tiled kernel takes {extra:,} B beyond its output, more than {logsumexp:,} B")
    yield Result(
        quantity="S and P",
        formula=formula,
        measured=measured,
        unit="GiB",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"S and P at N = {held:,} take {taken / GIB:.3g} GiB, and N = {n:,} takes ({n} / {held})² times "
        f"as much; the tiled kernel needs {logsumexp / 2**20:g} MiB beyond its output",
        spread=None if device == "cuda" else TOLERANCE * formula,
        derivation=f"{n}²·{HEADS}·{BATCH}·{ITEMSIZE} B = {_scores(n) // 2:,} B for one matrix, twice that "
        f"for S and P: {formula:g} GiB. Logsumexp: 4·{n}·{HEADS}·{BATCH} B = {logsumexp / 2**20:g} MiB.",
        limits="Memory that PyTorch gives out; what the driver keeps for itself comes on top."
        if device == "cuda"
        else "Resident memory of this process, at a size that fits; the full size is scaled up from it. The "
        "tiled kernel's own memory is by formula here.",
    )


def _scores(n: int) -> int:
    return 2 * n * n * HEADS * BATCH * ITEMSIZE


def _halves(n: int) -> list[int]:
    return [n >> step for step in range(8) if n >> step >= 128]


def _take(n: int, device: str = "cuda") -> int:
    """Make S and P, and say how much more memory is in use than before."""
    import torch

    torch.empty(2**20, dtype=torch.float16).fill_(1)  # code and threads are loaded now and not counted
    before = taken_bytes(device)
    shape = (BATCH, HEADS, n, n)
    s = torch.empty(shape, dtype=torch.float16, device="cuda" if device == "cuda" else "cpu")
    p = torch.empty_like(s)
    if device != "cuda":
        s.fill_(1)
        p.fill_(1)  # memory is the process's own once it is written
    after = taken_bytes(device)
    if before is None or after is None:
        return s.nbytes + p.nbytes
    return after - before


def _tiled(n: int) -> tuple[int, str]:
    """Bytes beyond the output at the peak of the tiled kernel, and how long it took.

    Raises torch.OutOfMemoryError if Q, K, V and O do not fit.
    """
    from kernels.attention import attention

    q, k, v = (on_gpu(BATCH, HEADS, n, HEAD_DIM) for _ in range(3))
    call = partial(attention, q, k, v, return_lse=True)
    call()
    extra = (memory.peak(call) or 0) - q.nbytes
    milliseconds = timed({"tiled": call})["tiled"].median * 1000
    return extra, f"N = {n:,}, d = {HEAD_DIM}, bf16: done in {milliseconds:.0f} ms"
