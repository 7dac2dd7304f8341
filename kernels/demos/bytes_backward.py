"""The bytes that the backward pass asks for, tensor by tensor."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from kernels.demos import Demo, Param
from kernels.demos.common import COUNTED, Steps, many, verdict
from kernels.measure import counted, traffic
from kernels.wire import Event, Result, Row, Series

HEAD_DIM, ITEMSIZE = 64, 2
LENGTHS = (64, 128, 256)

DEMO = Demo(
    name="bytes-backward",
    claim="The backward pass keeps no N × N matrix either: formulas give its bytes, to the last one.",
    question="Backward pass of one head, N = 256, d = 64, fp16, in two walks over tiles of 64 by 64: one for "
    "dK and dV, one for dQ. How many bytes does it ask memory for?",
    unit="B",
    form="number",
    needs=("torch", "triton"),
    devices=("interpreter",),
    params=(
        Param("n", 256, LENGTHS, "queries and keys"),
        Param("tile", 64, (32, 64), "queries and keys a tile"),
    ),
    seconds=3.0,
    plan="Run the two kernels of the backward pass in the interpreter, and count every load and store.",
    explain="""\
With T = ⌈N / B⌉ tiles each way and e bytes an element:

- **dQ**: a tile of queries stays. Q, O, dO, dQ once, K and V T times. The logsumexp is read, and written down
  again in powers of two beside D = rowsum(dO ∘ O): e (4 N d + 2 N d T) + 12 N;
- **dK, dV**: a tile of keys stays, all queries pass by. K, V, dK, dV once, Q and dO T times, with two numbers
  a query each time: e (4 N d + 2 N d T) + 8 N T.

Standard attention has seven N × N passes: P for dV, dP written, P and dP read and dS written, dS for dQ and
for dK: e (7 N² + 8 N d), with each operand read once. As in the forward pass tiling divides the quadratic
part by the height of a tile. What it removes is memory: P, dP and dS never exist.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Each length up to n."""
    n, tile = params["n"], params["tile"]
    lengths = [length for length in LENGTHS if length <= n]
    steps = Steps(len(lengths))
    totals, wrong = [], []
    formula = found = None
    for length in lengths:
        yield steps.begin(f"N = {length}")
        problem = traffic.Problem(length, length, HEAD_DIM, ITEMSIZE)
        formula = traffic.backward(problem, keys_a_tile=tile, queries_a_tile=tile)
        found = counted.backward(problem, tile, tile).bytes
        totals.append(found.total)
        wrong += [f"N = {length}"] * (found != formula)
    assert formula is not None and found is not None
    standard = ITEMSIZE * (7 * n * n + 8 * n * HEAD_DIM)
    tiles = -(-n // tile)
    yield Row("tiled, backward", formula.total, found.total, "B", f"{many(tiles, 'tile')} each way")
    for name in sorted(formula.read):
        yield Row(f"{name} read", formula.read[name], found.read.get(name, 0), "B", _NAMES.get(name, ""))
    yield Row("standard, backward", standard, None, "B", "seven N × N passes, operands read once")
    yield Series("tiled, backward", lengths, totals, "N", "B")
    row = n * HEAD_DIM * ITEMSIZE
    yield Result(
        quantity="tiled, backward",
        formula=formula.total,
        measured=found.total,
        unit="B",
        verdict=verdict(wrong),
        why=f"the count differs from the formula for {', '.join(wrong)}"
        if wrong
        else f"every tensor's reads and writes equal the formula; {standard / formula.total:.1f} times "
        f"{'fewer' if standard > formula.total else 'as many'} than seven N × N passes, a ratio that grows "
        "with N and with the tile",
        derivation=f"One pass over a tensor: {n}·{HEAD_DIM}·{ITEMSIZE} = {row:,} B. dQ (4 + 2·{tiles})"
        f"·{row:,} + 12·{n}; dK and dV (4 + 2·{tiles})·{row:,} + 8·{n}·{tiles}. "
        f"Together {formula.total:,} B.",
        limits=COUNTED,
    )


_NAMES = {"L": "logsumexp", "W": "workspace: D, and the logsumexp in powers of two"}
