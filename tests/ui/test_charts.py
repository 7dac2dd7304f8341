"""Charts in characters: exact values beside every length, and no line wider than it may be."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from fatutor.demo.events import Series
from fatutor.demo.evidence import Bar, Witness, Witnesses
from fatutor.ui.charts import MOST_POINTS, bars, curves, length, scale, table

QUADRATIC = Series("scores", (128, 256, 512), (32768, 131072, 524288), "N", "B")


def plain(text: str) -> list[str]:
    return text.replace("\u00a0", " ").split("\n")


def test_a_power_law_has_its_bars_on_a_log_scale_that_says_so() -> None:
    head, *rows = plain(curves([QUADRATIC], 60))
    assert head == "scores by N · log scale from 10 kB · goes like N^2.00"
    assert [row.split("  ")[0] for row in rows] == ["128", "256", "512"]
    assert [row.split("  ")[-1] for row in rows] == ["32 768 B", "131 072 B", "524 288 B"]
    # Equal factors are equal steps.
    steps = [cell_len(row.split("  ")[1]) for row in rows]
    assert abs((steps[2] - steps[1]) - (steps[1] - steps[0])) <= 1


def test_what_hardly_grows_is_drawn_to_a_plain_scale() -> None:
    flat = Series("cache", (1, 2, 4), (100, 110, 120), "N", "B")
    head, *rows = plain(curves([flat], 60))
    assert head == "cache by N"
    assert cell_len(rows[2].split("  ")[1]) > cell_len(rows[0].split("  ")[1]) > 30


def test_series_in_the_same_units_share_a_scale_and_others_do_not() -> None:
    small = Series("small", (128, 512), (327680, 5242880), "N", "B")
    time = Series("time", (128, 512), (1.0, 2.0), "N", "s")
    blocks = curves([QUADRATIC, small, time], 60).split("\n\n")
    assert scale([QUADRATIC, small]).longest == 5242880
    longest = [max(cell_len(row.split("  ")[1]) for row in block.split("\n")[1:]) for block in blocks]
    assert longest[0] < longest[1]
    assert "log scale" in blocks[0] and "log scale" not in blocks[2]


@pytest.mark.parametrize(
    ("x", "y"),
    [((1, 2, 4), (0, 1, 100)), ((-1, 1, 4), (1, 10, 100)), ((1, 2, 4), (-5, 0, -1)), ((2,), (7,)), ((), ())],
)
def test_values_that_no_log_scale_can_hold(x, y) -> None:
    assert "log scale" not in curves([Series("s", x, y, "", "")], 60)


def test_the_smallest_value_on_a_log_scale_still_has_a_bar() -> None:
    rows = plain(curves([Series("s", (1, 10, 100), (1000, 10_000, 100_000), "", "B")], 60))
    assert rows[1].count("█") > 10


def test_many_points_are_thinned_and_the_ends_stay() -> None:
    x = tuple(range(1, 101))
    head, *rows = plain(curves([Series("s", x, x, "N", "B")], 60))
    assert head.endswith(f"{MOST_POINTS} of 100 points")
    assert len(rows) == MOST_POINTS
    assert rows[0].startswith("1 ") and rows[-1].startswith("100 ")


def test_long_names_are_cut_before_bars_are() -> None:
    drawn = bars([Bar("a name " * 20, 4.0, "4 B"), Bar("b", 2.0, "2 B")], 60)
    assert all(cell_len(line) <= 60 for line in drawn.split("\n"))
    assert "…" in drawn and "4 B" in drawn and "2 B" in drawn


finite = st.floats(min_value=-1e18, max_value=1e18, allow_nan=False)


@given(st.lists(st.tuples(finite, finite), max_size=30), st.integers(40, 140))
def test_no_curve_is_wider_than_it_may_be(points, width) -> None:
    x, y = tuple(a for a, _ in points), tuple(b for _, b in points)
    for line in curves([Series("s", x, y, "N", "B")], width).split("\n")[1:]:
        assert cell_len(line) <= width


@given(st.floats(0, 1), st.integers(4, 60))
def test_a_bar_is_as_long_as_its_share(share, room) -> None:
    drawn = length(share, room)
    assert cell_len(drawn) <= room
    assert abs(cell_len(drawn) - share * room) <= 1 or cell_len(drawn) == 1


def test_a_table_without_room_for_columns_takes_two_lines_a_row() -> None:
    rows = (
        Witness("tiled", "500 kB", "1 181 696 B", "1 181 696 B", "✓ equal", "a note"),
        Witness("a name that leaves no room for columns at all", "", "", "2 B"),
    )
    seen = Witnesses("", rows, (), (), "", "", "", "")
    assert table(seen, 70).split("\n") == [
        "tiled  ✓ equal",
        "  you said 500 kB · formula 1 181 696 B · machine 1 181 696 B",
        "a name that leaves no room for columns at all",
        "  machine 2 B",
    ]
    assert table(seen, 40).split("\n")[1:4] == [
        "  you said 500 kB",
        "  formula 1 181 696 B",
        "  machine 1 181 696 B",
    ]
    assert "a note" not in table(seen, 95) and "a note" in table(seen, 105)


def told(*rows: Witness) -> Witnesses:
    return Witnesses("", rows, (), (), "", "", "", "")


def test_words_stand_above_the_columns_of_numbers() -> None:
    answer = Witness("answer", "P stored: it does fewer FLOPs", "", "P computed again: it moves fewer bytes")
    numbers = Witness("FLOPs, P again", "", "58 720 256 FLOP", "58 720 256 FLOP", "✓ equal", "a note of it")
    formula = Witness("H200 floor", "", "60.8 µs", "", "", "by datasheet")
    assert table(told(answer, numbers, formula), 76).split("\n") == [
        "answer",
        "  you said P stored: it does fewer FLOPs",
        "  machine P computed again: it moves fewer bytes",
        "                         formula           machine",
        "FLOPs, P again   58 720 256 FLOP   58 720 256 FLOP  ✓ equal  a note of it",
        "H200 floor               60.8 µs                             by datasheet",
    ]


def test_a_note_shows_where_it_fits_and_stands_in_for_numbers_that_are_not_there() -> None:
    rows = told(
        Witness("-inf, no guard", note="NaN"),
        Witness(
            "tiled kernel", "0", "0", "0", "✓ equal", "a note that is longer than what is left of the line"
        ),
    )
    assert table(rows, 60).split("\n")[1:] == [
        "-inf, no guard                            NaN",
        "tiled kernel            0         0         0  ✓ equal",
    ]
    assert table(rows, 30).split("\n")[:2] == ["-inf, no guard  NaN", "tiled kernel  ✓ equal"]
    assert table(told(Witness("nothing", note="to measure")), 60) == "nothing  to measure"
    assert table(told(), 60) == ""


def test_what_bends_is_no_power_law_and_an_axis_of_several_words_is_called_x() -> None:
    step = Series("tiled", (16, 64, 256, 1024), (1000, 1000, 100, 100), "B of cache", "B")
    assert curves([step], 60).split("\n")[0] == "tiled by B of cache · log scale from 10 B"
    halved = Series("K and V", (16, 32, 64, 128), (800, 400, 200, 100), "queries a tile", "B")
    assert "goes like x^-1.00" in curves([halved], 60)


@given(st.lists(st.builds(Witness, *[st.text("ab", max_size=30)] * 6), max_size=6), st.integers(20, 140))
def test_columns_never_pass_the_width(rows, width) -> None:
    lines = table(told(*rows), width).split("\n")
    words = [cell for row in rows for cell in (row.name, row.said, row.formula, row.machine, row.note)]
    longest = max(map(len, words), default=0)
    assert all(cell_len(line) <= max(width, 3 * longest + 16) for line in lines)
