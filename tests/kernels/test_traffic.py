"""The formulas for bytes, against numbers worked out by hand. No torch needed."""

import pytest

from kernels.measure import traffic
from kernels.measure.ledger import Ledger
from kernels.measure.traffic import Problem

HALF, SINGLE = 2, 4


def square(n: int, d: int = 64, itemsize: int = HALF, *, causal: bool = False) -> Problem:
    return Problem(n, n, d, itemsize, causal=causal)


@pytest.mark.parametrize(
    ("problem", "tile", "standard", "tiled"),
    [
        (square(512), (64, 64), 4_784_128, 1_181_696),
        (square(512), (128, 64), 4_259_840, 657_408),
        (square(128), (64, 64), 311_296, 98_816),
        (square(64, 32), (32, 32), 77_824, 24_832),
        (square(200), (64, 64), 812_800, 256_800),
        (square(256, itemsize=SINGLE), (64, 64), 2_424_832, 656_384),
        (square(512, causal=True), (64, 64), 4_784_128, 722_944),
        (square(200, causal=True), (64, 64), 812_800, 201_504),
    ],
)
def test_known_totals(problem: Problem, tile: tuple[int, int], standard: int, tiled: int) -> None:
    rows, columns = tile
    assert traffic.standard(problem, tile_rows=rows, tile_columns=columns).total == standard
    assert traffic.tiled(problem, tile_rows=rows, tile_columns=columns).total == tiled


def test_standard_moves_a_score_matrix_six_times() -> None:
    ledger = traffic.standard(square(512), tile_rows=64, tile_columns=64)
    matrix = 512 * 512 * HALF
    moved = [entries[name] for entries in (ledger.read, ledger.written) for name in ("S", "P")]
    assert sum(moved) == 6 * matrix


def test_the_floor_is_every_input_and_output_once() -> None:
    assert traffic.floor(square(512)).total == 4 * 512 * 64 * HALF + 4 * 512


def test_one_tile_of_queries_reaches_the_floor() -> None:
    problem = square(512)
    assert traffic.tiled(problem, tile_rows=512, tile_columns=64) == traffic.floor(problem)


def test_tiled_traffic_is_quadratic_at_long_lengths() -> None:
    short, long = (traffic.tiled(square(n), tile_rows=128, tile_columns=64).total for n in (2**20, 2**21))
    assert long / short == pytest.approx(4, rel=1e-3)


def test_heads_and_batch_multiply() -> None:
    one, many = square(256), Problem(256, 256, 64, HALF, batch=3, heads=4)
    assert traffic.tiled(many, tile_rows=64, tile_columns=64).total == (
        12 * traffic.tiled(one, tile_rows=64, tile_columns=64).total
    )


def test_causal_queries_before_the_first_key_read_no_key() -> None:
    ledger = traffic.tiled(Problem(192, 64, 64, HALF, causal=True), tile_rows=64, tile_columns=64)
    assert ledger.read["K"] == 64 * 64 * HALF  # the last of three tiles alone


def test_a_ledger_compares_by_traffic_and_cannot_be_changed() -> None:
    ledger = Ledger({"Q": 8, "K": 0}, {"O": 4})
    assert ledger == Ledger({"Q": 8}, {"O": 4, "L": 0})
    assert ledger != Ledger({"Q": 8}, {"O": 5})
    assert ledger.total == 12
    with pytest.raises(TypeError):
        ledger.read["Q"] = 9  # type: ignore[index]
