"""Compiles the kernels for one chip, which need not be here, and says what the compiler made of them.

    python tests/kernels/compile_report.py 90

The launchers run as they are, on tensors on the CPU: a driver that claims the chip stands in for the real
one, and each kernel is compiled where it would be launched. One JSON object a line for each. Not collected
by pytest: a process that compiles cannot also interpret.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.runtime import driver, jit

from kernels import decode, flash, flash_backward, tiles

CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
TYPES = {2: torch.float16, 4: torch.float32}


class Chip:
    """As much of a driver as compiling asks for."""

    def __init__(self, chip: int) -> None:
        self.chip = chip

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int) -> int:
        return 0

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("cuda", self.chip, 32)


def compiled(chip: int, launch: Callable[[], None]) -> list[Any]:
    """The kernels that `launch` would launch, compiled for the chip."""
    found: list[Any] = []

    def at(kernel: Any, grid: Any) -> Callable[..., None]:
        return lambda *args, **kwargs: found.append(kernel.run(*args, grid=grid, warmup=True, **kwargs))

    setattr(jit.JITFunction, "__getitem__", at)  # noqa: B010 - to a type checker its signature differs
    driver.set_active(Chip(chip))  # type: ignore[arg-type]
    tiles.capability = lambda _: (chip // 10, chip % 10)
    launch()
    return found


def resources(cubin: bytes) -> tuple[int, int]:
    """Registers a thread, and bytes of stack a thread: what does not fit into registers goes there."""
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        dump = subprocess.run(
            [CUOBJDUMP, "-res-usage", file.name], capture_output=True, text=True, check=True
        )
    usage = re.search(r"REG:(\d+) STACK:(\d+)", dump.stdout + dump.stderr)
    assert usage, dump.stdout
    return int(usage[1]), int(usage[2])


def instructions(ptx: str) -> Iterator[str]:
    """Those that tell how the kernel computes and loads."""
    for name in ("mma.sync", "wgmma.mma_async", "tcgen05.mma"):
        if name in ptx:
            yield name
    if re.search(r"cp\.async\.cg\.shared\.global .*, 0x10", ptx):
        yield "cp.async 16 B"
    if "cp.async.bulk.tensor" in ptx:
        yield "bulk tensor copy"


def forward(head_dim: int, itemsize: int, *, causal: bool, length: int = 1024) -> None:
    q, k, v, o = (torch.empty(1, 2, length, head_dim, dtype=TYPES[itemsize]) for _ in range(4))
    flash.launch(q, k, v, o, torch.empty(q.shape[:3]), causal=causal, scale=1.0)


def backward(head_dim: int, itemsize: int, length: int = 1024) -> None:
    """Causal, which holds both loops of either walk."""
    shape = (1, 2, length, head_dim)
    do, q, k, v, o, dq, dk, dv = (torch.empty(shape, dtype=TYPES[itemsize]) for _ in range(8))
    flash_backward.launch(do, q, k, v, o, torch.empty(q.shape[:3]), dq, dk, dv, causal=True, scale=1.0)


def decoding(head_dim: int, itemsize: int) -> None:
    """One query of eight heads that share one of K and V, with its cache in one piece and in pages."""
    q = torch.empty(1, 8, 1, head_dim, dtype=TYPES[itemsize])
    cache = torch.empty(64, 16, 1, head_dim, dtype=TYPES[itemsize])
    k = cache.view(1, 1, -1, head_dim)
    decode.forward(q, k, k, causal=True, scale=1.0, splits=4)
    table, lengths = torch.empty(1, 64, dtype=torch.int32), torch.empty(1, dtype=torch.int32)
    decode.paged(q, cache, cache, table, lengths, causal=True, scale=1.0, splits=4)


def launches() -> Iterator[tuple[str, int, int, Callable[[], None]]]:
    """What is compiled: a name, bytes an element, a head dimension, and the launches."""
    for itemsize, head_dim in flash.TILES:
        # A causal kernel has both loops, with and without a mask. float32 is there to be right, not fast.
        yield "causal", itemsize, head_dim, partial(forward, head_dim, itemsize, causal=True)
        if itemsize == 2:
            yield "full", itemsize, head_dim, partial(forward, head_dim, itemsize, causal=False)
            yield "causal", itemsize, head_dim, partial(backward, head_dim, itemsize)
            yield "decode", itemsize, head_dim, partial(decoding, head_dim, itemsize)
            # A 1 is compiled in as a constant, where the kernel does not refuse it.
            yield "one key", itemsize, head_dim, partial(forward, head_dim, itemsize, causal=True, length=1)
            yield "one key", itemsize, head_dim, partial(backward, head_dim, itemsize, length=1)


def main(chip: int) -> None:
    for case, itemsize, head_dim, launch in launches():
        for kernel in compiled(chip, launch):
            registers, stack = resources(kernel.asm["cubin"])
            said = {
                "kernel": kernel.metadata.name,
                "case": case,
                "itemsize": itemsize,
                "head_dim": head_dim,
                "registers": registers,
                "stack": stack,
                "shared": kernel.metadata.shared,
                "instructions": list(instructions(kernel.asm["ptx"])),
            }
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
