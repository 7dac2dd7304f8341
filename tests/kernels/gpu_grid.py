"""The compiled kernels on a CUDA device against float64: a table, and exit code 1 if anything is wrong.

    PYTHONPATH=. python tests/kernels/gpu_grid.py [KIND …]

with kinds only the checks whose line begins with one of them, such as `tiled` or `backward`.

Not collected by pytest, which interprets. Inputs are new at each run. Checks run in several processes at
once, since most of the time goes into compiling; the largest run alone.
"""

from __future__ import annotations

import math
import multiprocessing
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from itertools import product

import gpu_checks as checks  # which lies beside this file
import torch
import triton
from gpu_checks import HALF, Case, Verdict

BOTH = (False, True)
ODD_DIMS = (8, 16, 32, 40, 72, 80, 96, 160, 192)

SHAPES = [
    Case(1, 4096, 128, True, batch=4, heads=8, kv_heads=2),
    Case(64, 2048, 128, True, heads=8, kv_heads=8),
    Case(100, 1000, 64, True, batch=3, heads=6, kv_heads=2),
    Case(512, 200, 64, True),
    Case(1000, 1, 128),
    Case(1, 1, 64),
    Case(640, 640, 128, True, batch=2, heads=8, kv_heads=1),
    Case(500, 500, 128, True, window=60),
    Case(300, 700, 64, window=99, heads=4, kv_heads=2),
    Case(700, 300, 64, True, window=0),
]
CASES = [
    *(Case(n, n, d, c) for d, n, c in product((64, 128, 256), (200, 1024), BOTH)),
    *(
        Case(333, 333, d, c, dtypes=checks.EVERY if d in (40, 96) else HALF)
        for d, c in product(ODD_DIMS, BOTH)
    ),
    *SHAPES,
    Case(4168, 4168, 128, True, heads=2, kv_heads=2, dtypes=HALF),
    Case(1024, 1024, 128, True, spread=8.0, dtypes=HALF),
    Case(1024, 1024, 64, spread=8.0, dtypes=HALF),
    Case(512, 512, 64, spread=2500.0),  # scores up to 10⁴
]
GRADIENTS = [
    *(Case(n, n, d, c, dtypes=HALF) for d, n, c in product((64, 128, 256), (200, 1024), BOTH)),
    *(Case(333, 333, d, c, dtypes=HALF[:1]) for d, c in product((40, 72, 80, 96, 192), BOTH)),
    *(Case(300, 300, d, True, dtypes=(torch.float32,)) for d in (40, 64, 128, 256)),
    *SHAPES,
    Case(4168, 4168, 128, True, heads=2, kv_heads=2, dtypes=HALF[:1]),
    Case(1024, 1024, 128, True, spread=8.0, dtypes=HALF[:1]),
]
DECODING = [
    *(Case(1, 5000, d, True, batch=2, heads=8, kv_heads=2) for d in (40, 64, 96, 128, 256)),
    Case(1, 1, 128, heads=8, kv_heads=8),
    Case(8, 3000, 128, True, heads=8, kv_heads=1),
    Case(5, 3, 64, True),
    Case(2, 1000, 64, True, spread=2500.0),
]
FIRST_ORDER = [Case(300, 300, 64, True), Case(512, 512, 128), Case(512, 200, 64, True, heads=4, kv_heads=2)]
PLAIN = [Case(300, 300, 64, True), Case(64, 1000, 128, heads=4, kv_heads=2), Case(512, 200, 64, True)]
SQUARE = [Case(1024, 1024, d, causal, dtypes=HALF) for d, causal in product((64, 128, 256), BOTH)]
FRONT = [*SQUARE, Case(1, 4096, 128, True, heads=8, kv_heads=2, dtypes=HALF), *SHAPES[2:4], *SHAPES[7:9]]

Check = tuple[str, Callable[[str], Verdict]]


def grid() -> list[Check]:
    """What may run side by side."""
    kinds = (
        (checks.tiled, CASES),
        (checks.backward, GRADIENTS),
        (checks.split, DECODING),
        (checks.first_order, FIRST_ORDER),
        (checks.four, PLAIN),
        (checks.whole_numbers, SQUARE),
        (checks.front, FRONT),
    )
    listed: list[Check] = [
        (
            f"{kind.__name__:13}  {str(dtype)[6:]:8}  {case}",
            lambda device, kind=kind, case=case, dtype=dtype: kind(case, dtype, device),
        )
        for kind, cases in kinds
        for case in cases
        for dtype in case.dtypes
    ]
    listed += [("views of every kind", checks.layouts), ("torch.compile", checks.compiled)]
    return listed


ALONE: list[Check] = [
    ("interleaved heads, rows beyond 32 bits", checks.interleaved),
    ("tensors beyond 32 bits", checks.beyond_32_bits),
]


def line(check: Check, device: str) -> tuple[bool, str]:
    """Run one check: whether it is right, and its line of the table."""
    label, run = check
    began = time.perf_counter()
    try:
        measured, complaint = run(device)
    except Exception as failure:  # a launch that fails is a line of the table, not the end of it
        measured, complaint = math.nan, f"{type(failure).__name__}: {failure}".splitlines()[0]
    seconds = time.perf_counter() - began
    return not complaint, f"{label:62}  {measured:9.2e}  {seconds:6.2f} s  {complaint or 'ok'}"


def numbered(number: int, device: str) -> tuple[bool, str]:
    return line(grid()[number], device)


def main(kinds: tuple[str, ...], device: str = "cuda") -> int:
    """Returns the exit code."""
    print(
        f"{torch.cuda.get_device_name()} · torch {torch.__version__} · triton {triton.__version__}",
        flush=True,
    )
    right = total = 0
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(min(12, os.cpu_count() or 1), mp_context=context) as pool:
        numbers = [n for n, (label, _) in enumerate(grid()) if label.startswith(kinds)]
        for good, said in pool.map(numbered, numbers, [device] * len(numbers)):
            right, total = right + good, total + 1
            print(said, flush=True)
    for check in (check for check in ALONE if check[0].startswith(kinds)):
        good, said = line(check, device)
        right, total = right + good, total + 1
        print(said, flush=True)
    print(f"{right} of {total} right")
    return int(right < total)


if __name__ == "__main__":
    if not torch.cuda.is_available():
        sys.exit("no CUDA device here")
    sys.exit(main(tuple(sys.argv[1:]) or ("",)))
