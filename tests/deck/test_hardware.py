"""The hardware table: every figure says its unit and its source, and a broken one says so in a line."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from fatutor.deck.hardware import bundled, read
from fatutor.errors import FatutorError

FIGURES = {
    "bf16": "FLOP/s",
    "hbm": "B/s",
    "sms": "1",
    "smem": "B",
    "l2": "B",
    "clock": "Hz",
    "ex2_per_clock": "1",
}


def test_every_chip_has_every_figure_with_unit_and_source() -> None:
    table = tomllib.loads(bundled().read_text(encoding="utf-8"))
    assert list(table) == ["A100", "A100_40G", "H100", "H200", "B200"]
    for chip in table.values():
        assert chip["name"]
        for figure, unit in FIGURES.items():
            assert chip[figure]["unit"] == unit
            assert chip[figure]["value"] > 0
            assert chip[figure]["source"]


def test_the_ridge_is_worked_out(tmp_path: Path) -> None:
    path = tmp_path / "hardware.toml"
    path.write_text(
        '[X]\nname = "x"\nbf16 = { value = 30.0 }\nhbm = { value = 4.0 }\nhbm_rounded = { value = 5.0 }\n'
    )
    assert dict(read(path)["X"]) == {
        "bf16": 30.0,
        "hbm": 4.0,
        "hbm_rounded": 5.0,
        "ridge": 7.5,
        "ridge_rounded": 6.0,
    }


@pytest.mark.parametrize(
    "text", ["[X", "[X]\nbf16 = { value = 1 }\n", "X = 3\n", "[X]\nbf16 = { unit = 1 }\n"]
)
def test_a_table_that_cannot_be_read_is_one_clear_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "hardware.toml"
    path.write_text(text)
    with pytest.raises(FatutorError, match="cannot be read"):
        read(path)


def test_a_missing_table_is_one_clear_line(tmp_path: Path) -> None:
    with pytest.raises(FatutorError, match="cannot be read"):
        read(tmp_path / "none.toml")
