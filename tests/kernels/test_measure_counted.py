"""The formulas of backward, decoding and FlashAttention-1, against counts of ragged problems."""

from __future__ import annotations

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels.measure import counted, traffic
from kernels.measure.traffic import Problem
from kernels.tiles import Tile

RAGGED = [Problem(100, 77, 40, 2), Problem(33, 128, 64, 4), Problem(64, 64, 16, 2), Problem(1, 50, 32, 2)]


@pytest.mark.parametrize("problem", RAGGED, ids=str)
def test_backward(problem: Problem) -> None:
    found = counted.backward(problem, keys_a_tile=32, queries_a_tile=32)
    assert found.bytes == traffic.backward(problem, keys_a_tile=32, queries_a_tile=32)


@pytest.mark.parametrize("problem", RAGGED, ids=str)
def test_keys_outside(problem: Problem) -> None:
    found = counted.keys_outside(problem, Tile(queries=32, keys=32))
    assert found.bytes == traffic.keys_outside(problem, tile_columns=32)


@pytest.mark.parametrize("splits", [1, 2, 3, 5])
@pytest.mark.parametrize("kv_heads", [1, 3, 6])
@pytest.mark.parametrize("queries", [1, 4])
def test_decoding(queries: int, kv_heads: int, splits: int) -> None:
    problem = Problem(queries, 500, 64, 2, batch=2, heads=6)
    found = counted.decoding(problem, kv_heads=kv_heads, splits=splits)
    assert found.bytes.total == traffic.decoding(problem, kv_heads=kv_heads, splits=splits)
    assert counted.decoding_flops(problem) == 4 * 2 * 6 * queries * 500 * 64


def test_operations_of_a_tile_that_juts_out_are_counted_whole() -> None:
    found = counted.tiled(Problem(1, 1, 16, 2), Tile(queries=32, keys=64))
    assert found.operations.flops == 4 * 32 * 64 * 16
    assert found.intensity == found.operations.flops / found.bytes.total
