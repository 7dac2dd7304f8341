"""How many bytes does each implementation ask memory for? Counted, not estimated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kernels.demos import Demo, Param
from kernels.demos.common import many
from kernels.measure import counted, traffic
from kernels.wire import Call, Event, Progress, Result, Row, Series

if TYPE_CHECKING:
    from kernels.measure.ledger import Ledger

HEAD_DIM = 64
ITEMSIZE = 2
TILE = 64  # keys a tile, and queries a tile of the standard kernels
LENGTHS = (128, 256, 512)
# Where S alone is 2.1 GB: no cache hides there what crosses memory.
LONG: dict[str, Any] = {"n": 8192, "d": 128, "heads": 16, "dtype": "bfloat16"}

DEMO = Demo(
    name="bytes-moved",
    claim="Tiled attention asks memory for far fewer bytes than standard attention; formulas give both.",
    question="One head in fp16 with d = 64. How many bytes does the tiled kernel ask memory for? N is 512 "
    "and a tile is 64 queries by 64 keys, unless you change them.",
    unit="B",
    form="number",
    needs=("torch", "triton"),
    devices=("interpreter",),
    params=(
        Param("n", 512, LENGTHS, "queries and keys"),
        Param("tile_rows", 64, (32, 64, 128), "queries a tile of the tiled kernel"),
    ),
    seconds=3.0,
    plan="Run both in Triton's interpreter on the CPU, and count the bytes of every load and store.",
    explain="""\
Take e bytes an element, tiles of B queries, and T = ⌈N / B⌉ tiles of queries.

- **Standard** is four kernels through memory. S is written, read, written again scaled and masked, and read
  by the softmax; P is written and read: 6 N² elements. The two products read Q once for each tile of keys,
  K and V once for each tile of queries; O is written once.
- **Tiled** keeps B queries on chip while all of K and V pass by: 2 N d + 2 N d T elements, and one float32
  logsumexp for each query. S and P never leave the chip.
- The **floor** is Q, K, V, O and the logsumexp once each. No exact implementation can do with less.

The term 2 N d T is N² · 2d / B: still quadratic, divided by the height of a tile. On-chip memory limits that
height. DRAM sees less than the kernel asks for, since a cache serves most of the repeats of K and V.
""",
)


def run(params: Mapping[str, Any], device: str) -> Iterator[Event]:
    """Count both at each length up to n, and compare with the formulas, tensor by tensor."""
    n, rows = params["n"], params["tile_rows"]
    lengths = [length for length in LENGTHS if length <= n]
    totals: dict[str, list[int]] = {"standard": [], "tiled": []}
    wrong: list[str] = []
    for step, length in enumerate(lengths):
        yield Progress(2 * step, 2 * len(lengths), f"standard, N = {length}")
        found = _count_standard(length)
        totals["standard"].append(found.total)
        wrong += [f"standard at N = {length}"] * (found != _standard(length))

        yield Progress(2 * step + 1, 2 * len(lengths), f"tiled, N = {length}")
        found = _count_tiled(length, rows)
        totals["tiled"].append(found.total)
        wrong += [f"tiled at N = {length}"] * (found != _tiled(length, rows))

    standard, tiled, floor = _standard(n).total, _tiled(n, rows).total, traffic.floor(_problem(n)).total
    tiles = -(-n // rows)
    yield Row("standard", standard, totals["standard"][-1], "B", "S and P cross memory six times")
    yield Row("tiled", tiled, totals["tiled"][-1], "B", f"K and V are read {many(tiles, 'time')}")
    yield Row("floor", floor, None, "B", "everything once")
    for name, values in totals.items():
        yield Series(name, lengths, values, "N", "B")

    once = 2 * n * HEAD_DIM * ITEMSIZE
    why = (
        f"every tensor's reads and writes equal the formula: {standard / tiled:.1f} times fewer bytes than "
        f"standard, yet {tiled / floor:.1f} times the floor, since each tile of queries reads K and V again"
    )
    yield Result(
        quantity="tiled",
        formula=tiled,
        measured=totals["tiled"][-1],
        unit="B",
        verdict="refuted" if wrong else "confirmed",
        why=f"the count differs from the formula for {', '.join(wrong)}" if wrong else why,
        derivation=f"Q and O once: 2·{n}·{HEAD_DIM}·{ITEMSIZE} = {once:,}. K and V for each of "
        f"{many(tiles, 'tile')}: {tiles}·{once:,} = {tiles * once:,}. Logsumexp: 4·{n} = {4 * n:,}. "
        f"Together {tiled:,}.",
        limits="Counted by the interpreter, on any machine: what the kernel asks for. How much of it "
        "reaches DRAM depends on a GPU's caches, and only that GPU's counters can tell.",
        calls=_calls(n),
    )


def _calls(n: int) -> tuple[Call, ...]:
    usual: dict[str, Any] = {"n": n, "d": HEAD_DIM, "heads": 1, "dtype": "float16"}
    return (
        Call("standard", "four-kernels", **usual),
        Call("tiled", "flash", **usual),
        Call("standard in PyTorch", "standard", **LONG),
        Call("tiled", "flash", **LONG),
    )


def _problem(n: int) -> traffic.Problem:
    return traffic.Problem(queries=n, keys=n, head_dim=HEAD_DIM, itemsize=ITEMSIZE)


def _standard(n: int) -> Ledger:
    return traffic.standard(_problem(n), tile_rows=TILE, tile_columns=TILE)


def _tiled(n: int, rows: int) -> Ledger:
    return traffic.tiled(_problem(n), tile_rows=rows, tile_columns=TILE)


def _count_standard(n: int) -> Ledger:
    from kernels.tiles import Tile

    return counted.standard(_problem(n), Tile(TILE, TILE)).bytes


def _count_tiled(n: int, rows: int) -> Ledger:
    from kernels.tiles import Tile

    return counted.tiled(_problem(n), Tile(rows, TILE)).bytes
