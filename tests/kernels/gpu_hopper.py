"""Holds the Hopper kernels against float64, on a Hopper GPU. Not collected by pytest.

    python tests/kernels/gpu_hopper.py [NAME …]

One line for each group of checks, with names only for those that begin with one of them; the exit status says
whether all of them hold. Inputs are fresh in every
check, and outputs are poisoned: the memory that they get held NaN just before.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

import torch
from torch import Tensor

sys.path.insert(0, str(Path(__file__).parents[2]))
from kernels import hopper, standard

# Error relative to float64, by the norm. Rounding the exact answer alone gives 1.7e-3 and 2.1e-4.
TOLERANCE = {torch.bfloat16: 4e-3, torch.float16: 5e-4}
LENGTHS = (
    (1, 1), (1, 300), (64, 64), (127, 129), (200, 200), (1000, 1000), (300, 1000), (1000, 300), (513, 4096),
    (2100, 2100), (1500, 2777), (70, 3), (4096, 4096),
)  # fmt: skip
HEADS = ((4, 4), (6, 2), (5, 1))
LAYOUTS = ("heads first", "rows first", "packed")


def inputs(
    N_q: int, N_k: int, d: int, heads: int, kv_heads: int, layout: str, dtype: torch.dtype, size: float = 1.0
) -> tuple[Tensor, Tensor, Tensor]:
    """Random q, k, v, (2, heads, N, d) each, with the strides that `layout` names."""

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, device="cuda", dtype=dtype)

    if layout == "packed" and N_q == N_k:  # views of one projection's output
        q, k, v = normal(2, N_q, heads + 2 * kv_heads, d).split([heads, kv_heads, kv_heads], 2)
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    elif layout == "heads first":
        q, k, v = (normal(2, h, n, d) for h, n in ((heads, N_q), (kv_heads, N_k), (kv_heads, N_k)))
    else:
        shapes = ((heads, N_q), (kv_heads, N_k), (kv_heads, N_k))
        q, k, v = (normal(2, n, h, d).transpose(1, 2) for h, n in shapes)
    q *= size
    return q, k, v


def poisoned(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    """The forward pass into memory that holds NaN."""
    waste = [torch.full_like(q, math.nan), torch.full(q.shape[:3], math.nan, device="cuda")]
    del waste
    return hopper.forward(q, k, v, causal=causal, scale=scale)


def errors(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float) -> tuple[float, float]:
    """The output's relative error by the norm, and the logsumexp's largest, relative to 1 + its size."""
    o, lse = poisoned(q, k, v, causal=causal, scale=scale)
    o_true, lse_true = standard.attention(q.double(), k.double(), v.double(), causal=causal, scale=scale)
    assert o.shape == o_true.shape and lse.shape == lse_true.shape
    blind = lse_true == -math.inf
    assert torch.equal(lse == -math.inf, blind), "rows that see no key"
    gap = ((lse - lse_true).masked_fill(blind, 0).abs() / (1 + lse_true.masked_fill(blind, 0).abs())).max()
    assert not o[blind].any(), "rows that see no key must be 0"
    return ((o - o_true).norm() / o_true.norm().clamp_min(1e-30)).item(), gap.item()


def against_float64(d: int, causal: bool) -> tuple[bool, str]:
    worst, worst_lse, good, count = 0.0, 0.0, True, 0
    for dtype, (N_q, N_k), (n, (heads, layout)) in itertools.product(
        TOLERANCE, LENGTHS, enumerate(zip(HEADS, LAYOUTS, strict=True))
    ):
        if N_q == 4096 and n:
            continue
        size = (1.0, 8.0, 30.0)[(n + N_q) % 3]  # up to logits of some hundreds
        q, k, v = inputs(N_q, N_k, d, *heads, layout, dtype, size)
        reason = hopper.supported(q, k, v)
        assert reason is None, reason
        error, lse_error = errors(q, k, v, causal=causal, scale=d**-0.5 * (-1) ** (N_k % 5 == 0))
        if not (error <= TOLERANCE[dtype] and lse_error <= 1e-5):
            good = False
            print(f"   wrong: {dtype} N {N_q}x{N_k} heads {heads} {layout}: {error:.2e} {lse_error:.2e}")
        worst, worst_lse, count = max(worst, error), max(worst_lse, lse_error), count + 1
    return good, f"{count} problems, error up to {worst:.1e}, of the logsumexp {worst_lse:.1e}"


def integers(d: int, causal: bool) -> tuple[bool, str]:
    """Small integer scores and a softmax of base 2: every product and sum is exact.

    So a register that is overwritten while a matrix product still reads it cannot hide in rounding.
    """
    differ, same = 0.0, True
    for N in (1000, 1024, 4096):
        shape = (2, 4, N, d)
        few = torch.rand(shape, device="cuda").argsort(-1) < 4
        q = (few * torch.randint(0, 2, shape, device="cuda").mul(2).sub(1)).bfloat16()
        k = torch.randint(0, 2, shape, device="cuda").mul(2).sub(1).bfloat16()
        v = torch.randint(-4, 5, shape, device="cuda").bfloat16()
        o, lse = poisoned(q, k, v, causal=causal, scale=math.log(2))
        o_true, lse_true = standard.attention(
            q.double(), k.double(), v.double(), causal=causal, scale=math.log(2)
        )
        # A quotient beside a rounding boundary may fall either way, by one unit of bf16.
        near = (o.double() - o_true).abs() <= o_true.abs() * 2**-8 * 1.01 + 1e-6
        differ = max(differ, (o != o_true.bfloat16()).double().mean().item())
        same &= bool(near.all()) and (lse - lse_true).abs().max().item() < 1e-5
        for _ in range(20):
            again, again_lse = poisoned(q, k, v, causal=causal, scale=math.log(2))
            same &= torch.equal(o, again) and torch.equal(lse, again_lse)
    return (
        same and differ < 1e-3,
        f"{differ:.1e} of the outputs round the other way; 20 repeats bitwise equal",
    )


def streams(d: int) -> tuple[bool, str]:
    """Two streams at once, and a captured graph beside them, give what one launch at a time gives."""
    problems = [inputs(n, n, d, 8, 8, "heads first", torch.bfloat16) for n in (900, 2048, 1024)]

    def run(n: int) -> Tensor:
        return hopper.forward(*problems[n], causal=True, scale=d**-0.5)[0]

    alone = [run(n) for n in range(3)]
    side = [torch.cuda.Stream(), torch.cuda.Stream()]
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = run(2)
    torch.cuda.synchronize()
    good = True
    for _ in range(20):
        captured.fill_(math.nan)
        torch.cuda.synchronize()
        outs = []
        for _ in range(4):
            for n in (0, 1):
                with torch.cuda.stream(side[n]):
                    outs.append((n, run(n)))
        graph.replay()
        torch.cuda.synchronize()
        good &= torch.equal(captured, alone[2]) and all(torch.equal(o, alone[n]) for n, o in outs)
    return good, "two streams and a graph at once"


def largest_batch() -> tuple[bool, str]:
    """The last entries of the largest batch: their tiles have the highest numbers."""
    x = torch.randn(hopper.LARGEST_BATCH, 1, 64, 64, device="cuda", dtype=torch.bfloat16)
    o, _ = poisoned(x, x, x, causal=True, scale=0.125)
    truth, _ = standard.attention(*[x[-2:].double()] * 3, causal=True, scale=0.125)
    error = ((o[-2:] - truth).norm() / truth.norm()).item()
    return error <= TOLERANCE[torch.bfloat16], f"error {error:.1e} in the last two of {len(x)}"


def checks() -> Iterator[tuple[str, Callable[[], tuple[bool, str]]]]:
    for d, causal in itertools.product((64, 128, 256), (False, True)):
        name = f"d {d}{' causal' * causal}"
        yield f"{name}: float64", lambda d=d, causal=causal: against_float64(d, causal)
        yield f"{name}: integers", lambda d=d, causal=causal: integers(d, causal)
    for d in (64, 128, 256):
        yield f"d {d}: streams", lambda d=d: streams(d)
    yield "largest batch", largest_batch


def run(checks: Iterable[tuple[str, Callable[[], tuple[bool, str]]]], names: Sequence[str]) -> int:
    """Run those whose name begins with one of `names`, tell each in a line, and return the exit status."""
    torch.manual_seed(torch.seed() % 2**31)
    failed = 0
    for name, check in checks:
        if not name.startswith(tuple(names) or ("",)):
            continue
        try:
            good, said = check()
        except AssertionError as error:
            good, said = False, str(error)
        failed += not good
        print(f"{'ok   ' if good else 'WRONG'} {name:22} {said}", flush=True)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(run(checks(), sys.argv[1:]))
