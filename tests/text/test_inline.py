"""What stays on one line though there is a space in it."""

from __future__ import annotations

import pytest

from fatutor.text.page import layout


@pytest.mark.parametrize(
    "whole",
    ["41 %", "512 MiB", "80 GB", "2.0 TB/s", "312 TFLOP/s", "156 FLOP/B", "9.9 ms", "1 181 696", "16 384 B",
     "e^(m_A − m)", "e^(s − L)", "d = 128", "B_r = 64", "α ≤ 1", "N ≈ 80,000", "**d** = 3"],
)  # fmt: skip
def test_it_moves_to_the_next_line_as_a_whole(whole: str) -> None:
    shown = whole.replace("*", "")
    for filler in range(8, 40):
        rows = layout(f"{'x' * filler} {whole} and more words", 40).plain.split("\n")
        assert any(shown in row for row in rows), rows
        assert max(map(len, rows)) <= 40


def test_hard_wrapped_source_reads_the_same() -> None:
    assert layout("at d =\n128 and 41\n%", 9).plain == "at\nd = 128\nand 41 %"


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("xxxx 5 times", ["xxxx 5", "times"]),
        ("xxxx 1 Beat", ["xxxx 1", "Beat"]),
        ("longer = sign", ["longer", "= sign"]),
        ("(m_A − m) x", ["(m_A −", "m) x"]),
    ],
)
def test_other_words_break_where_they_may(text: str, rows: list[str]) -> None:
    assert layout(text, 7).plain.split("\n") == rows


def test_what_is_wider_than_a_line_still_fits() -> None:
    assert layout("abcd = 1234567890", 10).plain == "abcd =\n1234567890"
