"""When N doubles: what becomes of the extra memory, and what of the work?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import (
    TIMED,
    Steps,
    forwards,
    growth,
    normal,
    on_gpu,
    timed,
    verdict,
)
from kernels.measure import memory
from kernels.wire import Event, Result, Row, Series

HEAD_DIM = 64
TILE = 256
LENGTHS = (256, 512, 1024)
# On a GPU the standard one stops where S and P of eight heads take 8 GiB.
GPU_LENGTHS, GPU_STANDARD, GPU_HEADS, GPU_HEAD_DIM = (8192, 16384, 32768), (2048, 4096, 8192), 8, 128
# Standard attention also allocates terms linear in N, which pull its slope down a little. Times grow a little
# slower than N² at first, while the GPU fills.
TOLERANCE = 0.1

DEMO = Demo(
    name="memory-and-time",
    claim="Tiled attention needs extra memory linear in N; its work, and so its time, stays quadratic.",
    question="The sequence becomes twice as long. Tiled attention's extra memory doubles. How many times as "
    "much work, and in the long run time, does it take?",
    unit="×",
    form="number",
    needs=("torch", "triton"),
    devices=("cuda", "interpreter"),
    params=(Param("n", 1024, (512, 1024), "the longest sequence counted"),),
    seconds=4.0,
    plan="Count memory allocated and FLOPs over several lengths, or measure peak memory and time on a GPU.",
    explain="""\
Both compute 4 N² d matrix FLOPs a head: every query meets every key. Tiling changes where intermediate
numbers live, not how many products there are. So with N doubled the work is 2² = 4 times as much, and the
time follows once the GPU is full.

Extra memory, beyond inputs and output:

- **standard**: S and P, N² numbers each, and their copies: slope 2 on logarithmic axes;
- **tiled**: one float32 logsumexp a query, 4 N bytes: slope 1.

So "linear attention" is wrong, and "linear memory" is right. A 32-times longer sequence takes 32 times the
extra memory, and 1024 times the work.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Slopes over N."""
    yield from _on_gpu() if device == "cuda" else _counted(params["n"])


def _counted(longest: int) -> Iterator[Event]:
    from kernels import flash, standard
    from kernels.measure import allocations, operations
    from kernels.tiles import Tile

    lengths = [n for n in LENGTHS if n <= longest]
    steps = Steps(2 * len(lengths))
    extra: dict[str, list[int]] = {"standard": [], "tiled": []}
    flops: list[int] = []
    for n in lengths:
        q, k, v = (normal(1, 1, n, HEAD_DIM, device="interpreter", seed=seed) for seed in range(3))
        usual: dict[str, Any] = {"causal": False, "scale": HEAD_DIM**-0.5}
        yield steps.begin(f"standard, N = {n}")
        with allocations.counting() as count:
            standard.attention(q, k, v, **usual)
        extra["standard"].append(count.bytes - q.nbytes)
        yield steps.begin(f"tiled, N = {n}")
        with allocations.counting() as count, operations.counting() as done:
            o, L = flash.forward(q, k, v, **usual, tile=Tile(TILE, TILE))
        # The interpreter copies what a launch is given: so the launch alone is counted too, and taken off.
        with allocations.counting() as copies:
            flash.launch(q, k, v, o, L, **usual, tile=Tile(TILE, TILE))
        extra["tiled"].append(count.bytes - copies.bytes - q.nbytes)
        flops.append(done.total.flops)

    n = lengths[-1]
    slopes = {name: growth(lengths, sizes) for name, sizes in extra.items()}
    work = flops[-1] / flops[-2]
    yield Row("work", 4.0, work, "×", "matrix FLOPs, tiled")
    yield Row("matrix FLOPs", 4 * n * n * HEAD_DIM, flops[-1], "FLOP", f"N = {n}")
    yield Row("extra memory, tiled", 4 * n, extra["tiled"][-1], "B", f"N = {n}")
    yield Row("extra memory, standard", None, extra["standard"][-1], "B", f"N = {n}, all that is allocated")
    yield Row("slope of memory, tiled", 1, slopes["tiled"], "")
    yield Row("slope of memory, standard", 2, slopes["standard"], "")
    for name, sizes in extra.items():
        yield Series(name, lengths, sizes, "N", "B")
    yield Series("work", lengths, flops, "N", "FLOP")
    wrong = [
        f"N = {n} takes {done:,} FLOPs and not 4·N²·d"
        for n, done in zip(lengths, flops, strict=True)
        if done != 4 * n * n * HEAD_DIM
    ]
    if any(size != 4 * n for n, size in zip(lengths, extra["tiled"], strict=True)):
        wrong.append("the tiled kernel allocates more than its output and 4 N bytes")
    if abs(slopes["standard"] - 2) > TOLERANCE:
        wrong.append(f"standard memory grows with slope {slopes['standard']:.2f}")
    yield Result(
        quantity="work",
        formula=4.0,
        measured=work,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"with N doubled the tiled kernel does {work:g} times the FLOPs in 2 times the extra memory; "
        f"standard attention's grows with slope {slopes['standard']:.2f}",
        derivation=f"4·(2N)²·d / (4·N²·d) = 4. Extra memory: 4·{n} B = {4 * n:,} B of logsumexp.",
        limits="Work is counted, not time. Memory is all that PyTorch's operations allocate, freed or not; "
        "on a GPU the peak is measured.",
    )


def _on_gpu() -> Iterator[Event]:
    import torch

    from kernels.attention import attention

    steps = Steps(3)
    extra: dict[str, list[int]] = {"standard": [], "tiled": []}
    measured_at: dict[str, list[int]] = {"standard": [], "tiled": []}
    for name, impl, lengths in (("standard", "standard", GPU_STANDARD), ("tiled", "auto", GPU_LENGTHS)):
        yield steps.begin(f"memory, {name}")
        for n in lengths:
            q, k, v = (on_gpu(1, GPU_HEADS, n, GPU_HEAD_DIM) for _ in range(3))
            call = forwards(attention, q, k, v, impl=impl, return_lse=True)
            try:
                call()
                extra[name].append((memory.peak(call) or 0) - q.nbytes)
            except torch.OutOfMemoryError:
                break  # a smaller GPU: the lengths before are enough for a slope
            measured_at[name].append(n)
    yield steps.begin("time, tiled")
    calls = {
        str(n): forwards(attention, *(on_gpu(1, GPU_HEADS, n, GPU_HEAD_DIM) for _ in range(3)))
        for n in GPU_LENGTHS
    }
    times = timed(calls)
    seconds = [times[str(n)].median for n in GPU_LENGTHS]
    slope = growth(GPU_LENGTHS, seconds)
    slopes = {name: growth(measured_at[name], extra[name]) for name in extra}
    yield Row("work", 4.0, 2**slope, "×", f"time with N doubled: slope {slope:.2f}")
    yield Row("slope of memory, tiled", 1, slopes["tiled"], "")
    yield Row("slope of memory, standard", 2, slopes["standard"], "")
    for n, second in zip(GPU_LENGTHS, seconds, strict=True):
        yield Row(
            f"time, N = {n:,}",
            None,
            second,
            "s",
            f"{4 * n * n * GPU_HEAD_DIM * GPU_HEADS / second / 1e12:.0f} TFLOP/s",
        )
    for name, sizes in extra.items():
        yield Series(name, measured_at[name], sizes, "N", "B")
    yield Series("time", GPU_LENGTHS, seconds, "N", "s")
    wrong = [
        f"{what} grows with slope {found:.2f} and not {expected}"
        for what, found, expected in (
            ("time", slope, 2),
            ("memory of the tiled one", slopes["tiled"], 1),
            ("memory of the standard one", slopes["standard"], 2),
        )
        if abs(found - expected) > TOLERANCE
    ]
    yield Result(
        quantity="work",
        formula=4.0,
        measured=2**slope,
        unit="×",
        verdict=verdict(wrong),
        why="; ".join(wrong)
        or f"time grows with slope {slope:.2f}, the tiled one's extra memory with {slopes['tiled']:.2f}, the "
        f"standard one's with {slopes['standard']:.2f}",
        spread=2**slope * max(time.spread / time.median for time in times.values()),
        derivation="4·(2N)²·d / (4·N²·d) = 4, and slope 2 is 2² = 4 times for twice the length.",
        limits=TIMED,
    )
