"""Rooflines: ridges as texts quote them, and what is attainable left and right of them."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from kernels.measure import roofline
from kernels.measure.roofline import CHIPS, Roofline, sheet


class OneSecondClock:
    """Everything takes a second, and is really called."""

    name = "one second"

    def sample(self, call: Callable[[], object], repeats: int) -> list[float]:
        call()
        return [1.0] * repeats


@pytest.mark.parametrize(
    ("chip", "bandwidth", "ridge"),
    [("A100", "hbm_rounded", 156), ("A100", "hbm", 153), ("H100", "hbm", 295), ("H200", "hbm", 206)],
)
def test_the_ridges_that_are_quoted(chip: str, bandwidth: str, ridge: int) -> None:
    assert round(sheet(chip, bandwidth).ridge) == ridge


def test_every_card_that_has_a_name_has_a_datasheet() -> None:
    for device_name, chip in CHIPS.items():
        roof = roofline.of(device_name, OneSecondClock())
        assert roof == sheet(chip)
        assert roof.source.startswith("datasheet of the ")


def test_a_chip_without_a_sheet_is_named() -> None:
    with pytest.raises(KeyError, match="V100"):
        sheet("V100")


def test_bandwidth_limits_left_of_the_ridge_and_the_peak_right_of_it() -> None:
    roof = Roofline(peak=100.0, bandwidth=10.0, source="")
    assert roof.ridge == 10
    assert [roof.attainable(intensity) for intensity in (0.0, 1.0, 10.0, 1000.0)] == [0, 10, 100, 100]


def test_measured_ceilings_count_a_copy_twice_and_a_product_by_its_cube() -> None:
    pytest.importorskip("torch")
    roof = roofline.measured(OneSecondClock(), "cpu", side=16, copied=4096)
    assert roof == Roofline(2 * 16**3, 2 * 4096, "measured (one second)")
