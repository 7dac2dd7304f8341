"""Operations, allocations and cached bytes: counted on kernels small enough to count by hand."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl

from kernels import interpreter
from kernels.measure import allocations, l2, operations
from kernels.measure.bytes import counting
from kernels.measure.l2 import Access, dram_bytes, footprint
from kernels.measure.operations import Operations


@triton.jit
def _arithmetic(X, Y, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, N)
    a = tl.load(X + i[:, None] * K + tl.arange(0, K)[None, :])
    s = tl.dot(a, tl.trans(a))
    y = tl.exp(s) / (1.0 + tl.exp2(tl.max(s, 1)))[:, None]
    tl.store(Y + i[:, None] * N + i[None, :], y)


def compute(n: int, k: int) -> None:
    kernel: Any = _arithmetic[(2,)]
    kernel(torch.zeros(n, k), torch.zeros(n, n), N=n, K=k)


def test_operations_by_hand() -> None:
    with operations.counting() as count:
        compute(16, 32)
    # two programs, each with one product of 16 × 32 by 32 × 16, and 16 maxima
    assert count.total == Operations(2 * 2 * 16 * 16 * 32, 2 * (16 * 16 + 16), 2 * 16 * 16)


def test_what_runs_outside_is_not_counted() -> None:
    with operations.counting() as count:
        pass
    compute(16, 16)
    assert count.total == Operations()


def test_counting_takes_the_interpreter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreter, "enabled", lambda: False)
    with pytest.raises(RuntimeError, match="interpreter"), operations.counting():
        pass
    with pytest.raises(RuntimeError, match="interpreter"), l2.tracing():
        pass


def test_a_trace_holds_each_sector_of_an_access_once() -> None:
    x, y = torch.zeros(16, 32), torch.zeros(16, 16)
    kernel: Any = _arithmetic[(1,)]
    with l2.tracing() as trace, counting(X=x, Y=y) as count:
        kernel(x, y, N=16, K=32)
    assert [(len(a.sectors), a.reads, a.writes) for a in trace] == [(64, True, False), (32, False, True)]
    assert footprint(trace) == count.ledger.total == 96 * 32


def test_a_cache_that_holds_everything_moves_each_sector_once() -> None:
    trace = [Access((1, 2), True, False), Access((1, 2, 3), True, False), Access((3, 4), False, True)]
    assert footprint(trace) == 4 * 32
    assert dram_bytes(trace, 1 << 20) == (3 + 2) * 32  # three read; 3 and 4 written back at the end


def test_a_cache_of_two_sectors_forgets_what_was_used_longest_ago() -> None:
    reads = [Access((sector,), True, False) for sector in (1, 2, 1, 3, 1, 2)]
    assert dram_bytes(reads, 64) == 4 * 32  # 1, 2, 3 and again 2, which made room for 3


def test_a_loop_larger_than_the_cache_finds_nothing() -> None:
    loop = [Access((1, 2, 3), True, False)] * 5
    assert dram_bytes(loop, 64) == 15 * 32
    assert dram_bytes(loop, 96) == 3 * 32


def test_a_written_sector_goes_to_memory_when_it_makes_room_and_not_before() -> None:
    trace = [Access((1,), False, True), Access((1,), False, True), Access((2,), True, False)]
    assert dram_bytes(trace, 32) == 2 * 32
    assert dram_bytes(trace, 0) == 3 * 32


def test_an_atomic_access_reads_and_writes() -> None:
    assert dram_bytes([Access((1,), True, True)], 64) == 2 * 32


def test_allocations_count_new_storages_alone() -> None:
    x = torch.zeros(100)
    with allocations.counting() as count:
        y = x[10:] + 1
        y.mul_(2)
        torch.empty(8, dtype=torch.float16)
        x.view(10, 10).t()
    assert count.bytes == 90 * 4 + 8 * 2
