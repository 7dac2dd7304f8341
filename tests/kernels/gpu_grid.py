"""The compiled kernels on a CUDA device against float64: a table, and exit code 1 if anything is wrong.

    PYTHONPATH=. python tests/kernels/gpu_grid.py

Not collected by pytest, which interprets. Besides the error, each case checks what an interpreter cannot get
wrong: outputs are poisoned with NaN before and stand in a frame that must stay NaN, inputs stand in NaN as
well, and a second run must give the same bits.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch
import triton
from torch import Tensor

from kernels import flash, four_kernels, standard
from kernels.attention import attention

# Relative to float64 (Frobenius). Half precision rounds P and O to p bits, √2 · 0.425 · 2⁻ᵖ; then some room.
TOLERANCE = {torch.float32: 1e-6, torch.float16: 4e-4, torch.bfloat16: 3e-3}
HALF = (torch.bfloat16, torch.float16)
EVERY = (*HALF, torch.float32)
FRAME = 8  # elements of NaN on each side: 16 bytes in half precision, so that alignment stays what it was


@dataclass(frozen=True)
class Case:
    queries: int
    keys: int
    head_dim: int
    causal: bool = False
    batch: int = 1
    heads: int = 4
    kv_heads: int = 4
    dtypes: tuple[torch.dtype, ...] = EVERY
    spread: float = 1.0  # standard deviation of the scores

    @property
    def scale(self) -> float:
        return self.head_dim**-0.5

    def __str__(self) -> str:
        heads = f"{self.batch}·{self.heads}/{self.kv_heads}"
        spread = f" scores ×{self.spread:g}" if self.spread != 1 else ""
        return f"{self.queries}×{self.keys} d {self.head_dim} {heads}{' causal' * self.causal}{spread}"


CASES = [
    *(Case(n, n, d, causal) for d in (64, 128, 256) for n in (200, 1024) for causal in (False, True)),
    *(Case(333, 333, d, causal) for d in (8, 16, 32, 40, 72, 80, 96, 160, 192) for causal in (False, True)),
    Case(4168, 4168, 128, True, heads=2, kv_heads=2, dtypes=HALF),
    Case(1, 4096, 128, True, batch=4, heads=8, kv_heads=2),
    Case(64, 4096, 128, True, heads=8, kv_heads=8),
    Case(100, 1000, 64, True, batch=3, heads=6, kv_heads=2),
    Case(512, 200, 64, True),
    Case(1000, 1, 128),
    Case(1, 1, 64),
    Case(640, 640, 128, True, batch=2, heads=8, kv_heads=1),
    Case(1024, 1024, 128, True, spread=8.0, dtypes=HALF),
    Case(1024, 1024, 64, spread=8.0, dtypes=HALF),
]


def framed(x: Tensor) -> Tensor:
    """The same numbers as a view into NaN, with longer rows and rows behind the last."""
    batch, heads, n, d = x.shape
    frame = torch.full((batch, heads, n + 64, d + 2 * FRAME), math.nan, dtype=x.dtype, device=x.device)
    view = frame[:, :, :n, FRAME : FRAME + d]
    view.copy_(x)
    return view


def inputs(case: Case, dtype: torch.dtype, device: str) -> list[Tensor]:
    generator = torch.Generator(device).manual_seed(0)
    sides = ((case.heads, case.queries), (case.kv_heads, case.keys), (case.kv_heads, case.keys))
    sizes = (case.spread**0.5, case.spread**0.5, 1.0)
    return [
        framed(
            (torch.randn(case.batch, h, n, case.head_dim, device=device, generator=generator) * size).to(
                dtype
            )
        )
        for (h, n), size in zip(sides, sizes, strict=True)
    ]


def error(answer: Tensor, truth: Tensor) -> float:
    size = float(truth.norm())
    return float((answer.double() - truth).norm()) / (size or 1.0)


def tiled(case: Case, dtype: torch.dtype, device: str) -> tuple[float, str]:
    """The error of the tiled kernel, and what is wrong with it."""
    q, k, v = inputs(case, dtype, device)
    truth, lse = standard.attention(q.double(), k.double(), v.double(), causal=case.causal, scale=case.scale)
    runs = []
    for _ in range(2):
        o = framed(torch.full_like(q, math.nan))
        room = torch.full((lse.numel() + 2 * FRAME,), math.nan, device=device)
        L = room[FRAME:-FRAME].view(lse.shape)
        flash.launch(q, k, v, o, L, causal=case.causal, scale=case.scale)
        outside = o._base
        assert outside is not None
        if int(outside.isnan().sum()) != outside.numel() - o.numel():
            return math.nan, "NaN inside, or something written outside the output"
        if int(room.isnan().sum()) != 2 * FRAME:
            return math.nan, "NaN inside, or something written outside the logsumexp"
        runs.append((o.clone(), L.clone()))
    (o, L), (o2, L2) = runs
    off = error(o, truth)
    if not (torch.equal(o, o2) and torch.equal(L, L2)):
        return off, "two runs differ"
    seen = lse.isfinite()
    if (
        not torch.equal(seen, L.isfinite())
        or (L.double() - lse)[seen].abs().max().nan_to_num() > 2e-5 * case.spread
    ):
        return off, "logsumexp"
    return off, "" if off <= TOLERANCE[dtype] else f"more than {TOLERANCE[dtype]:.0e}"


def four(case: Case, dtype: torch.dtype, device: str) -> tuple[float, str]:
    """The same for standard attention in four kernels, which in half precision rounds S as well."""
    q, k, v = inputs(case, dtype, device)
    truth, _ = standard.attention(q.double(), k.double(), v.double(), causal=case.causal, scale=case.scale)
    off = error(four_kernels.forward(q, k, v, causal=case.causal, scale=case.scale), truth)
    limit = TOLERANCE[dtype] * (1 if dtype == torch.float32 else 4)
    return off, "" if off <= limit else f"more than {limit:.0e}"


def whole_numbers(case: Case, dtype: torch.dtype, device: str) -> tuple[float, str]:
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
    unit = torch.finfo(dtype).eps * truth.abs().clamp_min(2.0**-20)
    if bool(((o.double() - truth).abs() > unit).any()):
        return math.nan, "off by more than one unit in the last place"
    missed = float((o != truth.to(dtype)).double().mean())
    return missed, "" if missed <= 1e-3 else "more than 1 in 1000 outputs round the other way"


def beyond_32_bits(device: str) -> tuple[float, str]:
    """Rows of one head lie more than 2³¹ elements apart: heads are interleaved, as projections leave them."""
    n, heads, d = 20_000, 1024, 128
    numbers = torch.randn(1, n, heads, d, device=device, dtype=torch.bfloat16).transpose(1, 2)
    assert numbers.stride(2) * n > 2**31
    q, k, v = numbers[:, -1:], numbers[:, -2:-1], numbers[:, -3:-2]
    o, _ = flash.forward(q, k, v, causal=False, scale=d**-0.5)
    last = slice(n - 256, n)
    truth, _ = standard.attention(q[:, :, last].double(), k.double(), v.double(), causal=False, scale=d**-0.5)
    off = error(o[:, :, last], truth)
    return off, "" if off <= TOLERANCE[torch.bfloat16] else "wrong"


def layouts(device: str) -> tuple[float, str]:
    """Views of every kind through the front door, against contiguous copies."""
    case = Case(300, 300, 64, causal=True, batch=2)
    q, k, v = (x.contiguous() for x in inputs(case, torch.bfloat16, device))
    expected = attention(q, k, v, causal=True, impl="flash")
    by_position = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    by_column = [x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v)]
    packed = torch.stack([q, k, v], dim=3)
    odd = [
        torch.cat([x[..., :1], x], dim=-1)[..., 1:] for x in (q, k, v)
    ]  # rows that are not 16-byte aligned
    for views in (by_position, by_column, packed.unbind(3), odd):
        if not torch.equal(attention(*views, causal=True), expected):
            return math.nan, "a view gives another answer than its copy"
    return 0.0, ""


def main(device: str = "cuda") -> int:
    """Returns the exit code."""
    name = torch.cuda.get_device_name() if device == "cuda" else device
    print(f"{name} · torch {torch.__version__} · triton {triton.__version__}")
    square = [Case(1024, 1024, d, causal, dtypes=HALF) for d in (64, 128, 256) for causal in (False, True)]
    plain = [Case(300, 300, 64, True), Case(64, 1000, 128, heads=4, kv_heads=2), Case(512, 200, 64, True)]
    checks: list[tuple[str, Callable[[], tuple[float, str]]]] = [
        (f"{kind.__name__:13}  {str(dtype)[6:]:8}  {case}", lambda k=kind, c=case, t=dtype: k(c, t, device))
        for kind, cases in ((tiled, CASES), (four, plain), (whole_numbers, square))
        for case in cases
        for dtype in case.dtypes
    ]
    checks += [("interleaved heads, beyond 32 bits", lambda: beyond_32_bits(device))]
    checks += [("views through the front door", lambda: layouts(device))]

    wrong = 0
    for label, check in checks:
        began = time.perf_counter()
        try:
            measured, complaint = check()
        except Exception as failure:  # a launch that fails is a line of the table, not the end of it
            measured, complaint = math.nan, f"{type(failure).__name__}: {failure}".splitlines()[0]
        wrong += bool(complaint)
        seconds = time.perf_counter() - began
        print(f"{label:60}  {measured:9.2e}  {seconds:6.2f} s  {complaint or 'ok'}", flush=True)
    print(f"{len(checks) - wrong} of {len(checks)} right")
    return int(wrong > 0)


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("no CUDA device here")
    sys.exit(main())
