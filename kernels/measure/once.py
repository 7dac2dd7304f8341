"""Computes attention once, for a profiler to watch: `python -m kernels.measure.once flash --n 512`.

The profiler is told to look at that call alone: not at making inputs, nor at the call before, which compiles.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

FOUR_KERNELS = "four-kernels"


def main(arguments: Sequence[str]) -> int:
    """One call on the current CUDA device; `impl` is four-kernels or one of the front door's."""
    parser = argparse.ArgumentParser(prog="python -m kernels.measure.once", description=__doc__)
    parser.add_argument("impl")
    parser.add_argument("--n", type=int, default=512)
    parser.add_argument("--d", type=int, default=64)
    parser.add_argument("--heads", type=int, default=1)
    parser.add_argument("--dtype", choices=("float16", "bfloat16"), default="float16")
    parser.add_argument("--causal", action="store_true")
    asked = parser.parse_args(arguments)

    import torch

    from kernels.attention import attention

    shape = (3, 1, asked.heads, asked.n, asked.d)
    q, k, v = torch.randn(shape, dtype=getattr(torch, asked.dtype), device="cuda")

    def compute() -> None:
        if asked.impl == FOUR_KERNELS:
            from kernels import four_kernels

            four_kernels.forward(q, k, v, causal=asked.causal, scale=asked.d**-0.5)
        else:
            attention(q, k, v, causal=asked.causal, impl=asked.impl)
        torch.cuda.synchronize()

    compute()
    torch.cuda.profiler.start()
    compute()
    torch.cuda.profiler.stop()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
