"""Tables stand in columns where their words fit side by side, and below each other where they do not."""

from __future__ import annotations

from fatutor.text.page import Span, Style, layout

LEDGER = """
| Op   | reads | note |
|:-----|------:|:----:|
| mask | N²    | `a`  |
| O    | N²+Nd | both **big** |
"""


def rows(markdown: str, width: int) -> list[str]:
    return layout(markdown, width).plain.split("\n")


def test_columns_are_aligned_under_a_thin_rule() -> None:
    assert rows(LEDGER, 60) == [
        "Op    reads    note",
        "────  ─────  ────────",
        "mask     N²     a",
        "O     N²+Nd  both big",
    ]


def test_styles_of_head_rule_and_cells() -> None:
    head, rule, first, last = layout(LEDGER, 60).lines
    assert {span.style for span in head if span.text.strip()} == {Style.TABLE_HEAD}
    assert {span.style for span in rule} == {Style.RULE}
    assert Span("a", Style.CODE) in first
    assert Span("big", Style.STRONG) in last


def test_a_wide_table_wraps_its_cells_and_sets_rows_apart() -> None:
    table = "| kind | why |\n|---|---|\n| ridge | that is the peak, not the ridge |\n| traffic | linear |"
    assert rows(table, 31) == [
        "kind     why",
        "───────  ──────────────────────",
        "ridge    that is the peak, not",
        "         the ridge",
        "",
        "traffic  linear",
    ]


def test_wide_characters_count_as_two_cells() -> None:
    table = "| a | b |\n|---|--:|\n| 日本 | 語 |\n| x👩‍💻 | 12345 |"
    assert rows(table, 60) == ["a         b", "────  ─────", "日本     語", "x👩‍💻   12345"]


def test_a_table_that_does_not_fit_is_stacked() -> None:
    table = "| kind | people say |\n|---|---|\n| ridge | three hundred and twelve |\n| traffic | linear |"
    assert rows(table, 24) == [
        "kind: ridge",
        "people say: three",
        "hundred and twelve",
        "",
        "kind: traffic",
        "people say: linear",
    ]


def test_words_are_not_broken_to_keep_columns() -> None:
    head = "| " + " | ".join(f"heading{n}" for n in range(5)) + " |\n" + "|---" * 5 + "|\n"
    row = "| " + " | ".join(f"contents{n}" for n in range(5)) + " |\n"
    assert rows(head + row, 40) == [f"heading{n}: contents{n}" for n in range(5)]
    assert rows(head + row, 60)[2] == "contents0  contents1  contents2  contents3  contents4"


def test_a_small_table_stays_in_columns_on_a_narrow_screen() -> None:
    assert rows("| a | b |\n|---|---|\n| 1 | 2 |", 10) == ["a  b", "─  ─", "1  2"]


def test_pipes_in_code_surplus_and_missing_cells() -> None:
    table = "| a | b |\n|---|---|\n| `x \\| y` | 2 | extra |\n| only |"
    assert rows(table, 60) == ["a      b", "─────  ─  ─────", "x | y  2  extra", "only"]


def test_a_head_without_rows_is_shown() -> None:
    assert rows("| alpha | beta |\n|---|---|", 60) == ["alpha  beta", "─────  ────"]
    assert rows("| alpha | beta |\n|---|---|", 8) == ["alpha", "beta"]
