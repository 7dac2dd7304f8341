"""The words of a demo screen."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fatutor.deck.model import AnswerForm, Card, Choice, Kind, Place, Response
from fatutor.demo import sheet
from fatutor.demo.catalogue import Demo, Param
from fatutor.demo.events import Call, Failed, Progress, Result, Started
from fatutor.demo.evidence import Evidence, witnesses
from fatutor.demo.prediction import Prediction, carried
from fatutor.demo.recordings import Moved, Recording

BYTES = Demo("bytes-moved", "Fewer.", "How many?", AnswerForm.NUMBER, unit="B", plan="Count.")
SAME = Demo("same", "Same.", "Which?", AnswerForm.CHOICE, choices=("No further", "Further"))


def card(response: Response) -> Card:
    return Card("c", "c", Kind.RECALL, "t", "p", "a", Place("x.md", 1), "x", "d", response)


@pytest.mark.parametrize(
    ("typed", "unit", "wanted", "expected"),
    [
        ("1.18 MB", "B", "B", "1.18 MB"),
        ("1.18", "MB", "B", "1.18 MB"),
        ("1,181,696", "B", "B", "1,181,696"),
        ("1.18 MB", "MB", "B", "1.18 MB"),
        ("256", "GiB", "B", "256 GiB"),
        ("2.5", "", "x", "2.5"),
        ("12", "%", "", "12 %"),
        ("5", "", "B", ""),
        ("5 s", "s", "B", ""),
        ("43", "FLOP/B", "B", ""),
        ("many", "B", "B", ""),
        ("", "B", "B", ""),
    ],
)
def test_a_cards_number_is_a_prediction_where_it_measures_the_same(typed, unit, wanted, expected) -> None:
    assert carried(typed, unit, wanted) == expected


def test_a_cards_answer_is_carried_over_by_what_it_says() -> None:
    number = card(Response(AnswerForm.NUMBER, value=1.2, unit="MB", tolerance=0.1))
    assert sheet.from_card(BYTES, number, "1.1") == "1.1 MB"
    assert sheet.from_card(SAME, number, "1") == ""
    assert sheet.from_card(BYTES, None, "1.1") == ""
    assert sheet.from_card(BYTES, card(Response()), "1.1 MB") == ""
    choice = card(
        Response(AnswerForm.CHOICE, choices=(Choice("further", False), Choice("about the same", True)))
    )
    assert sheet.from_card(SAME, choice, "1") == "2"
    assert sheet.from_card(SAME, choice, "2") == ""
    assert sheet.from_card(SAME, choice, "9") == ""


def test_how_to_answer_and_what_that_sets_off() -> None:
    from fatutor.demo.launcher import Launcher
    from fatutor.demo.places import Place as Where

    live, old = Where("here", Launcher(("x",))), Recording("NVIDIA H200", "570", "2026-11-30")
    assert sheet.asking(BYTES, live, "") == "Your prediction in B; enter commits it and runs."
    assert sheet.asking(BYTES, old, "").endswith("and shows the recorded run.")
    assert sheet.asking(replace(BYTES, unit="×"), live, "").startswith("Your prediction as a factor;")
    assert sheet.asking(replace(BYTES, unit="%"), live, "").startswith("Your prediction in per cent;")
    assert sheet.asking(SAME, live, "").startswith("Choose, 1 to 2:")
    assert sheet.asking(BYTES, live, "1 MB").startswith("Your answer on the card; enter commits it")
    assert sheet.asking(SAME, live, "2").startswith("Your answer on the card; 2 or ctrl+j commits it")


def test_every_size_with_its_values_and_which_one_a_key_changes() -> None:
    several = (Param("n", 512, (256, 512), "keys"), Param("rows", 64, (32, 64), ""), Param("d", 64, (64,)))
    demo = replace(BYTES, params=several)
    assert [param.name for param in sheet.changeable(demo)] == ["n", "rows"]
    shown = sheet.sizes(demo, {"n": 256, "rows": 64, "d": 64}, "rows")
    assert shown.split("\n") == [
        "  n 256  of 256, 512  keys",
        "▸ rows 64  of 32, 64",
        "  v changes the one marked ▸, n marks the next",
    ]
    assert sheet.sizes(replace(BYTES, params=several[:1]), {"n": 256}, "n") == "▸ n 256  of 256, 512  keys"


def test_a_question_put_at_another_size_says_so() -> None:
    demo = replace(BYTES, params=(Param("n", 512, (256, 512), "keys"), Param("rows", 64, (32, 64), "")))
    assert sheet.question(demo, {"n": 512, "rows": 64}) == "## Count.\n\nHow many?\n\n"
    changed = sheet.question(demo, {"n": 256, "rows": 32})
    assert (
        changed
        == "## Count.\n\nHow many?\n\n**Now with n 256 in place of 512 and rows 32 in place of 64.**\n\n"
    )
    assert "Now" not in sheet.question(demo, {})
    assert sheet.question(SAME, {}).endswith("1. No further\n2. Further")


@pytest.mark.parametrize(
    ("told", "passed", "expected"),
    [
        (Progress(4, 8, "tiles"), 2.0, "4 of 8 tiles · 2 s left · 2 a second"),
        (Progress(4, 8, "tiles"), 0.4, "4 of 8 tiles · 0 s"),
        (Progress(0, 8, "tiles"), 7.0, "0 of 8 tiles · 7 s"),
        (Progress(9, 8, ""), 3.0, "9 of 8 · 0 s left · 3 a second"),
        (Progress(3, None, "compiling"), 2.0, "compiling · 2 s"),
        (Progress(0, 0), 2.0, "running · 2 s"),
    ],
)
def test_progress_with_rate_and_time_left(told, passed, expected) -> None:
    assert sheet.pace(told, passed) == expected


def test_the_verdict_with_what_was_recorded_beside_it() -> None:
    evidence = Evidence().after(Result("confirmed", "tiled", 4, 4, "B", "equal", "2*2*2", "counted"))
    seen = witnesses(evidence, Prediction("4", value=4))
    assert sheet.verdict(BYTES, seen) == (
        "✓ confirmed: equal",
        "Claim: Fewer.",
        "You said 4 B: exactly right.",
    )
    assert sheet.remarks(seen, "Recorded on it.").split("\n\n") == [
        "Recorded on it.",
        "By the formula: 2*2*2",
        "counted",
    ]


def test_a_run_that_failed_says_nothing_of_the_claim() -> None:
    seen = witnesses(Evidence().after(Failed("out of memory", "")), Prediction("4", value=4))
    assert sheet.verdict(BYTES, seen) == ("out of memory", "", "")


def test_the_claim_which_may_be_the_answer_is_not_told_with_the_question() -> None:
    assert "Fewer." not in sheet.question(BYTES, {})
    assert "Same." not in sheet.question(SAME, {})


def test_a_recording_is_one_line_with_device_and_day() -> None:
    def line(result: Result, *before: Started) -> str:
        kept = {"bytes-moved": (*before, result)}
        return sheet.recorded_line("bytes-moved", Recording("NVIDIA H200", "570", "2026-11-30", demos=kept))

    started = Started("bytes-moved", "cuda", params={"n": 512})
    measured = Result("confirmed", "tiled", 1181696, 270000, "B", "L2 served the rest")
    assert line(measured, started) == (
        "Recorded on NVIDIA H200, 2026-11-30: tiled 270 kB, confirmed: L2 served the rest."
    )
    assert line(Result("refuted", answer="further")) == (
        "Recorded on NVIDIA H200, 2026-11-30: further, refuted."
    )


def test_hardware_counters_are_told_by_shape_as_figures_of_another_day() -> None:
    small, large = (512, 64, 1, "float16"), (8192, 128, 16, "bfloat16")
    calls = (
        Call("standard", "four-kernels", *small),
        Call("tiled", "flash", *small),
        Call("standard in PyTorch", "standard", *large),
        Call("tiled", "hopper", *large),
    )
    counters = {
        Call("", "four-kernels", *small): Moved(1816320, 0, 4),
        Call("", "flash", *small): Moved(224512, 0, 1),
        Call("", "standard", *large): Moved(8_600_000_000, 6_400_000_000, 4),
    }
    h200 = Recording("NVIDIA H200", "580", "2026-11-30", counters=counters)
    told = sheet.counted(Result("confirmed", calls=calls), h200)
    head, *lines = told.splitlines()
    assert head.startswith("Recorded on NVIDIA H200, 2026-11-30: DRAM traffic by the hardware's counters.")
    assert lines == [
        "  N 512, d 64, 1 head, float16",
        "    standard: 1.82 MB read, 0 B written",
        "    tiled: 225 kB read, 0 B written",
        "  N 8192, d 128, 16 heads, bfloat16",
        "    standard in PyTorch: 8.6 GB read, 6.4 GB written",
    ]
    assert max(map(len, lines)) <= 58  # at 60 columns none is broken between a figure and its unit
    assert sheet.counted(Result("confirmed", calls=calls), None) == ""
