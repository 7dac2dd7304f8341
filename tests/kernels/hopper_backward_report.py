"""Compiles the Hopper backward pass, without such a chip, and says what the assembler made of it.

    python tests/kernels/hopper_backward_report.py

One JSON object a line, as `hopper_report.py` prints them, and not collected by pytest either.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from typing import Any

import torch
import triton
from hopper_report import TYPES, assembled, instructions, overwritten
from triton.backends.compiler import GPUTarget
from triton.experimental.gluon._runtime import GluonASTSource

from kernels.hopper.gradients import launch
from kernels.hopper.gradients.keys_walk import keys_walk
from kernels.hopper.gradients.one_walk import one_walk
from kernels.hopper.gradients.queries_walk import queries_walk
from kernels.hopper.launch import layout_for

# (kernel, d, causal, ragged, type)
KERNELS = tuple(
    (kernel, d, causal, ragged, dtype)
    for kernel, d in ((one_walk, 64), (one_walk, 128), (keys_walk, 256), (queries_walk, 256))
    for causal, ragged, dtype in (
        (False, False, torch.bfloat16),
        (False, True, torch.float16),
        (True, False, torch.bfloat16),
    )
)


def compiled(kernel: Any, d: int, *, causal: bool, ragged: bool, dtype: torch.dtype) -> Any:
    """The kernel as the launcher would compile it."""
    plan = launch.PLANS[d]

    def rows(count: int) -> str:
        return f"tensordesc<{TYPES[dtype]}[1, 1, {count}, {d}],{layout_for(count, d, dtype)!r}>"

    values = {"CAUSAL": causal, "RAGGED": ragged, "STEPS": plan.steps}
    values = {name: value for name, value in values.items() if name in kernel.arg_names}
    statistics = f"tensordesc<fp32[{2 * plan.queries}],{launch.statistics_layout()!r}>"
    types = dict.fromkeys(("q_desc", "do_desc"), rows(plan.queries)) | {"statistics_desc": statistics}
    types |= {"k_desc": rows(plan.keys)} | dict.fromkeys(
        ("v_desc", "dk_desc", "dv_desc", "dq_desc"), rows(64)
    )
    types |= dict.fromkeys(("sums", "statistics"), "*fp32") | dict.fromkeys(("scale", "scale_log2"), "fp32")
    types |= dict.fromkeys(values, "constexpr")
    signature = {name: types.get(name, "i32") for name in kernel.arg_names}
    places = {name: (place,) for place, name in enumerate(signature)}
    source = GluonASTSource(
        fn=kernel,
        signature=signature,
        constexprs={places[name]: value for name, value in values.items()},
        attrs={places[name]: [["tt.divisibility", 16]] for name in ("sums", "statistics") if name in places},
    )
    return triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 4})


def report(kernel: Any, d: int, causal: bool, ragged: bool, dtype: torch.dtype) -> dict[str, Any]:
    found = compiled(kernel, d, causal=causal, ragged=ragged, dtype=dtype)
    said, sass = assembled(found.asm["ptx"])
    code = list(instructions(sass))
    names = Counter(name for name, _ in code)
    spilled = re.search(r"(\d+) bytes spill stores", said)
    assert spilled, said
    return {
        "kernel": kernel.fn.__name__,
        "head_dim": d,
        "causal": causal,
        "ragged": ragged,
        "products": sum(count for name, count in names.items() if name.startswith("HGMMA")),
        "spilled": int(spilled[1]),
        "shared": found.metadata.shared,
        "serialised": "serialized" in said,
        "overwritten": overwritten(code),
        "additions": [name for name in names if name.startswith("RED")],
    }


if __name__ == "__main__":
    for kernel in KERNELS:
        print(json.dumps(report(*kernel)), flush=True)
