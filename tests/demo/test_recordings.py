"""Recorded runs: files of the kernels, read as data, and told apart from live ones."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fatutor.demo.events import Call, Result, Row, Started
from fatutor.demo.recordings import Moved, counted, read_recording, recorded, recordings
from fatutor.errors import FatutorError
from fatutor.paths import bundle_root

START = {
    "v": 1, "event": "start", "demo": "bytes-moved", "device": "cuda", "device_name": "NVIDIA H200",
    "params": {"n": 512}, "plan": "", "at": "2026-11-30T01:00:00+00:00",
}  # fmt: skip
ROW = {"v": 1, "event": "row", "name": "tiled", "formula": 3, "measured": 2, "unit": "B"}
RESULT = {"v": 1, "event": "result", "verdict": "confirmed", "quantity": "tiled", "measured": 2, "unit": "B"}
DOCUMENT = {
    "v": 1,
    "device": "NVIDIA H200",
    "driver": "570.1",
    "versions": {"torch": "2.9.1", "triton": "3.7.1"},
    "date": "2026-11-30T01:00:00+00:00",
    "rows": [{"impl": "ours"}],
    "demos": {
        "bytes-moved": [START, ROW, {"v": 1, "event": "strange"}, RESULT],
        "failed": [START, {"event": "error", "what": "out of memory", "way_out": ""}],
    },
}


def put(folder: Path, name: str, **changes: object) -> Path:
    path = folder / name
    path.write_text(json.dumps(DOCUMENT | changes), encoding="utf-8")
    return path


def test_one_says_where_when_and_with_what(tmp_path) -> None:
    recording = read_recording(put(tmp_path, "h200.json"))
    assert recording.on_gpu("bytes-moved")
    assert recording.origin("bytes-moved") == (
        "recorded on NVIDIA H200 · 2026-11-30 · driver 570.1 · torch 2.9.1 · triton 3.7.1"
    )
    assert recording.label == "recorded on NVIDIA H200"
    [started, *_] = recording.demos["bytes-moved"]
    assert isinstance(started, Started)
    assert started.params == {"n": 512}
    assert [type(event) for event in recording.demos["bytes-moved"]] == [Started, Row, Result]


def test_people_are_shown_no_size_that_the_gpu_may_not_have_run(tmp_path) -> None:
    recording = read_recording(put(tmp_path, "h200.json"))
    [started, *rest] = recording.shown("bytes-moved")
    assert isinstance(started, Started)
    assert (started.device, started.params) == ("cuda", {})
    assert rest == list(recording.demos["bytes-moved"][1:])


def test_a_demo_that_came_to_no_result_is_not_recorded(tmp_path) -> None:
    kept = recordings(put(tmp_path, "h200.json").parent)
    assert recorded("failed", kept) is None
    assert recorded("unheard-of", kept) is None
    assert recorded("bytes-moved", kept) is kept[0]


def test_a_count_by_the_interpreter_is_not_passed_off_as_one_of_the_gpu(tmp_path) -> None:
    counted = [START | {"device": "interpreter"}, RESULT]
    recording = read_recording(put(tmp_path, "h200.json", demos={"bytes-moved": counted}))
    assert not recording.on_gpu("bytes-moved")
    assert recording.origin("bytes-moved").startswith(
        "recorded on the CPU of a machine with NVIDIA H200 · 2026-11-30"
    )
    assert not recording.on_gpu("unheard-of")


def test_the_newest_comes_first_and_a_broken_one_takes_nothing_away(tmp_path) -> None:
    put(tmp_path, "a100.json", device="NVIDIA A100", date="2026-12-02T00:00:00+00:00")
    put(tmp_path, "h200.json")
    (tmp_path / "broken.json").write_text("{", encoding="utf-8")
    assert [one.device for one in recordings(tmp_path)] == ["NVIDIA A100", "NVIDIA H200"]
    assert recordings(tmp_path / "nowhere") == ()


COUNTED = {
    "impl": "standard", "n": 8192, "d": 128, "heads": 16, "dtype": "bfloat16", "why": "",
    "kernels": [{"name": "scores", "read": 100, "written": 7}, {"name": "softmax", "read": 11, "written": 0}],
}  # fmt: skip
STANDARD = Call("by any name", "standard", 8192, 128, 16, "bfloat16")


def test_counters_are_found_by_implementation_and_shape_and_added_up_over_the_kernels(tmp_path) -> None:
    refused = COUNTED | {"impl": "flash", "kernels": [], "why": "ERR_NVGPUCTRPERM"}
    put(tmp_path, "h200.json", counters=[COUNTED, refused])
    put(tmp_path, "a100.json", device="NVIDIA A100", date="2026-12-02")
    kept = recordings(tmp_path)
    others = [
        Call("", "flash", 8192, 128, 16, "bfloat16"),  # where it was tried and could not be read
        Call("", "standard", 4096, 128, 16, "bfloat16"),
        Call("", "standard", 8192, 128, 16, "float16"),
    ]
    found = counted([*others, STANDARD], kept)
    assert found is not None and found is kept[1]  # the newest has none
    assert found.counted([*others, STANDARD]) == [(STANDARD, Moved(read=111, written=7, kernels=2))]
    assert counted(others, kept) is None
    assert counted((), kept) is None


def test_the_counters_are_those_of_the_gpu_whoever_ran_the_demo(tmp_path) -> None:
    start = START | {"device": "interpreter"}
    recording = read_recording(put(tmp_path, "h200.json", demos={"bytes-moved": [start, RESULT]}))
    assert recording.provenance.startswith("recorded on NVIDIA H200 · 2026-11-30")


@pytest.mark.parametrize(
    "content",
    [
        "{",
        "[]",
        "{}",
        '{"device": "x"}',
        json.dumps(DOCUMENT | {"demos": {"d": 3}}),
        json.dumps(DOCUMENT | {"counters": [COUNTED | {"heads": "16"}]}),
        json.dumps(DOCUMENT | {"counters": [COUNTED | {"kernels": [{"read": -1, "written": 0}]}]}),
        "[" * 100_000,
    ],
)
def test_a_file_that_is_none_is_one_line(tmp_path, content) -> None:
    (tmp_path / "x.json").write_text(content, encoding="utf-8")
    with pytest.raises(FatutorError, match=r"the recording x\.json cannot be read: ") as caught:
        read_recording(tmp_path / "x.json")
    assert "\n" not in str(caught.value)


def test_what_it_says_is_cleaned(tmp_path) -> None:
    assert read_recording(put(tmp_path, "x.json", device="H\x1b[2J200")).device == "H200"


def test_the_recordings_that_are_shipped_can_be_read() -> None:
    folder = bundle_root() / "kernels" / "recorded"
    assert len(recordings(folder)) == len(list(folder.glob("*.json")))
