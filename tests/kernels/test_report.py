"""What a person reads."""

import io

from kernels.report import Report
from kernels.wire import Error, Progress, Result, Row, Series, Start


def test_table_and_verdict_go_out_and_progress_aside() -> None:
    out, aside = io.StringIO(), io.StringIO()
    report = Report("How many?", out, aside)
    report(Progress(0, 2, "counting"))
    report(Start("bytes", "cpu", "cpu on x86_64", {}, {"n": 512}, "Counts.", "2026-01-01"))
    report(Row("tiled", 1181696, 1181696, "B", "again"))
    report(Row("error, fp16", None, 2.8e-4, ""))
    report(Series("tiled", [1], [2], "N", "B"))
    report(
        Result("tiled", 1, 1, "B", "confirmed", "equal", "1 = 1", "none", answer="no further", seconds=2.345)
    )
    assert aside.getvalue() == "[0/2] counting\n"
    assert out.getvalue().splitlines() == [
        "bytes · n 512 · cpu on x86_64",
        "How many?",
        "",
        "               formula   measured",
        "tiled        1,181,696  1,181,696  B  again",
        "error, fp16          -    0.00028",
        "",
        "answer: no further",
        "confirmed: equal.",
        "formula: 1 = 1",
        "limits: none",
        "2.3 s",
    ]


def test_an_error_is_one_line_aside() -> None:
    out, aside = io.StringIO(), io.StringIO()
    Report("?", out, aside)(Error("it broke", "mend it"))
    assert (out.getvalue(), aside.getvalue()) == ("", "it broke; mend it\n")
