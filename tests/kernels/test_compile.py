"""Every tile of the table compiles for real chips, without one: no register spills, and it all fits."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPORT = Path(__file__).with_name("compile_report.py")
# Shared memory that one program may take, in bytes, and the chips with that capability.
LIMITS = {80: 163 * 1024, 90: 227 * 1024, 100: 227 * 1024}  # A100, H100 and H200, B200
SMALLEST_LIMIT = 99 * 1024  # desktop Ampere, Ada and Blackwell, which take the tiles of sm_80


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[int, list[dict[str, Any]]]:
    """What the compiler says for each chip, from one process a chip, side by side."""
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    clean = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    env = clean | {
        "PYTHONPATH": str(REPORT.parents[2]),
        "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton")),
    }
    running = {
        chip: subprocess.Popen(
            [sys.executable, REPORT, str(chip)],
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        for chip in LIMITS
    }
    said = {}
    for chip, child in running.items():
        out, err = child.communicate(timeout=300)
        assert child.returncode == 0, err
        said[chip] = [json.loads(line) for line in out.splitlines()]
    return said


@pytest.mark.slow
@pytest.mark.parametrize("chip", LIMITS)
def test_every_tile_compiles_and_fits(chip: int, reports: dict[int, list[dict[str, Any]]]) -> None:
    # Three head dimensions. In half precision two kernels forward, two backward (on Hopper once three), two
    # kinds of decoding with two each, one forward and two backward for a single key; in float32 one forward.
    assert len(reports[chip]) == 3 * (2 + 2 + 2 * 2 + 1 + 2) + 3 + 2 * (chip == 90)
    for kernel in reports[chip]:
        if kernel["case"] != "one key":
            assert kernel["stack"] == 0, f"registers spill: {kernel}"
        assert 0 < kernel["registers"] <= 255, kernel
        assert kernel["shared"] <= LIMITS[chip], kernel
        if chip == 80 and not kernel["kernel"].startswith("_part"):  # decoding asks what the card has
            assert kernel["shared"] <= SMALLEST_LIMIT, kernel


@pytest.mark.slow
def test_the_instructions_are_those_that_the_chips_have(reports: dict[int, list[dict[str, Any]]]) -> None:
    """Half precision reaches the matrix units, loads are asynchronous and 16 bytes wide, float32 is exact."""
    unit = {80: "mma.sync", 90: "wgmma.mma_async", 100: "tcgen05.mma"}
    load = {80: "cp.async 16 B", 90: "bulk tensor copy", 100: "bulk tensor copy"}
    for chip, kernels in reports.items():
        for kernel in kernels:
            if kernel["itemsize"] == 4:
                assert not any("mma" in name for name in kernel["instructions"]), kernel
            elif kernel["kernel"] == "_part":
                assert kernel["instructions"] == ["mma.sync", "cp.async 16 B"], kernel
            elif kernel["kernel"] != "_merge":
                assert unit[chip] in kernel["instructions"], kernel
                # Tiles of one stage on the smaller chips are loaded as they are needed.
                assert load[chip] in kernel["instructions"] or (chip, kernel["head_dim"]) == (80, 256), kernel
