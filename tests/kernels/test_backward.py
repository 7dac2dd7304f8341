"""The backward pass in the interpreter, against float64 autograd, and the bytes it asks for."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels import flash, flash_backward, standard
from kernels.flash_backward import Tiles
from kernels.measure.bytes import counting
from kernels.measure.ledger import Ledger
from kernels.tiles import Tile

if TYPE_CHECKING:
    from torch import Tensor

SMALL = Tiles(of_keys=Tile(16, 32), of_queries=Tile(32, 16))
TOLERANCE = {"float32": 1e-5, "float16": 2e-3}  # relative, Frobenius; half precision rounds P and dS

CASES: dict[str, dict[str, Any]] = {
    "whole tiles": {"queries": 64, "keys": 64},
    "one query, one key": {"queries": 1, "keys": 1},
    "one query, causal": {"queries": 1, "keys": 50, "causal": True},
    "one key": {"queries": 40, "keys": 1},
    "ragged": {"queries": 33, "keys": 47},
    "causal": {"queries": 64, "keys": 64, "causal": True},
    "causal, the end of a longer sequence": {"queries": 40, "keys": 70, "causal": True},
    "causal, queries without a key": {"queries": 70, "keys": 40, "causal": True},
    "grouped heads": {"queries": 20, "keys": 30, "batch": 2, "heads": 4, "kv_heads": 2},
    "one shared head, causal": {"queries": 33, "keys": 33, "heads": 3, "causal": True},
    **{f"d = {d}": {"queries": 18, "keys": 35, "head_dim": d} for d in (1, 40, 72, 80, 96, 128, 256)},
}


def by_autograd(
    q: Tensor, k: Tensor, v: Tensor, do: Tensor, *, causal: bool = False, window: int | None = None
) -> tuple[Tensor, ...]:
    """dq, dk and dv of standard attention in float64, the scale being 0.2."""
    inputs = [x.double().requires_grad_() for x in (q, k, v)]
    o, _ = standard.attention(*inputs, causal=causal, scale=0.2, window=window)
    return torch.autograd.grad(o, inputs, do.double())


def by_kernels(
    q: Tensor, k: Tensor, v: Tensor, do: Tensor, *, causal: bool = False, window: int | None = None
) -> tuple[Tensor, ...]:
    o, lse = flash.forward(q, k, v, causal=causal, scale=0.2, window=window, tile=SMALL.of_queries)
    return flash_backward.backward(do, q, k, v, o, lse, causal=causal, scale=0.2, window=window, cut=SMALL)


def gradient_of(q: Tensor, seed: int = 1) -> Tensor:
    return torch.randn(q.shape, generator=torch.Generator().manual_seed(seed)).to(q.dtype)


def worst_error(found: tuple[Tensor, ...], truth: tuple[Tensor, ...]) -> float:
    """Relative to the truth's size; where that is all 0, the found size itself."""
    return max(float((x.double() - y).norm() / (y.norm() or 1)) for x, y in zip(found, truth, strict=True))


@pytest.mark.parametrize("name", CASES)
def test_every_shape(name: str, shape: Any) -> None:
    problem = shape(**CASES[name])
    q, k, v = problem.inputs()
    do = gradient_of(q)
    found = by_kernels(q, k, v, do, causal=problem.causal)
    assert [x.shape for x in found] == [q.shape, k.shape, v.shape]
    truth = by_autograd(q, k, v, do, causal=problem.causal)
    # With a single key P is 1 whatever the scores, so the true dq and dk are 0 and only rounding is left.
    assert worst_error(found, truth) <= TOLERANCE["float32"] * (10 if problem.keys == 1 else 1)


@pytest.mark.parametrize("name", ["ragged", "causal", "grouped heads"])
def test_half_precision(name: str, shape: Any) -> None:
    problem = shape(**CASES[name])
    q, k, v = problem.inputs("float16")
    do = gradient_of(q)
    found = by_kernels(q, k, v, do, causal=problem.causal)
    assert all(x.dtype == torch.float16 for x in found)
    assert worst_error(found, by_autograd(q, k, v, do, causal=problem.causal)) <= TOLERANCE["float16"]


@pytest.mark.parametrize("window", [0, 7, 20, 500])
@pytest.mark.parametrize(("queries", "keys", "causal"), [(50, 50, True), (40, 70, True), (60, 45, False)])
def test_windows(window: int, queries: int, keys: int, causal: bool, shape: Any) -> None:
    q, k, v = shape(queries, keys, head_dim=16).inputs()
    do = gradient_of(q)
    found = by_kernels(q, k, v, do, causal=causal, window=window)
    assert worst_error(found, by_autograd(q, k, v, do, causal=causal, window=window)) <= 2e-5


def test_the_table_s_own_tiles(shape: Any) -> None:
    q, k, v = shape(70, 50, head_dim=64, causal=True).inputs()
    do = gradient_of(q)
    o, lse = flash.forward(q, k, v, causal=True, scale=0.2)
    found = flash_backward.backward(do, q, k, v, o, lse, causal=True, scale=0.2)
    assert worst_error(found, by_autograd(q, k, v, do, causal=True)) <= 1e-5


@pytest.mark.parametrize("name", ["ragged", "causal", "grouped heads"])
def test_a_walk_for_each_sum_finds_the_same(name: str, shape: Any) -> None:
    problem = shape(**CASES[name])
    q, k, v = problem.inputs()
    do = gradient_of(q)
    o, lse = flash.forward(q, k, v, causal=problem.causal, scale=0.2)
    apart = Tiles(SMALL.of_keys, SMALL.of_queries, of_values=Tile(32, 16))
    found = flash_backward.backward(do, q, k, v, o, lse, causal=problem.causal, scale=0.2, cut=apart)
    assert worst_error(found, by_autograd(q, k, v, do, causal=problem.causal)) <= TOLERANCE["float32"]


def test_queries_and_keys_that_never_meet_get_exactly_zero(shape: Any) -> None:
    q, k, v = shape(70, 40, head_dim=16).inputs()
    dq, dk, dv = by_kernels(q, k, v, gradient_of(q), causal=True)
    assert (dq[..., :30, :] == 0).all()
    assert dk.isfinite().all() and dv.isfinite().all()
    q, k, v = shape(60, 20, head_dim=16).inputs()
    narrow = by_kernels(q, k, v, gradient_of(q), window=3)
    assert (narrow[0][..., :36, :] == 0).all()


def test_without_any_key_or_query(shape: Any) -> None:
    q, k, v = shape(5, 0, head_dim=16).inputs()
    dq, dk, _ = by_kernels(q, k, v, gradient_of(q))
    assert (dq == 0).all() and dk.shape == k.shape
    q, k, v = shape(0, 5, head_dim=16).inputs()
    dq, dk, dv = by_kernels(q, k, v, gradient_of(q))
    assert dq.shape == q.shape and (dk == 0).all() and (dv == 0).all()


def test_the_logsumexp_has_a_gradient_too(shape: Any) -> None:
    q, k, v = shape(33, 20, head_dim=16).inputs()
    do, dlse = gradient_of(q), gradient_of(q, seed=2)[..., 0]
    inputs = [x.double().requires_grad_() for x in (q, k, v)]
    truth = torch.autograd.grad(
        standard.attention(*inputs, causal=False, scale=0.2), inputs, (do.double(), dlse.double())
    )
    o, lse = flash.forward(q, k, v, causal=False, scale=0.2)
    found = flash_backward.backward(do, q, k, v, o, lse, causal=False, scale=0.2, dlse=dlse, cut=SMALL)
    assert worst_error(found, truth) <= 1e-5


def test_the_same_bits_every_time(shape: Any) -> None:
    q, k, v = shape(40, 50, heads=2, causal=True).inputs("float16")
    runs = [by_kernels(q, k, v, gradient_of(q), causal=True) for _ in range(2)]
    assert all(torch.equal(a, b) for a, b in zip(*runs, strict=True))


def test_bfloat16_is_computed_in_float32_by_the_interpreter(shape: Any) -> None:
    q, k, v = shape(20, 30).inputs("bfloat16")
    found = by_kernels(q, k, v, gradient_of(q))
    assert all(x.dtype == torch.bfloat16 for x in found)
    assert worst_error(found, by_autograd(q, k, v, gradient_of(q))) <= 1e-2


def test_any_strides(shape: Any) -> None:
    q, k, v = shape(20, 30, batch=2, heads=2, kv_heads=2).inputs()
    do = gradient_of(q)
    expected = by_kernels(q, k, v, do)
    by_position = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v, do))
    by_column = (x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v, do))
    for views in (by_position, by_column, (q, k, v, do[:1, :1].expand_as(do))):
        a, b, c, g = views
        assert by_kernels(a, b, c, g)[0].shape == q.shape
        if g.stride(0):
            assert all(torch.equal(x, y) for x, y in zip(by_kernels(a, b, c, g), expected, strict=True))


def test_it_writes_its_outputs_whole_and_nothing_else(shape: Any) -> None:
    q, k, v = shape(33, 47, head_dim=40, heads=2, kv_heads=2).inputs()
    do = gradient_of(q)
    o, lse = flash.forward(q, k, v, causal=True, scale=0.2)
    frames = [torch.full((1, 2, x.shape[2] + 40, 56), float("nan")) for x in (q, k, v)]
    dq, dk, dv = (f[:, :, 3 : 3 + x.shape[2], 8:48] for f, x in zip(frames, (q, k, v), strict=True))
    flash_backward.launch(do, q, k, v, o, lse, dq, dk, dv, causal=True, scale=0.2, cut=SMALL)
    for inside, frame in zip((dq, dk, dv), frames, strict=True):
        assert inside.isfinite().all()
        assert int(frame.isfinite().sum()) == inside.numel()


@pytest.mark.parametrize("dtype", ["float16", "float32"])
@pytest.mark.parametrize("problem", [{"queries": 64, "keys": 64}, {"queries": 70, "keys": 45}, {
    "queries": 50, "keys": 33, "batch": 2, "heads": 4, "kv_heads": 2}], ids=str)  # fmt: skip
def test_bytes_equal_the_formula(problem: dict[str, Any], dtype: str, shape: Any) -> None:
    case = shape(**problem)
    q, k, v = case.inputs(dtype)
    o, lse = flash.forward(q, k, v, causal=False, scale=0.2)
    do, dq, dk, dv = gradient_of(q), torch.empty_like(q), torch.empty_like(k), torch.empty_like(v)
    room = torch.empty(2, *q.shape[:3])
    names = {"dO": do, "Q": q, "K": k, "V": v, "O": o, "L": lse, "dQ": dq, "dK": dk, "dV": dv, "room": room}
    with counting(**names) as count:
        flash_backward.launch(
            do, q, k, v, o, lse, dq, dk, dv, causal=False, scale=0.2, cut=SMALL, workspace=room
        )
    e, heads = q.element_size(), case.batch * case.heads
    q_rows, k_rows = heads * case.queries, case.batch * case.kv_heads * case.keys
    q_tiles, k_tiles = -(-case.queries // SMALL.of_queries.queries), -(-case.keys // SMALL.of_keys.keys)
    row = case.head_dim * e
    k_read = row * (k_rows + heads * case.keys * q_tiles)
    assert count.ledger == Ledger(
        read={
            "dO": row * q_rows * (k_tiles + 1),
            "O": row * q_rows,
            "L": 4 * q_rows,
            "Q": row * q_rows * (k_tiles + 1),
            "K": k_read,
            "V": k_read,
            "room": 4 * 2 * q_rows * k_tiles,
        },
        written={"dQ": row * q_rows, "dK": row * k_rows, "dV": row * k_rows, "room": 4 * 2 * q_rows},
    )


def test_the_bytes_of_one_head_are_those_of_the_docstring(shape: Any) -> None:
    """The two lines of `flash_backward`'s formula at N = M = 200, d = 64, in float32, with tiles of 64."""
    n, d, e, tiles = 200, 64, 4, 4
    formula = e * ((4 * n * d + 2 * n * d * tiles) + (4 * n * d + 2 * n * d * tiles))
    formula += 4 * (3 * n + 2 * n * tiles)
    assert formula == 1_237_600
    q, k, v = shape(n, n, head_dim=d).inputs()
    o, lse = flash.forward(q, k, v, causal=False, scale=0.2)
    outputs = [torch.empty_like(x) for x in (q, k, v)]
    square = Tile(64, 64)
    with counting(Q=q) as count:
        flash_backward.launch(
            gradient_of(q), q, k, v, o, lse, *outputs, causal=False, scale=0.2, cut=Tiles(square, square)
        )
    assert count.ledger.total == formula


def test_tiles_for_every_chip_and_head_dimension() -> None:
    for head_dim in range(1, 257):
        for itemsize in (2, 4):
            assert flash_backward.tiles_for(head_dim, itemsize) in flash_backward.TILES.values()
    assert flash_backward.tiles_for(80, 2, (9, 0)) == flash_backward.HOPPER_TILES[2, 128]
    assert flash_backward.tiles_for(64, 2, (10, 0)) == flash_backward.BLACKWELL_TILES[2, 64]
    assert flash_backward.tiles_for(64, 4, (9, 0)) == flash_backward.TILES[4, 64]
