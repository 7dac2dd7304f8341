"""What `gpu_grid.py` checks of the compiled kernels: an error each, and what is wrong if anything.

Besides the error, what an interpreter cannot get wrong: outputs are poisoned with NaN before and stand in a
frame that must stay NaN, inputs stand in NaN as well, and a second run must give the same bits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor

from kernels import decode, flash, flash_backward, flash_fa1, four_kernels, standard
from kernels.attention import attention, which

# Relative to float64 (Frobenius). Half precision rounds P and O to p bits, √2 · 0.425 · 2⁻ᵖ; then some room.
TOLERANCE = {torch.float32: 1e-6, torch.float16: 4e-4, torch.bfloat16: 3e-3}
# Gradients round P, dS and themselves, and o was rounded before.
GRADIENT_TOLERANCE = {torch.float32: 5e-6, torch.float16: 6e-4, torch.bfloat16: 5e-3}
HALF = (torch.bfloat16, torch.float16)
EVERY = (*HALF, torch.float32)
FRAME = 8  # elements of NaN on each side: 16 bytes in half precision, so that alignment stays what it was

Verdict = tuple[float, str]


@dataclass(frozen=True)
class Case:
    queries: int
    keys: int
    head_dim: int
    causal: bool = False
    batch: int = 1
    heads: int = 4
    kv_heads: int = 4
    window: int | None = None
    dtypes: tuple[torch.dtype, ...] = EVERY
    spread: float = 1.0  # standard deviation of the scores

    @property
    def scale(self) -> float:
        return self.head_dim**-0.5

    def __str__(self) -> str:
        heads = f"{self.batch}·{self.heads}/{self.kv_heads}"
        spread = f" scores ×{self.spread:g}" if self.spread != 1 else ""
        window = "" if self.window is None else f" window {self.window}"
        return (
            f"{self.queries}×{self.keys} d {self.head_dim} {heads}{' causal' * self.causal}{window}{spread}"
        )


def framed(x: Tensor) -> Tensor:
    """The same numbers as a view into NaN, with longer rows and rows behind the last."""
    batch, heads, n, d = x.shape
    frame = torch.full((batch, heads, n + 64, d + 2 * FRAME), math.nan, dtype=x.dtype, device=x.device)
    view = frame[:, :, :n, FRAME : FRAME + d]
    view.copy_(x)
    return view


def poisoned(like: Tensor) -> Tensor:
    return framed(torch.full_like(like, math.nan))


def spilt(x: Tensor) -> bool:
    """Whether NaN is left inside a framed tensor, or its frame is not NaN throughout."""
    frame = x._base
    assert frame is not None
    return int(frame.isnan().sum()) != frame.numel() - x.numel()


def inputs(case: Case, dtype: torch.dtype, device: str) -> list[Tensor]:
    """q, k, v and dO, each in a frame."""
    generator = torch.Generator(device).manual_seed(torch.seed() % 2**31)
    queries, keys = (case.heads, case.queries), (case.kv_heads, case.keys)
    sizes = (case.spread**0.5, case.spread**0.5, 1.0, 1.0)
    return [
        framed(
            (torch.randn(case.batch, h, n, case.head_dim, device=device, generator=generator) * size).to(
                dtype
            )
        )
        for (h, n), size in zip((queries, keys, keys, queries), sizes, strict=True)
    ]


def error(answer: Tensor, truth: Tensor) -> float:
    size = float(truth.norm())
    return float((answer.double() - truth).norm()) / (size or 1.0)


def exact(case: Case, q: Tensor, k: Tensor, v: Tensor) -> tuple[Tensor, Tensor]:
    return standard.attention(
        q.double(), k.double(), v.double(), causal=case.causal, scale=case.scale, window=case.window
    )


def judged(off: float, limit: float) -> Verdict:
    return off, "" if off <= limit else f"more than {limit:.0e}"


def allowed(case: Case, dtype: torch.dtype) -> float:
    """Rounding of float32 besides: it grows with the root of the number of terms, and with the scores."""
    terms = 0.3e-6 * (case.keys / 256) ** 0.5
    return TOLERANCE[dtype] + terms + 1e-6 * (case.spread - 1)


def wrong_logsumexp(case: Case, found: Tensor, truth: Tensor) -> bool:
    seen = truth.isfinite()
    if not torch.equal(seen, found.isfinite()):
        return True
    return bool(((found.double() - truth)[seen].abs() > 2e-5 * case.spread).any())


def tiled(case: Case, dtype: torch.dtype, device: str) -> Verdict:
    """The tiled kernel."""
    q, k, v, _ = inputs(case, dtype, device)
    truth, lse = exact(case, q, k, v)
    runs = []
    for _ in range(2):
        o = poisoned(q)
        room = torch.full((lse.numel() + 2 * FRAME,), math.nan, device=device)
        L = room[FRAME:-FRAME].view(lse.shape)
        flash.launch(q, k, v, o, L, causal=case.causal, scale=case.scale, window=case.window)
        if spilt(o) or int(room.isnan().sum()) != 2 * FRAME:
            return math.nan, "NaN inside, or something written outside"
        runs.append((o.clone(), L.clone()))
    (o, L), (o2, L2) = runs
    off = error(o, truth)
    if not (torch.equal(o, o2) and torch.equal(L, L2)):
        return off, "two runs differ"
    if wrong_logsumexp(case, L, lse):
        return off, "logsumexp"
    return judged(off, allowed(case, dtype))


def backward(case: Case, dtype: torch.dtype, device: str) -> Verdict:
    """The backward pass, from what the tiled kernel gave."""
    q, k, v, do = inputs(case, dtype, device)
    double = [x.double().requires_grad_() for x in (q, k, v)]
    o, _ = standard.attention(*double, causal=case.causal, scale=case.scale, window=case.window)
    truth = torch.autograd.grad(o, double, do.double())
    o, lse = flash.forward(q, k, v, causal=case.causal, scale=case.scale, window=case.window)
    runs = []
    for _ in range(2):
        found = [poisoned(x) for x in (q, k, v)]
        flash_backward.launch(
            do, q, k, v, o, lse, *found, causal=case.causal, scale=case.scale, window=case.window
        )
        if any(spilt(x) for x in found):
            return math.nan, "NaN inside, or something written outside"
        runs.append([x.clone() for x in found])
    if not all(torch.equal(x, y) for x, y in zip(*runs, strict=True)):
        return math.nan, "two runs differ"
    # Where a query sees one key at most, dq and dk are 0 and rounding is all there is: dv gives the measure.
    size = float(torch.stack([x.norm() for x in truth]).max())
    off = max(
        float((x.double() - y).norm()) / max(float(y.norm()), 0.1 * size)
        for x, y in zip(runs[0], truth, strict=True)
    )
    return judged(
        off, GRADIENT_TOLERANCE[dtype] * (1 if case.spread == 1 else 2)
    )  # few weights, each rounded


def split(case: Case, dtype: torch.dtype, device: str) -> Verdict:
    """Decoding, for several numbers of splits, and over pages."""
    q, k, v, _ = inputs(case, dtype, device)
    truth, lse = exact(case, q, k, v)
    off = 0.0
    for splits in (None, 1, 2, 7, 61):
        o, L = decode.forward(q, k, v, causal=case.causal, scale=case.scale, splits=splits)
        off = max(off, error(o, truth))
        if wrong_logsumexp(case, L, lse):
            return off, f"logsumexp of {splits} splits"
    size, width = 16, -(-case.keys // 16) + 3
    order = torch.randperm(case.batch * width, device=device).view(case.batch, width)
    pages = []
    for x in (k, v):
        cache = torch.full((case.batch * width, size, case.kv_heads, case.head_dim), math.nan).to(x)
        rows = torch.full((case.batch, width * size, case.kv_heads, case.head_dim), math.nan).to(x)
        rows[:, : case.keys] = x.transpose(1, 2)
        cache[order.flatten()] = rows.view(case.batch * width, size, case.kv_heads, case.head_dim)
        pages.append(cache)
    lengths = torch.full((case.batch,), case.keys, device=device, dtype=torch.int32)
    for splits in (None, 1, 5):
        o, L = decode.paged(
            q, pages[0], pages[1], order.int(), lengths, causal=case.causal, scale=case.scale, splits=splits
        )
        off = max(off, error(o, truth))
        if wrong_logsumexp(case, L, lse):
            return off, f"logsumexp of {splits} splits over pages"
    return judged(off, allowed(case, dtype))


def first_order(case: Case, dtype: torch.dtype, device: str) -> Verdict:
    """FlashAttention-1's loops, which round o once for each tile of keys."""
    q, k, v, _ = inputs(case, dtype, device)
    truth, lse = exact(case, q, k, v)
    o, L = flash_fa1.forward(q, k, v, causal=case.causal, scale=case.scale)
    if wrong_logsumexp(case, L, lse):
        return error(o, truth), "logsumexp"
    return judged(error(o, truth), TOLERANCE[dtype] * (2 if dtype == torch.float32 else 4))


def four(case: Case, dtype: torch.dtype, device: str) -> Verdict:
    """Standard attention in four kernels, which in half precision rounds S as well."""
    q, k, v, _ = inputs(case, dtype, device)
    off = error(four_kernels.forward(q, k, v, causal=case.causal, scale=case.scale), exact(case, q, k, v)[0])
    return judged(off, TOLERANCE[dtype] * (1 if dtype == torch.float32 else 4))


def front(case: Case, dtype: torch.dtype, device: str) -> Verdict:
    """Whatever the front door chooses, forward and backward."""
    q, k, v, do = inputs(case, dtype, device)
    truth, lse = exact(case, q, k, v)
    chosen = which(q, k, v, causal=case.causal, window=case.window)
    o, L = attention(q, k, v, causal=case.causal, window=case.window, return_lse=True)
    if wrong_logsumexp(case, L, lse):
        return error(o, truth), f"logsumexp of {chosen}"
    off, complaint = judged(error(o, truth), TOLERANCE[dtype])
    if complaint:
        return off, f"{complaint} by {chosen}"
    double = [x.double().requires_grad_() for x in (q, k, v)]
    exact_o, _ = standard.attention(*double, causal=case.causal, scale=case.scale, window=case.window)
    wanted = torch.autograd.grad(exact_o, double, do.double())
    leaves = [x.detach().requires_grad_() for x in (q, k, v)]
    o = attention(*leaves, causal=case.causal, window=case.window)
    off = max(error(x, y) for x, y in zip(torch.autograd.grad(o, leaves, do), wanted, strict=True))
    return judged(off, GRADIENT_TOLERANCE[dtype])


def whole_numbers(case: Case, dtype: torch.dtype, device: str) -> Verdict:
    """Scores are small whole numbers and the base is 2, so every weight and every sum is exact.

    Only o / l rounds, once in float32 and once in the output. A race or a wrong instruction cannot hide
    behind a tolerance here. Returns the share of outputs that are not the exact answer, rounded.
    """
    generator = torch.Generator(device).manual_seed(0)

    def integers(low: int, high: int, heads: int, n: int) -> Tensor:
        shape = (case.batch, heads, n, case.head_dim)
        return torch.randint(low, high, shape, device=device, generator=generator).to(dtype)

    q, k = integers(0, 2, case.heads, case.queries), integers(-1, 2, case.kv_heads, case.keys)
    q[..., 8:], k[..., 8:] = 0, 0  # scores within ±8, so that weights span 16 bits
    v = integers(-8, 9, case.kv_heads, case.keys)
    base_2 = math.log(2)
    truth, _ = standard.attention(q.double(), k.double(), v.double(), causal=case.causal, scale=base_2)
    o, _ = flash.forward(q, k, v, causal=case.causal, scale=base_2)
    unit = torch.finfo(dtype).eps * truth.abs().clamp_min(max(2.0**-20, torch.finfo(dtype).tiny))
    if bool(((o.double() - truth).abs() > unit).any()):
        return math.nan, "off by more than one unit in the last place"
    missed = float((o != truth.to(dtype)).double().mean())
    return missed, "" if missed <= 1e-3 else "more than 1 in 1000 outputs round the other way"


def interleaved(device: str) -> Verdict:
    """More than 2³¹ elements between rows of one head: heads are interleaved, as projections leave them.

    First between the first row and the last, then within a tile. float32 comes by pointers on every chip.
    """
    worst = 0.0
    for n, heads, dtype in ((20_000, 1024, torch.bfloat16), (300, 2**17 + 1, torch.float32)):
        numbers = torch.randn(1, n, heads, 128, device=device, dtype=dtype).transpose(1, 2)
        assert numbers.stride(2) * n > 2**31
        q, k, v = numbers[:, -1:], numbers[:, -2:-1], numbers[:, -3:-2]
        o, _ = flash.forward(q, k, v, causal=False, scale=128**-0.5)
        last = slice(n - 256, n)
        few = (x.double() for x in (q[:, :, last], k, v))
        truth, _ = standard.attention(*few, causal=False, scale=128**-0.5)
        off = error(o[:, :, last], truth)
        if not off <= TOLERANCE[dtype]:
            return off, f"wrong in {dtype}"
        worst = max(worst, off)
    return worst, ""


def beyond_32_bits(device: str) -> Verdict:
    """Tensors of more than 2³¹ elements, forward, backward, decoding: the last head must be as if alone."""
    q, k, v, do = (torch.randn(2, 65, 2**17, 128, device=device, dtype=torch.bfloat16) for _ in range(4))
    assert q.numel() > 2**31
    few = {"causal": True, "scale": 128**-0.5, "window": 100}

    def run(q: Tensor, k: Tensor, v: Tensor, do: Tensor) -> list[Tensor]:
        o, lse = flash.forward(q, k, v, **few)
        split = decode.forward(q[:, :, -1:], k, v, causal=True, scale=128**-0.5, splits=16)[0]
        return [o, lse, split, *flash_backward.backward(do, q, k, v, o, lse, **few)]

    alone = run(*(x[-1:, -1:].clone() for x in (q, k, v, do)))
    for name, x, y in zip(("o", "L", "decoded o", "dq", "dk", "dv"), run(q, k, v, do), alone, strict=True):
        if not torch.equal(x[-1:, -1:], y):
            return math.nan, f"{name} of the last head is another than alone"
    return 0.0, ""


def layouts(device: str) -> Verdict:
    """Views of every kind, forward and backward, against contiguous copies."""
    case = Case(300, 300, 64, causal=True, batch=2)
    q, k, v = (x.contiguous() for x in inputs(case, torch.bfloat16, device)[:3])

    def run(*tensors: Tensor) -> list[Tensor]:
        leaves = [x.detach().requires_grad_() for x in tensors]
        o = attention(*leaves, causal=True, impl="flash")  # type: ignore[misc]
        return [o, *torch.autograd.grad(o.square().sum(), leaves)]

    expected = run(q, k, v)
    by_position = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    by_column = [x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v)]
    packed = torch.stack([q, k, v], dim=3)
    odd = [
        torch.cat([x[..., :1], x], dim=-1)[..., 1:] for x in (q, k, v)
    ]  # rows not at multiples of 16 bytes
    for views in (by_position, by_column, packed.unbind(3), odd):
        if not all(torch.equal(x, y) for x, y in zip(run(*views), expected, strict=True)):
            return math.nan, "a view gives another answer than its copy"
    one = k[:, :1].expand_as(k)  # a stride of 0, which the copy engine cannot take
    off = error(
        attention(q, one, one, causal=True, impl="flash"), run(q, one.clone(), one.clone())[0].double()
    )
    return judged(off, TOLERANCE[torch.bfloat16])


def compiled(device: str) -> Verdict:
    """`torch.compile` around the front door, forward and backward, against the same without."""
    q, k, v = (torch.randn(2, 4, 256, 64, device=device, dtype=torch.bfloat16) for _ in range(3))

    def layer(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
        return (2 * attention(q, k, v, causal=True)).float().square().mean()

    runs = []
    for call in (layer, torch.compile(layer, fullgraph=True)):
        leaves = [x.detach().requires_grad_() for x in (q, k, v)]
        runs.append(torch.autograd.grad(call(*leaves), leaves))
    return judged(max(error(y, x.double()) for x, y in zip(*runs, strict=True)), 1e-2)
