"""Numbers as people type them, and as they are shown."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.demo.units import exact, human, read_number
from fatutor.errors import FatutorError


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("4.8 MB", "B", 4.8e6),
        ("4.8mb", "B", 4.8e6),
        ("4.8e6", "B", 4.8e6),
        ("4.8E+6 bytes", "B", 4.8e6),
        ("~ 4.8 MB", "B", 4.8e6),
        ("1,181,696", "B", 1181696),
        ("1 181 696 B", "B", 1181696),
        ("1\u202f181\u202f696\u00a0B", "B", 1181696),
        ("1_181_696", "B", 1181696),
        ("1’181’696 bytes", "B", 1181696),
        ("1.181.696", "B", 1181696),
        ("1.181.696,5", "B", 1181696.5),
        ("1,181,696.5", "B", 1181696.5),
        ("1,181", "B", 1181),
        ("1.181", "B", 1.181),
        ("4,8 MB", "B", 4.8e6),
        ("0,125", "", 0.125),
        ("1234,567", "", 1234.567),
        ("1.1 MiB", "B", 1.1 * 2**20),
        ("256GiB", "B", 256 * 2**30),
        ("192 KiB", "B", 196608),
        ("0.5M", "B", 5e5),
        ("16 k", "tokens", 16000),
        ("16k tokens", "tokens", 16000),
        ("1 token", "tokens", 1),
        ("65 536 Exps", "exps", 65536),
        ("4.8", "GB", 4.8),
        ("4800 MB", "GB", 4.8),
        ("4.8G", "GB", 4.8),
        ("1 GiB", "MiB", 1024),
        ("43 FLOP/B", "FLOP/B", 43),
        ("43 flops per byte", "FLOP/B", 43),
        ("43", "FLOP/B", 43),
        ("0.6 PFLOP/s", "TFLOP/s", 600),
        ("600 TFLOPS", "TFLOP/s", 600),
        ("4.8 TB/sec", "B/s", 4.8e12),
        ("16.8 MFLOPs", "FLOP", 16.8e6),
        ("2x", "x", 2),
        ("2.5 ×", "×", 2.5),
        ("2 times", "", 2),
        ("150 %", "x", 1.5),
        ("12 %", "%", 12),
        ("12 per cent", "%", 12),
        ("12", "%", 12),
        ("0.12x", "%", 12),
        ("1.5 ms", "s", 1.5e-3),
        ("1.5 ms", "ms", 1.5),
        ("200 us", "ms", 0.2),
        ("200 µs", "s", 2e-4),
        ("200 μs", "s", 2e-4),
        ("3 seconds", "s", 3),
        ("-2", "", -2),
        ("−2", "", -2),
        (".5", "", 0.5),
        ("12.", "", 12),
        ("3 tiles/head", "tiles/head", 3),
    ],
)
def test_what_a_learner_types(text, unit, value):
    assert read_number(text, unit) == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(
    ("text", "unit", "message"),
    [
        ("4.8 ms", "B", "“4.8 ms” is not in B; write it like 2.5 MB or 65,536"),
        ("4.8 MB", "FLOP", "“4.8 MB” is not in FLOP; write it like 30 MFLOP or 3e7"),
        ("43 FLOP", "FLOP/B", "“43 FLOP” is not in FLOP/B; write it like 43 FLOP/B"),
        ("43 B/FLOP", "FLOP/B", "“43 B/FLOP” is not in FLOP/B; write it like 43 FLOP/B"),
        ("1.5 m", "s", "“1.5 m” is not in s; write it like 3.2 ms"),
        ("1.5 MB", "s", "“1.5 MB” is not in s; write it like 3.2 ms"),
        ("12 %", "B", "“12 %” is not in B; write it like 2.5 MB or 65,536"),
        ("3 MB", "", "“3 MB” is not in plain numbers; write it like 65,536 or 1.2e6"),
        ("3 rows", "tiles", "“3 rows” is not in tiles; write it like 65,536 tiles or 1.2e6"),
        ("2k", "%", "“2k” is not in %; write it like 12 %"),
        ("many", "x", "“many” is not a number; write it like 2.5x"),
        ("", "B", "“” is not a number; write it like 2.5 MB or 65,536"),
        ("many", "GiB", "“many” is not a number; write it like 12 GiB"),
        ("nan", "", "“nan” is not a number; write it like 65,536 or 1.2e6"),
        ("1,23,4", "", "“1,23,4” is not a number; write it like 65,536 or 1.2e6"),
        ("4 8 MB", "B", "“4 8 MB” is not a number; write it like 2.5 MB or 65,536"),
        ("1.2.3", "", "“1.2.3” is not a number; write it like 65,536 or 1.2e6"),
        ("1e999", "", "“1e999” is too large; write it like 65,536 or 1.2e6"),
        ("\x1b[31mred", "%", "“red” is not a number; write it like 12 %"),
    ],
)
def test_one_line_says_what_would_do(text, unit, message):
    with pytest.raises(FatutorError) as error:
        read_number(text, unit)
    assert str(error.value) == message


def test_a_whole_essay_is_cut():
    with pytest.raises(FatutorError) as error:
        read_number("1" * 5000, "B")
    assert len(error.value.what) < 120


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (4784128, "B", "4.78 MB"),
        (1181696, "B", "1.18 MB"),
        (262144, "B", "262 kB"),
        (999_999, "B", "1 MB"),
        (999.4, "B", "999 B"),
        (0, "B", "0 B"),
        (0.5, "B", "0.5 B"),
        (2.5e18, "B", "2,500 PB".replace(",", "\u00a0")),
        (0.41e9, "FLOP", "410 MFLOP"),
        (6.1e14, "FLOP/s", "610 TFLOP/s"),
        (610, "TFLOP/s", "610 TFLOP/s"),
        (1500, "GB", "1.5 TB"),
        (1.5, "MiB", "1.5 MiB"),
        (0.0032, "s", "3.2 ms"),
        (3.2, "ms", "3.2 ms"),
        (3.84, "s", "3.84 s"),
        (2e-7, "s", "200 ns"),
        (5e-11, "s", "0.05 ns"),
        (0, "s", "0 s"),
        (42.666, "FLOP/B", "42.7 FLOP/B"),
        (2.4, "x", "2.4×"),
        (12, "%", "12 %"),
        (65536, "exps", "65\u00a0536 exps"),
        (2.868e-3, "", "0.00287"),
        (2.868e-4, "", "2.87e-4"),
        (1.2e-7, "", "1.2e-7"),
        (-3.5, "", "-3.5"),
        (1e20, "", "1e20"),
        (3, "", "3"),
    ],
)
def test_numbers_as_they_are_shown(value, unit, shown):
    assert human(value, unit) == shown


def test_one_chart_has_one_prefix():
    assert human(262144, "B", like=4784128) == "0.26 MB"
    assert human(0.41e9, "FLOP", like=4.1e9) == "0.41 GFLOP"
    assert human(4784128, "B", like=4784128) == "4.78 MB"
    # What would round to nothing keeps its own.
    assert human(120, "B", like=4784128) == "120 B"
    assert human(1.62e-7, "", like=0.5) == "1.62e-7"
    assert human(0, "B", like=4784128) == "0 MB"
    assert human(0, "", like=2.8e-4) == "0"


@pytest.mark.parametrize(
    ("value", "unit", "shown"),
    [
        (4784128.0, "B", "4\u00a0784\u00a0128 B"),
        (512, "", "512"),
        (2, "x", "2×"),
        (0.5, "B", "0.5 B"),
        (2.868e-4, "", "2.87e-4"),
        (2.0**60, "B", "1\u00a0153 PB"),
    ],
)
def test_whole_numbers_to_the_last_digit(value, unit, shown):
    assert exact(value, unit) == shown


UNITS = st.sampled_from(["B", "FLOP", "FLOP/s", "FLOP/B", "s", "ms", "GB", "MiB", "x", "%", "", "tiles"])


@given(st.floats(1e-9, 1e18), UNITS)
def test_what_is_shown_can_be_typed_back(value, unit):
    assert math.isclose(read_number(human(value, unit), unit), value, rel_tol=0.006)


@given(st.integers(0, 10**12 - 1), UNITS)
def test_what_is_shown_exactly_is_exact(value, unit):
    assert read_number(exact(value, unit), unit) == value


def read(text: str, unit: str) -> float | str:
    try:
        return read_number(text, unit)
    except FatutorError as error:
        return str(error)


@given(st.text(max_size=100), UNITS)
def test_any_text_is_a_number_or_one_clear_line(text, unit):
    found = read(text, unit)
    assert "\n" not in found if isinstance(found, str) else math.isfinite(found)


def test_a_rate_that_happens_to_be_whole_is_no_count() -> None:
    assert exact(4_171_219_888_939.0, "exp/s") == "4.17e12 exp/s"
    assert exact(2.0**40, "B") == "1.1 TB"
    assert exact(999_999_999_999, "tiles").replace("\u00a0", " ") == "999 999 999 999 tiles"
