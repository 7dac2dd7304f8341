"""Holds the Hopper backward pass against float64, on a Hopper GPU. Not collected by pytest.

    python tests/kernels/gpu_hopper_backward.py [NAME …]

Lines, names and exit status are as in `gpu_hopper.py`. Inputs are fresh in every check, and the memory that
gradients and sums get held NaN just before.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import torch
from gpu_hopper import run
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[2]))
from kernels import flash, flash_backward, hopper, standard
from kernels.attention import attention

# Error relative to float64, by the norm: P, dS, o and the gradients themselves are rounded to p bits each.
# Where scores are wide, dP - D is a small difference of large numbers and o's rounding counts for more; there
# the measure is the plain Triton kernel, which rounds at the same places.
TOLERANCE = {torch.bfloat16: 5e-3, torch.float16: 6e-4}
WORSE_THAN_PLAIN = 1.3
LENGTHS = ((64, 1), (64, 64), (65, 300), (127, 129), (300, 1000), (1000, 300), (1100, 1100), (70, 3))
HEADS = ((4, 4), (6, 2), (5, 1))

Gradients = tuple[Tensor, Tensor, Tensor]


def inputs(
    N_q: int, N_k: int, d: int, heads: int, kv_heads: int, dtype: torch.dtype, rows_first: bool
) -> list[Tensor]:
    """q, k, v and dO; heads first, or views of (batch, N, heads, d)."""

    def normal(h: int, n: int) -> Tensor:
        x = torch.randn((2, n, h, d) if rows_first else (2, h, n, d), device="cuda", dtype=dtype)
        return x.transpose(1, 2) if rows_first else x

    return [normal(heads, N_q), normal(kv_heads, N_k), normal(kv_heads, N_k), normal(heads, N_q)]


def poison(q: Tensor, k: Tensor) -> None:
    """Leave NaN in the memory that a backward pass is about to be given."""
    sums = 2 * q.numel() + 2**18
    waste = [torch.full_like(q, math.nan), torch.full_like(k, math.nan), torch.full_like(k, math.nan)]
    waste += [torch.full((size,), math.nan, device="cuda") for size in (sums, sums // 64)]
    del waste


def found(
    q: Tensor, k: Tensor, v: Tensor, do: Tensor, dlse: Tensor | None, causal: bool, scale: float
) -> Gradients:
    o, lse = hopper.forward(q, k, v, causal=causal, scale=scale)
    poison(q, k)
    return hopper.backward(do, q, k, v, o, lse, causal=causal, scale=scale, dlse=dlse)


def exact(
    q: Tensor, k: Tensor, v: Tensor, do: Tensor, dlse: Tensor | None, causal: bool, scale: float
) -> Gradients:
    leaves = [x.double().requires_grad_() for x in (q, k, v)]
    o, lse = standard.attention(*leaves, causal=causal, scale=scale)
    total = (o * do.double()).sum()
    if dlse is not None:
        total = total + (lse.masked_fill(lse == -math.inf, 0) * dlse.double()).sum()
    dq, dk, dv = torch.autograd.grad(total, leaves)
    return dq.nan_to_num(), dk.nan_to_num(), dv.nan_to_num()


def against_float64(d: int, causal: bool) -> tuple[bool, str]:
    worst, good, count = 0.0, True, 0
    for dtype, (N_q, N_k), (n, heads) in itertools.product(TOLERANCE, LENGTHS, enumerate(HEADS)):
        q, k, v, do = inputs(N_q, N_k, d, *heads, dtype, rows_first=n == 1)
        q *= (1.0, 4.0, 16.0)[(n + N_q) % 3]
        dlse = torch.randn(q.shape[:3], device="cuda") if n == 2 else None
        scale = d**-0.5 * (-1) ** (N_k % 5 == 0)
        reason = hopper.gradients_supported(q, k, v)
        assert reason is None, reason
        answers = found(q, k, v, do, dlse, causal, scale)
        truths = exact(q, k, v, do, dlse, causal, scale)
        plain = flash_backward.backward(
            do, q, k, v, *flash.forward(q, k, v, causal=causal, scale=scale, window=None),
            causal=causal, scale=scale, dlse=dlse,
        )  # fmt: skip
        for name, answer, truth, other in zip(("dq", "dk", "dv"), answers, truths, plain, strict=True):
            # With one key, or one query that sees one, P is 1 and dS is 0 but for rounding.
            size = truth.norm().clamp_min(1e-2 * do.double().norm())
            error, usual = ((x - truth).norm().item() / size.item() for x in (answer, other))
            if not error <= max(TOLERANCE[dtype], WORSE_THAN_PLAIN * usual):
                good = False
                print(f"   wrong: {name} {dtype} N {N_q}x{N_k} heads {heads}: {error:.2e}, plain {usual:.2e}")
            worst = max(worst, error)
        count += 1
    return good, f"{count} problems, error up to {worst:.1e}"


def repeats(d: int, causal: bool) -> tuple[bool, str]:
    """A race would show in what has to come out the same, bit by bit."""
    q, k, v, do = inputs(1100, 1100, d, 6, 3, torch.bfloat16, rows_first=False)
    first = found(q, k, v, do, None, causal, d**-0.5)
    good, moved = True, 0.0
    for _ in range(20):
        again = found(q, k, v, do, None, causal, d**-0.5)
        good &= torch.equal(again[1], first[1]) and torch.equal(again[2], first[2])
        moved = max(moved, ((again[0] - first[0]).double().norm() / first[0].double().norm()).item())
    good &= moved == 0 if hopper.deterministic(d) else moved < 1e-3
    return good, f"20 repeats: dk and dv bitwise equal, dq within {moved:.0e}"


def blind(d: int) -> tuple[bool, str]:
    """Queries that see no key have NaN for a gradient, and give none. dO lies at an odd address besides."""
    q, k, v, do = inputs(300, 100, d, 4, 2, torch.bfloat16, rows_first=False)
    dlse = torch.randn(q.shape[:3], device="cuda")
    clean = found(q, k, v, do, dlse, True, d**-0.5)
    odd = torch.empty(do.numel() + 1, device="cuda", dtype=do.dtype)[1:].view(do.shape)
    odd.copy_(do)
    odd[:, :, :200], dlse[:, :, :200] = math.nan, math.nan
    dq, dk, dv = found(q, k, v, odd, dlse, True, d**-0.5)
    good = torch.equal(dk, clean[1]) and torch.equal(dv, clean[2]) and not dq[:, :, :200].any()
    good &= bool(((dq - clean[0]).norm() < 1e-3 * clean[0].norm()).item())
    return good, "200 of 300 queries see no key, and their gradients are NaN"


def streams(d: int) -> tuple[bool, str]:
    """Two streams at once, and a captured graph, give what one launch at a time gives."""
    problems = [inputs(n, n, d, 8, 8, torch.bfloat16, rows_first=False) for n in (900, 1024)]
    forwards = [hopper.forward(*p[:3], causal=True, scale=d**-0.5) for p in problems]

    def run(n: int) -> Gradients:
        q, k, v, do = problems[n]
        return hopper.backward(do, q, k, v, *forwards[n], causal=True, scale=d**-0.5)

    alone = [run(0), run(1)]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = run(1)
    side = [torch.cuda.Stream(), torch.cuda.Stream()]
    torch.cuda.synchronize()
    good = True
    for _ in range(10):
        for x in captured:
            x.fill_(math.nan)
        torch.cuda.synchronize()
        outs = []
        for n in (0, 1, 0, 1):
            with torch.cuda.stream(side[n]):
                outs.append((n, run(n)))
        graph.replay()
        torch.cuda.synchronize()
        for n, got in (*outs, (1, captured)):
            good &= all(torch.equal(got[m], alone[n][m]) for m in (1, 2))
            good &= bool(((got[0] - alone[n][0]).norm() < 1e-3 * alone[n][0].norm()).item())
    return good, "two streams and a graph at once"


def front_door(d: int) -> tuple[bool, str]:
    """Through PyTorch: a gradient that is one number expanded, and determinism where it is asked for."""
    q, k, v, _ = inputs(700, 700, d, 4, 2, torch.bfloat16, rows_first=True)
    leaves = [x.requires_grad_() for x in (q, k, v)]

    def gradients() -> tuple[Tensor, ...]:
        return torch.autograd.grad(attention(*leaves, causal=True, impl="hopper").sum(), leaves)

    truth = exact(q, k, v, torch.ones_like(q), None, True, d**-0.5)
    loose = gradients()
    torch.use_deterministic_algorithms(True)
    try:
        strict = [gradients() for _ in range(5)]
    finally:
        torch.use_deterministic_algorithms(False)
    errors = [
        ((answer - true).norm() / true.norm().clamp_min(1.0)).item()
        for answers in (loose, strict[0])
        for answer, true in zip(answers, truth, strict=True)
    ]
    same = all(torch.equal(a, b) for again in strict[1:] for a, b in zip(again, strict[0], strict=True))
    return same and max(errors) <= 5e-2, f"error up to {max(errors):.1e}; deterministic when asked"


def checks() -> Iterator[tuple[str, Callable[[], tuple[bool, str]]]]:
    for d in (64, 128, 256):
        for causal in (False, True):
            name = f"d {d}{' causal' * causal}"
            yield f"{name}: float64", lambda d=d, causal=causal: against_float64(d, causal)
            yield f"{name}: repeats", lambda d=d, causal=causal: repeats(d, causal)
        yield f"d {d}: blind", lambda d=d: blind(d)
        yield f"d {d}: streams", lambda d=d: streams(d)
        yield f"d {d}: front door", lambda d=d: front_door(d)


if __name__ == "__main__":
    sys.exit(run(checks(), sys.argv[1:]))
