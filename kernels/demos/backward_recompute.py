"""P stored for the backward pass, or computed again: which is faster?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernels.demos import Demo, Param
from kernels.demos.common import TIMED, Steps, normal, on_gpu, timed, verdict
from kernels.measure import counted, roofline, traffic
from kernels.wire import Event, Result, Row

if TYPE_CHECKING:
    from torch import Tensor

HEAD_DIM, ITEMSIZE = 64, 2
TILE = 64
CHIP, LONG = "H200", 8192  # where the counts are put on a roofline
GPU_N, GPU_HEADS, GPU_HEAD_DIM = 4096, 16, 128
CHOICES = (
    "P stored: it does fewer FLOPs",
    "P computed again: it moves fewer bytes",
    "neither: both do the same FLOPs",
)

DEMO = Demo(
    name="backward-recompute",
    claim="A backward pass that computes P again does more FLOPs, keeps 4 bytes a query, and is faster.",
    question="The backward pass needs the probabilities P. Kept from the forward pass they are N × N "
    "numbers; or they are computed again from Q, K and one logsumexp a query, which adds matrix products. "
    "Which is faster on a GPU?",
    unit="×",
    form="choice",
    choices=CHOICES,
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 256, (128, 256), f"queries and keys; {GPU_N:,} on a GPU"),),
    seconds=4.0,
    plan="Count FLOPs and what is kept for the gradient, or time both backward passes.",
    explain="""\
With P at hand the backward pass is four products, 8 N² d FLOPs: dV = PᵀdO, dP = dO Vᵀ, dQ = dS K, dK = dSᵀ Q.
Computing P = exp(QKᵀ - L) again is a fifth: 10 N² d, a quarter more. The kernel here walks over the tiles
twice, once for dK and dV and once for dQ, and computes P and dP in both: seven products, 14 N² d. In exchange
no two programs add to one number, and the gradient is the same to the last bit every time.

Kept for it: L, 4 N bytes a head, in place of P, 2 N² bytes: N / 2 times less. No maximum and no sum is looked
for again, since exp(s - L) is normalised already. And D = rowsum(dO ∘ O) replaces a sum over N keys.

Why it is faster: seven N × N passes at two bytes are 14 N² B. On an H200 they take 14 N² / 4.8e12 seconds,
and 14 N² d FLOPs take 14 N² d / 989e12: the bytes lose for any d below 206.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """What each computes and keeps; on a GPU also how long it takes."""
    yield from (_on_gpu if device == "cuda" else _counted)(params["n"])


def _counted(n: int) -> Iterator[Event]:
    steps = Steps(3)
    yield steps.begin("backward in tiles")
    flops = counted.backward(traffic.Problem(n, n, HEAD_DIM, ITEMSIZE), TILE, TILE).operations.flops
    stored = 8 * n * n * HEAD_DIM
    yield Row("FLOPs, P again", 14 * n * n * HEAD_DIM, flops, "FLOP", "seven products in two walks")
    yield Row("FLOPs, P stored", stored, None, "FLOP", "four products; in one walk five: 10 N² d")
    yield Row("FLOPs against P stored", 14 / 8, flops / stored, "×")
    kept = {}
    for name, impl in (("tiled", "flash"), ("standard", "standard")):
        yield steps.begin(f"what {name} keeps")
        kept[name] = _kept(normal(3, 1, 1, n, HEAD_DIM, device="interpreter"), impl)
    yield Row("kept extra, tiled", 4 * n, kept["tiled"], "B", "beyond Q, K, V, O: a float32 a query")
    yield Row("kept extra, standard", None, kept["standard"], "B", f"P alone: {2 * n * n:,} B")

    roof = roofline.sheet(CHIP)
    again = 14 * LONG**2 * HEAD_DIM / roof.peak
    passes = 7 * LONG**2 * ITEMSIZE / roof.bandwidth
    yield Row(f"{CHIP} floor, P again", again, None, "s", f"N = {LONG}, by FLOPs")
    yield Row(f"{CHIP} floor, P stored", passes, None, "s", f"N = {LONG}, by bytes")
    wrong = [] if flops == 14 * n * n * HEAD_DIM else [f"{flops:,} FLOPs are not 14 N² d"]
    wrong += [] if kept["tiled"] == 4 * n else [f"{kept['tiled']:,} B are kept and not {4 * n:,} B"]
    wrong += [] if kept["standard"] >= 2 * n * n else ["standard attention keeps less than P"]
    wrong += [] if again < passes else ["on the roofline P stored is faster"]
    yield Result(
        quantity="FLOPs against P stored",
        formula=14 / 8,
        measured=flops / stored,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"{flops / stored:g} times the FLOPs, and {4 * n:,} B kept in place of {2 * n * n:,} B; on an "
        f"{CHIP}'s roofline that is {passes / again:.1f} times faster, since the N × N passes wait for "
        "memory",
        derivation=f"14·{n}²·{HEAD_DIM} / (8·{n}²·{HEAD_DIM}) = 1.75, and 10 / 8 = 1.25 in one walk. N = "
        f"{LONG}: 14·N²·{HEAD_DIM} / {roof.peak / 1e12:.0f}e12 = {again * 1e6:.0f} µs, 7·N²·2 / "
        f"{roof.bandwidth / 1e12:.1f}e12 = {passes * 1e6:.0f} µs.",
        limits="FLOPs and what is kept are counted; which is faster is a roofline by datasheet here, not a "
        "time.",
        answer=CHOICES[1] if again < passes else CHOICES[0],
    )


def _on_gpu(_: int) -> Iterator[Event]:
    import torch

    steps = Steps(3)
    q, k, v, do = (on_gpu(1, GPU_HEADS, GPU_N, GPU_HEAD_DIM) for _ in range(4))
    inputs = [x.requires_grad_() for x in (q, k, v)]
    kept, calls = {}, {}
    for name, impl in (("tiled", "flash"), ("standard", "standard")):
        yield steps.begin(f"forward, {name}")
        kept[name] = _kept(torch.stack(inputs).detach(), impl)
        o = _attend(inputs, impl)
        calls[name] = lambda o=o: torch.autograd.grad(o, inputs, do, retain_graph=True)
    yield steps.begin("backward in turns")
    times = timed(calls, replayed=False)  # a millisecond each, longer than Python takes
    flops = 10 * GPU_N**2 * GPU_HEAD_DIM * GPU_HEADS
    for name, time in times.items():
        note = f"{flops / time.median / 1e12:.0f} TFLOP/s, if 10 N² d are counted for both"
        yield Row(f"backward, {name}", None, time.median, "s", note)
    logsumexp = 4 * GPU_N * GPU_HEADS
    yield Row("kept extra, tiled", logsumexp, kept["tiled"], "B", "beyond Q, K, V, O: a float32 a query")
    yield Row("kept extra, standard", None, kept["standard"], "B")
    faster = times["standard"].median / times["tiled"].median
    yield Row("speed-up", None, faster, "×", "time of the backward pass")
    wrong = [] if faster > 1 else ["the backward pass that stored P is faster"]
    wrong += [] if kept["tiled"] == logsumexp else [f"{kept['tiled']:,} B are kept and not {logsumexp:,} B"]
    yield Result(
        quantity="speed-up",
        formula=None,
        measured=faster,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"with 1.75 times the FLOPs the tiled backward pass is {faster:.1f} times faster, and keeps "
        f"{kept['standard'] / kept['tiled']:,.0f} times less",
        spread=faster * sum(time.spread / time.median for time in times.values()),
        derivation=f"N = {GPU_N:,}, d = {GPU_HEAD_DIM}, {GPU_HEADS} heads, bf16. Logsumexp: "
        f"4·{GPU_N}·{GPU_HEADS} = {logsumexp:,} B; P: 2·{GPU_N}²·{GPU_HEADS} = {2 * GPU_N**2 * GPU_HEADS:,} "
        "B.",
        limits=TIMED + " The one that stores P is PyTorch's own gradient of the four operations: no kernel "
        "that fuses any of it.",
        answer=CHOICES[1] if faster > 1 else CHOICES[0],
    )


def _attend(inputs: list[Tensor], impl: Any) -> Tensor:
    from kernels.attention import attention

    return attention(*inputs, impl=impl)


def _kept(qkv: Tensor, impl: str) -> int:
    """Bytes that the forward pass keeps for the backward pass, beyond its inputs and its output."""
    import torch

    saved: dict[int, int] = {}

    def pack(x: Tensor) -> Tensor:
        storage = x.untyped_storage()
        saved[storage.data_ptr()] = storage.nbytes()
        return x

    inputs = [x.clone().requires_grad_() for x in qkv]
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        o = _attend(inputs, impl)
    known = {x.untyped_storage().data_ptr() for x in (*inputs, o)}
    return sum(size for place, size in saved.items() if place not in known)
