"""Compiles the Hopper kernel for each plan, without such a chip, and says what the assembler made of it.

    python tests/kernels/hopper_report.py

One JSON object a line. Not collected by pytest: a process that compiles cannot also interpret.
"""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.backends.nvidia.compiler import get_ptxas
from triton.experimental.gluon._runtime import GluonASTSource

from kernels.hopper import launch

CUOBJDUMP = Path(triton.__file__).parent / "backends" / "nvidia" / "bin" / "cuobjdump"
TYPES = {torch.bfloat16: "bf16", torch.float16: "fp16"}
# (d, N, causal, ragged, type): each plan, with and without each mask.
KERNELS = (
    (64, 512, True, False, torch.bfloat16),
    (64, 4096, True, False, torch.float16),
    (64, 512, False, True, torch.float16),
    (64, 4096, False, True, torch.bfloat16),
    (128, 4096, True, False, torch.bfloat16),
    (128, 4096, False, False, torch.float16),
    (128, 4096, False, True, torch.bfloat16),
    (256, 4096, True, False, torch.bfloat16),
    (256, 4096, False, True, torch.float16),
)


def compiled(plan: launch.Plan, head_dim: int, *, causal: bool, ragged: bool, dtype: torch.dtype) -> Any:
    """The kernel as the launcher would compile it."""

    def descriptor(rows: int) -> str:
        layout = launch.layout_for(rows, head_dim, dtype)
        return f"tensordesc<{TYPES[dtype]}[1, 1, {rows}, {head_dim}],{layout!r}>"

    kernel: Any = launch._hopper_forward
    values = launch.constants(plan, causal=causal, ragged=ragged)
    queries, keys = descriptor(launch.ROWS), descriptor(plan.block)
    types = {"q_desc": queries, "k_desc": keys, "v_desc": keys, "scale_log2": "fp32"}
    types |= {"O": f"*{TYPES[dtype]}", "L": "*fp32", "counters": "*i32"}
    types |= dict.fromkeys(("o_batch", "o_head", "o_row"), "i64") | dict.fromkeys(values, "constexpr")
    signature = {name: types.get(name, "i32") for name in kernel.arg_names}
    places = {name: (place,) for place, name in enumerate(signature)}
    source = GluonASTSource(
        fn=kernel,
        signature=signature,
        constexprs={places[name]: value for name, value in values.items()},
        attrs={places[name]: [["tt.divisibility", 16]] for name in ("O", "L", "counters")},
    )
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})


def assembled(ptx: str) -> tuple[str, str]:
    """What the assembler said, and the machine code that it made."""
    with tempfile.TemporaryDirectory() as folder:
        source, binary = Path(folder, "kernel.ptx"), Path(folder, "kernel.cubin")
        source.write_text(ptx)
        command = [get_ptxas(90).path, "-v", "--gpu-name=sm_90a", source, "-o", binary]
        said = subprocess.run(command, capture_output=True, text=True, check=True)
        sass = subprocess.run([CUOBJDUMP, "-sass", binary], capture_output=True, text=True, check=True)
    return said.stdout + said.stderr, sass.stdout


def instructions(sass: str) -> Iterator[tuple[str, list[str]]]:
    """Each instruction's name and operands, in the order of the text."""
    for text in re.findall(r"/\*[0-9a-f]{4,5}\*/\s+(?:@!?U?P\w+\s+)?([^;]+);", sass):
        name, _, operands = text.strip().partition(" ")
        yield name, [operand.strip() for operand in operands.split(",")]


def written(name: str, operands: list[str]) -> set[int]:
    """The registers that an instruction writes."""
    if name.startswith(("SHFL", "ATOM")):  # these name a predicate first
        operands = operands[1:]
    first = re.fullmatch(r"R(\d+)(\.64)?", operands[0]) if operands else None
    if first is None:
        return set()
    product = re.match(r"HGMMA\.64x(\d+)x", name)
    if product:
        count = int(product[1]) // 2
    elif ".128" in name:
        count = 4
    else:
        count = 2 if re.search(r"\.64|\.WIDE|^CS2R(?!\.32)", name) else 1
    return set(range(int(first[1]), int(first[1]) + count))


def overwritten(code: Iterable[tuple[str, list[str]]]) -> list[str]:
    """Instructions that write a register which a matrix product in flight still reads as its left operand."""
    begun: set[int] = set()
    flying: list[set[int]] = []  # a set for each group that a wait can name, the oldest first
    culprits = []
    for name, operands in code:
        if written(name, operands) & begun.union(*flying):
            culprits.append(f"{name} {', '.join(operands)}")
        if name.startswith("HGMMA"):
            left = re.match(r"R(\d+)", operands[1])
            begun |= set(range(int(left[1]), int(left[1]) + 4)) if left else set()
            if "gsb0" in operands:
                flying.append(begun)
                begun = set()
        elif name == "WARPGROUP.DEPBAR.LE":
            keep = int(operands[1], 16)
            flying = flying[len(flying) - keep :] if keep < len(flying) else flying
    return culprits


def report(head_dim: int, N: int, causal: bool, ragged: bool, dtype: torch.dtype) -> dict[str, Any]:
    plan = launch.plan_for(head_dim, N, N, causal=causal)
    kernel = compiled(plan, head_dim, causal=causal, ragged=ragged, dtype=dtype)
    said, sass = assembled(kernel.asm["ptx"])
    code = list(instructions(sass))
    stack = re.search(r"(\d+) bytes stack frame", said)
    assert stack, said
    return {
        "head_dim": head_dim,
        "N": N,
        "causal": causal,
        "products": sum(name.startswith("HGMMA") for name, _ in code),
        "stack": int(stack[1]),
        "shared": kernel.metadata.shared,
        "serialised": "serialized" in said,
        "overwritten": overwritten(code),
    }


if __name__ == "__main__":
    for kernel in KERNELS:
        print(json.dumps(report(*kernel)), flush=True)
