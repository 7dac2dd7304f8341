"""The benchmark with small shapes on the CPU and clocks that say what they are told to."""

from __future__ import annotations

import io
import json
import shutil
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest

from kernels.bench import command, contenders
from kernels.bench.contenders import OURS, PEERS, STANDARD, Contender
from kernels.bench.grid import Point
from kernels.bench.sweep import Note, Row, sweep
from kernels.bench.table import Table, ratio, remarks
from kernels.measure.clock import Call, Timing
from kernels.runner import RefusalError

ROW_KEYS = {
    *("pass", "d", "causal", "n", "batch", "heads", "heads_kv", "impl", "ms", "tflops", "gbps", "spread"),
    "clock",
}
FORWARD = Point("forward", 16, True, 64, 2, 4, 2)
BACKWARD = Point("backward", 16, True, 64, 2, 4, 2)
DECODE = Point("decode", 16, False, 64, 2, 4, 1)


class MillisecondClock:
    """Everything takes a millisecond, and is really called."""

    name = "millisecond"

    def sample(self, call: Callable[[], object], repeats: int) -> list[float]:
        call()
        return [1e-3] * repeats


def contender(name: str) -> Contender:
    return next(entry for entry in (*OURS, *PEERS, STANDARD) if entry.name == name)


def as_it_is(call: Call) -> Call:
    return call


def met(point: Point, *rivals: Contender, capture: Callable[[Call], Call] = as_it_is) -> list[Row | Note]:
    pytest.importorskip("torch")
    _, found = sweep([point], rivals, MillisecondClock(), device="cpu", capture=capture)
    return found


def bent(change: Callable[[Any], Any]) -> Contender:
    """A contender that computes with the four operations, and then changes the output."""

    def prepare(q: Any, k: Any, v: Any, causal: bool) -> Callable[[], Any]:
        attend = contender("standard").prepare(q, k, v, causal)
        return lambda: change(attend())

    return Contender("bent", prepare)


@pytest.mark.parametrize("point", [FORWARD, BACKWARD, DECODE], ids=str)
def test_right_answers_get_rows(point: Point) -> None:
    rows = met(point, contender("standard"), contender("sdpa-flash"))
    assert [row.impl for row in rows] == ["standard", "sdpa-flash"]
    for row in rows:
        assert isinstance(row, Row)
        assert (row.point, row.ms, row.spread) == (point, 1.0, 0.0)
        assert row.tflops == pytest.approx(point.flops / 1e9)
        assert row.gbps == pytest.approx(point.bytes / 1e6)


@pytest.mark.parametrize("point", [FORWARD, BACKWARD, DECODE], ids=str)
@pytest.mark.parametrize("change", [lambda o: o * 1.1, lambda o: o * float("nan")], ids=["off", "nan"])
def test_a_wrong_answer_gets_no_time(point: Point, change: Callable[[Any], Any]) -> None:
    (note,) = met(point, bent(change))
    assert isinstance(note, Note)
    assert (note.impl, note.where) == ("bent", str(point))
    assert note.why.startswith("wrong: off by ")


def test_rounding_is_not_wrong() -> None:
    (row,) = met(FORWARD, bent(lambda o: o * 1.001))
    assert isinstance(row, Row)


def test_who_refuses_has_a_note_and_the_others_go_on() -> None:
    def prepare(*_: Any) -> Callable[[], Any]:
        raise RuntimeError("No available kernel.\n  A long explanation follows.")

    note, row = sorted(met(FORWARD, Contender("picky", prepare), contender("standard")), key=lambda x: x.impl)
    assert note == Note("picky", "No available kernel.", str(FORWARD))
    assert isinstance(row, Row)


def test_who_is_not_installed_has_one_note_and_takes_no_part() -> None:
    absent = Contender("absent", contender("standard").prepare, needs=("no_such_module", "no-such"))
    pytest.importorskip("torch")
    first, second = sweep(
        [FORWARD], [absent, contender("standard")], MillisecondClock(), device="cpu", capture=as_it_is
    )
    assert first == [Note("absent", "no-such is not installed")]
    assert [row.impl for row in second] == ["standard"]


def test_a_contender_stays_out_of_passes_that_it_does_not_have() -> None:
    assert contender("fa3").phases == ("forward", "decode")
    (row,) = met(
        BACKWARD, Contender("half", contender("standard").prepare, phases=("forward",)), contender("standard")
    )
    assert row.impl == "standard"


@pytest.mark.parametrize(
    ("point", "clock"),
    [
        (FORWARD, "CUDA graph"),
        (DECODE, "CUDA graph"),
        (BACKWARD, "CUDA graph"),
        (Point("forward", 16, True, 2048, 1, 1, 1), "millisecond"),
        (Point("backward", 16, True, 2048, 1, 1, 1), "millisecond"),
    ],
    ids=str,
)
def test_short_calls_are_captured(point: Point, clock: str) -> None:
    (row,) = met(point, contender("standard"))
    assert isinstance(row, Row)
    assert row.clock == clock


def test_what_cannot_be_captured_is_timed_all_the_same() -> None:
    def refuse(call: Call) -> Call:
        raise RuntimeError("operation not permitted when stream is capturing")

    row, note = met(FORWARD, contender("standard"), capture=refuse)
    assert isinstance(row, Row)
    assert row.clock == "millisecond"
    assert isinstance(note, Note)
    assert note.why == "timed without a graph: operation not permitted when stream is capturing"


def row_of(impl: str, ms: float, point: Point = FORWARD) -> Row:
    return Row.of(point, impl, Timing(ms / 1e3, ms / 1e3, ms / 1e3, 9), "events")


def test_the_ratio_is_best_to_best() -> None:
    rows = [row_of("hopper", 1.0), row_of("flash", 2.0), row_of("sdpa-flash", 3.0), row_of("fa3", 0.9)]
    everyone = [*OURS, *PEERS]
    assert ratio(rows, everyone) == pytest.approx(0.9)
    assert ratio(rows[:3], everyone) == pytest.approx(3.0)
    assert ratio(rows[:2], everyone) is None
    assert ratio(rows[2:], everyone) is None


def test_the_table() -> None:
    table = Table([contender("hopper"), contender("flash"), contender("sdpa-flash")])
    large = Point("forward", 128, True, 4096, 4, 16, 4)
    first = table.lines([row_of("hopper", 1.0, large), row_of("sdpa-flash", 2.0, large)])
    assert first[:2] == ["", "forward, TFLOP/s"]
    assert first[2].split() == [
        "d",
        "causal",
        "N",
        "batch",
        "heads",
        "kv",
        "hopper",
        "flash",
        "sdpa-flash",
        "ratio",
    ]
    assert first[3].split() == ["128", "yes", "4096", "4", "16", "4", "275", "-", "137", "2.00"]
    assert len(table.lines([row_of("flash", 1.0)])) == 1
    decoding = table.lines([row_of("flash", 1.0, Point("decode", 128, False, 8192, 16, 16, 2))])
    assert decoding[1] == "decode, GB/s"
    assert decoding[3].split() == ["128", "no", "8192", "16", "16", "2", "134", "-", "-"]
    assert table.lines([Note("flash", "why")]) == []


def test_remarks_name_the_place_or_count_the_places() -> None:
    notes = [
        Note("fa3", "absent"),
        Note("a", "no", "here"),
        Note("b", "no", "here"),
        Note("b", "no", "there"),
    ]
    assert remarks(notes) == ["fa3: absent", "a: no (here)", "b: no (2 rows, first here)"]


def test_the_document_has_a_row_for_each_time() -> None:
    said: list[str] = []
    entries = [[Note("fa3", "absent")], [row_of("flash", 1.0), row_of("sdpa-flash", 2.0)]]
    document = command.collect(entries, [contender("flash"), contender("sdpa-flash")], said.append)
    assert json.loads(json.dumps(document)) == document
    assert document["notes"] == [{"impl": "fa3", "why": "absent", "where": ""}]
    assert [set(row) for row in document["rows"]] == [ROW_KEYS, ROW_KEYS]
    row = document["rows"][0]
    assert (row["pass"], row["impl"], row["ms"], row["clock"]) == ("forward", "flash", 1.0, "events")
    assert (row["d"], row["causal"], row["n"], row["heads_kv"]) == (16, True, 64, 2)
    assert said[-1] == "fa3: absent"


def test_peers_are_found_by_name_in_the_order_of_the_list() -> None:
    assert [peer.name for peer in contenders.peers(["flex", "sdpa-flash"])] == ["sdpa-flash", "flex"]
    field = [rival.name for rival in contenders.field(["fa3"])]
    assert field == ["hopper", "flash", "decode", "fa3", "standard"]
    assert {*contenders.USUAL_PEERS} < {peer.name for peer in PEERS}


@pytest.mark.parametrize(
    ("ask", "what", "way_out"),
    [
        (
            lambda: command.rivals_of("fa2"),
            "there is no peer called 'fa2'",
            "choose among sdpa-flash, sdpa-cudnn, fa3, flex",
        ),
        (
            lambda: command.points_of("sideways", quick=True),
            "there is no pass called 'sideways'",
            "choose among forward, backward, decode",
        ),
    ],
)
def test_a_wrong_name_is_refused(ask: Callable[[], object], what: str, way_out: str) -> None:
    with pytest.raises(RefusalError) as refused:
        ask()
    assert (refused.value.error.what, refused.value.error.way_out) == (what, way_out)
    assert refused.value.exit_code == 2


def test_passes_are_chosen_by_name() -> None:
    assert {point.phase for point in command.points_of("decode, forward", quick=True)} == {
        "decode",
        "forward",
    }


def test_without_a_gpu_it_says_so_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    out = io.StringIO()
    with pytest.raises(RefusalError, match="bench needs a GPU") as refused:
        command.run(
            quick=True,
            against="",
            phases="decode",
            as_json=True,
            now=datetime.now(UTC),
            out=out,
            progress=out,
        )
    assert refused.value.exit_code == 1
    assert out.getvalue() == ""


def test_the_driver_is_what_the_tool_says(tmp_path: Any) -> None:
    assert command.driver(find=lambda _: None) == "unknown"
    assert command.driver(find=lambda _: shutil.which("true")) == "unknown"
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\necho 580.159.04\necho 580.159.04\n")
    tool.chmod(0o755)
    assert command.driver(find=lambda _: str(tool)) == "580.159.04"
