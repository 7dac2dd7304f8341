"""Compiles the tiled kernel for one chip, which need not be here, and says what the compiler made of it.

    python tests/kernels/compile_report.py 90

One JSON object a line for each tile of the table. Not collected by pytest: a process that compiles cannot
also interpret.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

from kernels import flash

CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
TYPES = {2: "fp16", 4: "fp32"}
ALIGNED = [["tt.divisibility", 16]]


def compiled(chip: int, head_dim: int, itemsize: int, *, causal: bool) -> Any:
    """The kernel as the launcher would compile it for contiguous, aligned tensors."""
    tile = flash.tile_for(head_dim, itemsize, (chip // 10, chip % 10))
    constants = {
        "CAUSAL": causal,
        "D": head_dim,
        "TILE_D": flash.padded(head_dim),
        "TILE_M": tile.queries,
        "TILE_N": tile.keys,
    }
    strides = ("i32", "i32", "i32")
    signature: dict[str, Any] = dict.fromkeys(("Q", "K", "V", "O"), f"*{TYPES[itemsize]}") | {"L": "*fp32"}
    signature |= dict.fromkeys(("q_strides", "k_strides", "v_strides", "o_strides"), strides)
    signature |= {"scale_log2": "fp32", "N_q": "i32", "N_k": "i32", "group": "i32"}
    signature |= dict.fromkeys(constants, "constexpr")
    kernel: Any = flash._flash_forward
    assert list(signature) == kernel.arg_names
    places = {name: place for place, name in enumerate(signature)}
    aligned = [(place,) for place in range(5)] + [(place, part) for place in range(5, 9) for part in range(3)]
    source = ASTSource(
        fn=kernel,
        signature=signature,
        constexprs={(places[name],): value for name, value in constants.items()},
        attrs=dict.fromkeys(aligned, ALIGNED),
    )
    options = {"num_warps": tile.warps, "num_stages": tile.stages}
    return triton.compile(source, target=GPUTarget("cuda", chip, 32), options=options)


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


def main(chip: int) -> None:
    for itemsize, head_dim in flash.TILES:
        # A causal kernel has both loops, with and without a mask; float32 is not worth compiling twice.
        for causal in (False, True) if itemsize == 2 else (True,):
            kernel = compiled(chip, head_dim, itemsize, causal=causal)
            registers, stack = resources(kernel.asm["cubin"])
            said = {
                "itemsize": itemsize,
                "head_dim": head_dim,
                "causal": causal,
                "registers": registers,
                "stack": stack,
                "shared": kernel.metadata.shared,
                "instructions": list(instructions(kernel.asm["ptx"])),
            }
            print(json.dumps(said), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
