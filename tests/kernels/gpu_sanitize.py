"""Launches every kernel once, on small ragged problems, for NVIDIA's compute-sanitizer to watch.

    export PYTHONPATH=. PYTORCH_NO_CUDA_MEMORY_CACHING=1
    python tests/kernels/gpu_sanitize.py                                      compiles, which nobody watches
    compute-sanitizer --tool memcheck python tests/kernels/gpu_sanitize.py    accesses out of bounds
    compute-sanitizer --tool racecheck python tests/kernels/gpu_sanitize.py NAME …   races in shared memory

with names only the launches whose line begins with one of them. Without PyTorch's cache each tensor is an
allocation of its own, whose ends are then watched. Nothing is compared here: that is for `gpu_grid.py`. Not
collected by pytest.

racecheck does not follow what mbarriers order. Of the Hopper kernels it reports two places: the mailbox of
tiles, and what the compiler hands the roles at their start. Both are ordered so.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import torch
from torch import Tensor

from kernels import decode, flash, flash_backward, flash_fa1, four_kernels, hopper

SCALED = {"causal": True, "scale": 0.125}


def normal(heads: int, rows: int, d: int, dtype: torch.dtype = torch.bfloat16) -> Tensor:
    """(2, heads, rows, d), drawn on the CPU, so that no kernel but ours runs for long."""
    return torch.randn(2, heads, rows, d).to("cuda", dtype)


def ragged(d: int, dtype: torch.dtype = torch.bfloat16) -> tuple[Tensor, Tensor, Tensor]:
    """q, k, v: 2 · 4 heads of 70 queries, 2 · 2 of 150 keys; no tile's length divides either."""
    return normal(4, 70, d, dtype), normal(2, 150, d, dtype), normal(2, 150, d, dtype)


def backward(d: int, dtype: torch.dtype = torch.bfloat16, window: int | None = None) -> None:
    q, k, v = ragged(d, dtype)
    o, lse = flash.forward(q, k, v, window=window, **SCALED)
    do, dlse = normal(4, 70, d, dtype), normal(4, 70, 1, torch.float32)[..., 0]
    flash_backward.backward(do, q, k, v, o, lse, dlse=dlse, window=window, **SCALED)


def hopper_backward(d: int) -> None:
    q, k, v = ragged(d)
    do, dlse = normal(4, 70, d), normal(4, 70, 1, torch.float32)[..., 0]
    hopper.backward(do, q, k, v, *hopper.forward(q, k, v, **SCALED), dlse=dlse, **SCALED)


def split(d: int, dtype: torch.dtype = torch.bfloat16) -> None:
    _, k, v = ragged(d, dtype)
    decode.forward(normal(4, 3, d, dtype), k, v, splits=3, **SCALED)


def paged(page: int, d: int = 64) -> None:
    """Sequences of 150 and 31 keys; what the table holds behind them lies outside the cache."""
    table = torch.full((2, 200 // page + 2), 10**6, dtype=torch.int32)
    pages = -(-150 // page)
    table[:, :pages] = torch.randperm(2 * pages).view(2, pages)
    k, v = (torch.randn(2 * pages, page, 2, d).to("cuda", torch.bfloat16) for _ in range(2))
    lengths = torch.tensor([150, 31], dtype=torch.int32)
    decode.paged(normal(4, 3, d), k, v, table.cuda(), lengths.cuda(), splits=3, **SCALED)


def launches() -> Iterator[tuple[str, Callable[[], object]]]:
    """A name and a launch for each way through each kernel."""
    for d in (40, 128, 256):
        yield f"flash d {d}", partial(flash.forward, *ragged(d), **SCALED)
        yield f"backward d {d}", partial(backward, d)
    yield "flash, element by element", partial(flash.forward, *ragged(20, torch.float16), **SCALED)
    yield "backward, element by element", partial(backward, 20, torch.float16)
    yield "flash in float32", partial(flash.forward, *ragged(64, torch.float32), **SCALED)
    yield "flash, window", partial(flash.forward, *ragged(64), window=20, **SCALED)
    yield "backward, window", partial(backward, 64, window=20)
    yield "fa1", partial(flash_fa1.forward, *ragged(64), **SCALED)
    yield "four kernels", partial(four_kernels.forward, *ragged(64), **SCALED)
    yield "decode d 64", partial(split, 64)
    yield "decode, element by element", partial(split, 20, torch.float16)
    yield "paged, many pages a tile", partial(paged, 16)
    yield "paged, one page a tile", partial(paged, 128)
    if torch.cuda.get_device_capability() == (9, 0):
        for d in hopper.HEAD_DIMS:
            yield f"hopper d {d}", partial(hopper.forward, *ragged(d), **SCALED)
            yield f"hopper backward d {d}", partial(hopper_backward, d)


def main(names: tuple[str, ...]) -> None:
    for name, launch in launches():
        if name.startswith(names):
            launch()
            torch.cuda.synchronize()
            print(name, flush=True)


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("no CUDA device here")
    main(tuple(sys.argv[1:]) or ("",))
