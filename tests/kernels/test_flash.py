"""The tiled kernel in the interpreter, against float64."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

import math
from functools import reduce
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels import flash, online_softmax, standard
from kernels.flash import Tile

if TYPE_CHECKING:
    from torch import Tensor

SMALL = Tile(queries=32, keys=16)
# Relative to float64 (Frobenius). Half precision rounds P and O: √2 · 0.425 · 2⁻¹¹ = 2.9e-4 for many entries.
TOLERANCE = {"float32": 1e-6, "float16": 4e-4}

SHAPES: dict[str, dict[str, Any]] = {
    "whole tiles": {"queries": 64, "keys": 64},
    "one query, one key": {"queries": 1, "keys": 1},
    "one query": {"queries": 1, "keys": 77},
    "one key": {"queries": 77, "keys": 1},
    "ragged": {"queries": 33, "keys": 47},
    "causal": {"queries": 64, "keys": 64, "causal": True},
    "causal, ragged": {"queries": 50, "keys": 50, "causal": True},
    "causal, the end of a longer sequence": {"queries": 40, "keys": 70, "causal": True},
    "causal, a chunk after a long past": {"queries": 5, "keys": 200, "causal": True},
    "causal, queries without a key": {"queries": 70, "keys": 40, "causal": True},
    "causal, one query": {"queries": 1, "keys": 50, "causal": True},
    "grouped heads": {"queries": 20, "keys": 30, "batch": 2, "heads": 4, "kv_heads": 2},
    "one shared head, causal": {"queries": 33, "keys": 33, "heads": 3, "causal": True},
    **{f"d = {d}": {"queries": 34, "keys": 35, "head_dim": d} for d in (1, 8, 40, 64, 72, 80, 96, 128, 256)},
}


def exact(q: Tensor, k: Tensor, v: Tensor, *, causal: bool = False, scale: float) -> tuple[Tensor, Tensor]:
    return standard.attention(q.double(), k.double(), v.double(), causal=causal, scale=scale)


def relative_error(answer: Tensor, truth: Tensor) -> float:
    return float((answer.double() - truth).norm() / truth.norm())


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("name", SHAPES)
def test_every_shape(name: str, dtype: str, shape: Any) -> None:
    problem = shape(**SHAPES[name])
    q, k, v = problem.inputs(dtype)
    scale = problem.head_dim**-0.5
    truth, lse = exact(q, k, v, causal=problem.causal, scale=scale)
    o, L = flash.forward(q, k, v, causal=problem.causal, scale=scale, tile=SMALL)
    assert o.dtype == q.dtype
    assert relative_error(o, truth) <= TOLERANCE[dtype]
    torch.testing.assert_close(L.double(), lse, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_the_table_s_own_tiles(dtype: str, shape: Any) -> None:
    q, k, v = shape(200, 150, head_dim=64).inputs(dtype)
    o, _ = flash.forward(q, k, v, causal=False, scale=0.125)
    assert relative_error(o, exact(q, k, v, scale=0.125)[0]) <= TOLERANCE[dtype]


def test_the_kernel_folds_as_the_identity_says(shape: Any) -> None:
    q, k, v = shape(32, 48).inputs()
    scores = (q.double() @ k.double().transpose(-1, -2)) / 4
    parts = zip(scores.split(16, -1), v.double().split(16, -2), strict=True)
    output, lse = online_softmax.finish(
        reduce(online_softmax.merge, (online_softmax.block(*x) for x in parts))
    )
    o, L = flash.forward(q, k, v, causal=False, scale=0.25, tile=SMALL)
    assert relative_error(o, output) <= 1e-6
    torch.testing.assert_close(L.double(), lse[..., 0], rtol=0, atol=1e-5)


@pytest.mark.parametrize("tile", [Tile(16, 16), Tile(16, 64), Tile(64, 16), Tile(128, 128)])
@pytest.mark.parametrize("causal", [False, True])
def test_how_it_is_cut_does_not_matter(tile: Tile, causal: bool, shape: Any) -> None:
    q, k, v = shape(70, 90).inputs()
    o, _ = flash.forward(q, k, v, causal=causal, scale=0.2, tile=tile)
    assert relative_error(o, exact(q, k, v, causal=causal, scale=0.2)[0]) <= 1e-6


def test_queries_without_a_key_are_exactly_zero(shape: Any) -> None:
    q, k, v = shape(70, 40).inputs()
    o, L = flash.forward(q, k, v, causal=True, scale=0.2, tile=SMALL)
    assert (o[..., :30, :] == 0).all()
    assert (L[..., :30] == -math.inf).all()
    assert torch.isfinite(L[..., 30:]).all()


def test_without_any_key_or_query(shape: Any) -> None:
    o, lse = flash.forward(*shape(5, 0).inputs(), causal=False, scale=1.0)
    assert (o == 0).all()
    assert (lse == -math.inf).all()
    assert flash.forward(*shape(0, 5).inputs(), causal=False, scale=1.0)[0].shape == (1, 1, 0, 32)


def test_it_writes_its_outputs_whole_and_nothing_else(shape: Any) -> None:
    q, k, v = shape(33, 47, head_dim=40, batch=2, heads=2, kv_heads=2).inputs()
    around_o = torch.full((2, 2, 40, 48), math.nan)
    around_L = torch.full((8 * 33,), math.nan)
    o, L = around_o[:, :, 3:36, 4:44], around_L[66:198].view(2, 2, 33)
    flash.launch(q, k, v, o, L, causal=True, scale=0.2, tile=SMALL)
    assert torch.isfinite(o).all()
    assert torch.isfinite(L).all()
    assert int(torch.isfinite(around_o).sum()) == o.numel()
    assert int(torch.isfinite(around_L).sum()) == L.numel()


def test_what_lies_around_the_inputs_is_never_used(shape: Any) -> None:
    inputs = shape(33, 47, head_dim=40).inputs()
    expected, _ = flash.forward(*inputs, causal=False, scale=0.2, tile=SMALL)
    framed = []
    for x in inputs:
        frame = torch.full((1, 1, x.shape[2] + 64, 64), math.nan)
        frame[:, :, : x.shape[2], :40] = x
        framed.append(frame[:, :, : x.shape[2], :40])
    q, k, v = framed
    o, _ = flash.forward(q, k, v, causal=False, scale=0.2, tile=SMALL)
    assert torch.equal(o, expected)


def test_any_strides(shape: Any) -> None:
    q, k, v = shape(20, 30, batch=2, heads=2, kv_heads=2).inputs()
    expected, _ = flash.forward(q, k, v, causal=False, scale=0.2, tile=SMALL)

    by_position = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]  # (batch, N, heads, d)
    by_column = [x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v)]
    packed = torch.stack([k, v], dim=3)
    for a, b, c in (by_position, by_column, (q, packed[..., 0, :], packed[..., 1, :])):
        o, _ = flash.forward(a, b, c, causal=False, scale=0.2, tile=SMALL)
        assert torch.equal(o, expected)

    one = k[:, :1].expand(-1, 2, -1, -1)
    assert torch.equal(
        flash.forward(q, one, one, causal=False, scale=0.2, tile=SMALL)[0],
        flash.forward(q, one.contiguous(), one.contiguous(), causal=False, scale=0.2, tile=SMALL)[0],
    )


def test_bfloat16_is_computed_in_float32_by_the_interpreter(shape: Any) -> None:
    q, k, v = shape(40, 50).inputs("bfloat16")
    o, L = flash.forward(q, k, v, causal=False, scale=0.2, tile=SMALL)
    assert o.dtype == torch.bfloat16
    assert L.dtype == torch.float32
    assert relative_error(o, exact(q, k, v, scale=0.2)[0]) <= 3e-3


@pytest.mark.parametrize("scale", [1e4, -0.3, 0.0])
def test_any_finite_scale(scale: float, shape: Any) -> None:
    q, k, v = shape(40, 50).inputs()
    o, _ = flash.forward(q, k, v, causal=False, scale=scale, tile=SMALL)
    largest = abs(scale) * float((q @ k.transpose(-1, -2)).abs().max())
    assert relative_error(o, exact(q, k, v, scale=scale)[0]) <= max(16, largest) * 2**-24


def test_scores_that_overflow_half_precision_do_not(shape: Any) -> None:
    q, k, v = (200 * x for x in shape(40, 50).inputs("float16"))
    assert (q.float() @ k.float().transpose(-1, -2)).max() > 65504
    o, _ = flash.forward(q, k, v, causal=False, scale=1e-4, tile=SMALL)
    assert relative_error(o, exact(q, k, v, scale=1e-4)[0]) <= TOLERANCE["float16"]


def test_equal_scores_give_the_mean(shape: Any) -> None:
    _, k, v = shape(1, 48).inputs()
    o, L = flash.forward(torch.zeros(1, 1, 1, 32), k, v, causal=False, scale=1.0, tile=SMALL)
    torch.testing.assert_close(o, v.mean(2, keepdim=True))
    assert L.item() == pytest.approx(math.log(48))


def test_the_same_bits_every_time(shape: Any) -> None:
    q, k, v = shape(40, 50).inputs("float16")
    runs = [flash.forward(q, k, v, causal=True, scale=0.2, tile=SMALL) for _ in range(2)]
    assert torch.equal(runs[0][0], runs[1][0])
    assert torch.equal(runs[0][1], runs[1][1])


def test_a_tile_for_every_chip_and_head_dimension() -> None:
    for head_dim in range(1, 257):
        for itemsize in (2, 4):
            assert flash.tile_for(head_dim, itemsize, (8, 0)) in flash.TILES.values()
    assert flash.tile_for(128, 2, (9, 0)) == flash.WARPGROUP_TILES[2, 128]
    assert flash.tile_for(65, 2, (10, 0)) == flash.WARPGROUP_TILES[2, 128]
    assert flash.tile_for(64, 2, (12, 0)) == flash.TILES[2, 64]
    assert flash.tile_for(64, 4, (9, 0)) == flash.TILES[4, 64]


def test_columns_are_padded_to_what_a_product_takes() -> None:
    assert [flash.padded(d) for d in (1, 16, 17, 40, 64, 72, 256)] == [16, 16, 32, 64, 64, 128, 256]
