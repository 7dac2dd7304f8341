"""The rows of the benchmark: their shapes, and the operations and bytes that they come to."""

from __future__ import annotations

import pytest

from kernels.bench.grid import Point, full, quick


def test_every_head_dimension_mask_and_length_is_there() -> None:
    for phase in ("forward", "backward"):
        rows = {(p.d, p.causal, p.n) for p in full() if p.phase == phase and p.heads == p.heads_kv}
        assert len(rows) == 3 * 2 * 6
        assert {n for _, _, n in rows} == {512, 1024, 2048, 4096, 8192, 16384}


def test_passes_come_one_after_the_other_and_no_row_twice() -> None:
    phases = [point.phase for point in full()]
    assert phases == ["forward"] * 39 + ["backward"] * 39 + ["decode"] * 18
    assert len(set(full())) == len(full())
    assert set(quick()) <= set(full())
    assert {point.phase for point in quick()} == {"forward", "backward", "decode"}


@pytest.mark.parametrize("point", full(), ids=str)
def test_tokens_and_width_stay_the_same(point: Point) -> None:
    assert point.batch * point.n == (131072 if point.phase == "decode" else 16384)
    assert point.heads * point.d == 2048
    assert point.heads % point.heads_kv == 0
    assert point.queries == (1 if point.phase == "decode" else point.n)


def test_operations() -> None:
    forward = Point("forward", 128, False, 4096, 4, 16, 16)
    assert forward.flops == 4 * 4096 * 4096 * 128 * 16 * 4 == 549_755_813_888
    assert Point("forward", 128, True, 4096, 4, 16, 16).flops == forward.flops / 2
    assert Point("backward", 128, False, 4096, 4, 16, 16).flops == 2.5 * forward.flops
    assert Point("backward", 128, True, 4096, 4, 16, 4).flops == 1.25 * forward.flops
    assert Point("decode", 128, False, 4096, 4, 16, 4).flops == forward.flops / 4096


def test_bytes() -> None:
    whole = 4 * 16 * 4096 * 128 * 2  # one tensor of 16 heads in bf16
    assert Point("forward", 128, True, 4096, 4, 16, 16).bytes == 4 * whole
    assert Point("forward", 128, True, 4096, 4, 16, 4).bytes == 2 * whole + 2 * whole // 4
    assert Point("backward", 128, False, 4096, 4, 16, 16).bytes == 8 * whole
    assert Point("decode", 128, False, 4096, 4, 16, 16).bytes == 2 * whole + 2 * whole // 4096
