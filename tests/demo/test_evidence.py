"""From events to a record and to three witnesses side by side."""

from datetime import UTC, datetime

from fatutor.demo.events import Event, Failed, Progress, Result, Row, Series, Started
from fatutor.demo.evidence import Bar, Evidence, Witness, kept, witnesses
from fatutor.demo.prediction import Prediction
from fatutor.store.records import DemoRun

STARTED = Started(
    "bytes-moved", "interpreter", "interpreter on x86_64", {"triton": "3.7.1"}, {"n": 512, "tile_rows": 64}
)
STANDARD = Row("standard", 4784128, 4784128, "B", "six times")
TILED = Row("tiled", 1181696, 1181696, "B")
FLOOR = Row("floor", 264192, None, "B", "everything once")
RESULT = Result(
    "confirmed", "tiled", 1181696, 1181696, "B", "fewer bytes", "8·131072", "counted, not timed", seconds=3.84
)
SAID = Prediction("0.5 MB", value=5e5)
BLANK = DemoRun("01J", "bytes-moved", datetime(2026, 12, 2, tzinfo=UTC), card="io-1", entry="01H")


def after(*events: Event) -> Evidence:
    evidence = Evidence()
    for event in events:
        evidence = evidence.after(event)
    return evidence


def test_events_add_up():
    curve = Series("tiled", (128, 256), (1, 2), "N", "B")
    evidence = after(Progress(0, 1), STARTED, Progress(1, 2), STANDARD, TILED, curve)
    assert evidence == Evidence(STARTED, Progress(1, 2), (STANDARD, TILED), (curve,))
    assert not evidence.over
    assert evidence.after(RESULT).over


def test_the_first_start_and_the_first_outcome_stand():
    failed = Failed("too late")
    evidence = after(RESULT, STARTED, Started("other", "cuda"), failed, Result("refuted"))
    assert (evidence.started, evidence.result, evidence.failed) == (STARTED, RESULT, None)
    assert after(failed, RESULT) == Evidence(failed=failed)


def test_the_record_of_a_run():
    assert kept(BLANK, SAID, after(STARTED, STANDARD, TILED, RESULT)) == DemoRun(
        id="01J",
        demo="bytes-moved",
        at=datetime(2026, 12, 2, tzinfo=UTC),
        params={"n": 512, "tile_rows": 64},
        prediction="0.5 MB",
        predicted=5e5,
        formula=1181696,
        measured=1181696,
        unit="B",
        verdict="confirmed",
        why="fewer bytes",
        device="interpreter",
        device_name="interpreter on x86_64",
        versions={"triton": "3.7.1"},
        seconds=3.84,
        card="io-1",
        entry="01H",
    )


def test_the_record_of_a_run_that_failed_has_no_verdict():
    record = kept(BLANK, SAID, after(Failed("no torch", "install it")))
    assert (record.verdict, record.why, record.predicted, record.card) == ("", "no torch", 5e5, "io-1")


def test_three_witnesses_side_by_side():
    shown = witnesses(after(STARTED, STANDARD, TILED, FLOOR, RESULT), SAID)
    assert shown.setting == "n 512 · tile_rows 64 · interpreter on x86_64 · 3.84 s"
    four, one = "4\u00a0784\u00a0128 B", "1\u00a0181\u00a0696 B"
    assert shown.rows == (
        Witness("standard", "", four, four, "✓ equal", "six times"),
        Witness("tiled", "500 kB", one, one, "✓ equal"),
        Witness("floor", "", "264\u00a0192 B", "", "", "everything once"),
    )
    assert shown.bars == (
        Bar("standard", 4784128, "4.78 MB"),
        Bar("tiled", 1181696, "1.18 MB"),
        Bar("floor", 264192, "0.26 MB"),
    )
    assert shown.verdict == "✓ confirmed: fewer bytes"
    assert shown.comparison == "You said 500 kB: 2.4× under."
    assert (shown.derivation, shown.limits) == ("8·131072", "counted, not timed")


def test_while_it_runs_there_are_rows_and_no_verdict():
    shown = witnesses(after(STARTED, STANDARD), SAID)
    assert [row.name for row in shown.rows] == ["standard"]
    assert (shown.verdict, shown.comparison, shown.bars) == ("", "", ())
    assert witnesses(Evidence(), SAID).rows == ()


def test_the_row_in_question_is_found_by_its_numbers_too():
    renamed = Result("confirmed", "bytes of the tiled kernel", 1181696, 1181696, "B")
    shown = witnesses(after(STANDARD, TILED, renamed), SAID)
    assert [row.said for row in shown.rows] == ["", "500 kB"]


def test_a_question_that_is_no_row_gets_one():
    ratio = Result("refuted", "ratio", 4.05, 8.1, "x")
    shown = witnesses(after(STANDARD, TILED, ratio), Prediction("4", value=4))
    assert shown.rows[0] == Witness("ratio", "4×", "4.05×", "8.1×", "2× over")
    assert shown.verdict == "✗ refuted"
    assert shown.bars == ()


def test_marks_say_how_far_machine_and_formula_are_apart():
    rows = [
        Row("near", 100, 103),
        Row("far", 100, 250),
        Row("zero", 0, 3),
        Row("sign", 1, -1),
        Row("nil", 0, 0),
    ]
    marks = [row.mark for row in witnesses(after(*rows), SAID).rows]
    assert marks == ["within 3 %", "2.5× over", "✗ differs", "✗ differs", "✓ equal"]


def test_a_choice_stands_beside_the_right_one():
    result = Result("confirmed", "error", 2.9e-4, 2.8e-4, "", answer="no further, or nearer")
    wrong = witnesses(after(TILED, result), Prediction("1", choice="ten times further"))
    assert wrong.rows[0] == Witness("answer", "ten times further", "", "no further, or nearer")
    assert wrong.comparison == "You said “ten times further”: it is no further, or nearer."
    right = witnesses(after(TILED, result), Prediction("2", choice="no further, or nearer"))
    assert right.comparison == "You said “no further, or nearer”: right."


def test_a_failure_says_what_and_the_way_out():
    assert witnesses(after(Failed("no torch", "install it")), SAID).verdict == "no torch; install it"
    assert witnesses(after(Failed("no torch")), SAID).verdict == "no torch"
