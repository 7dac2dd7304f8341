"""Recordings: how they are made, what each must hold, and how they are read."""

from __future__ import annotations

import json
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from kernels import recorded
from kernels.bench import command
from kernels.measure.counters import Counted, Kernel
from kernels.recorded import make
from kernels.runner import RefusalError

NOW = datetime(2026, 12, 2, 9, 30, tzinfo=UTC)
ABOUT = {
    "device": "NVIDIA H200",
    "driver": "580.159.04",
    "versions": {"python": "3.12.3", "torch": "2.11.0", "triton": "3.6.0", "cuda": "13.0"},
    "date": NOW.isoformat(timespec="seconds"),
}
BENCH_ROW = {
    "pass": "forward",
    "d": 128,
    "causal": True,
    "n": 4096,
    "batch": 4,
    "heads": 16,
    "heads_kv": 16,
    "impl": "flash",
    "ms": 0.7,
    "tflops": 392.7,
    "gbps": 383.5,
    "spread": 0.01,
    "clock": "CUDA events",
}
SAID = [
    {"v": 1, "event": "progress", "done": 0, "total": 1, "note": "loading"},
    {"v": 1, "event": "start", "demo": "one", "device": "cuda"},
    {"v": 1, "event": "result", "verdict": "confirmed"},
]


def check_recording(document: dict[str, Any]) -> None:
    """The schema that every recording has to satisfy."""
    assert document["v"] == make.VERSION
    assert datetime.fromisoformat(document["date"]).tzinfo is not None
    for name in ("device", "driver"):
        assert isinstance(document[name], str)
    assert {"python", "torch", "triton", "cuda"} <= set(document["versions"])
    assert set(document["ceilings"]) == {"matmul_tflops", "copy_gbps"}
    assert document["rows"]
    for row in document["rows"]:
        assert set(row) == set(BENCH_ROW)
        assert row["pass"] in ("forward", "backward", "decode")
        assert row["ms"] > 0 and row["tflops"] > 0 and row["gbps"] > 0 and row["spread"] >= 0
    assert all(set(note) == {"impl", "why", "where"} for note in document["notes"])
    for events in document["demos"].values():
        assert events
        assert "progress" not in {event["event"] for event in events}
        assert events[-1]["event"] in ("result", "error")
    for entry in document["counters"]:
        assert set(entry) == {"impl", "n", "d", "heads", "dtype", "kernels", "why"}
        assert bool(entry["kernels"]) != bool(entry["why"])
        assert all(set(kernel) == {"name", "read", "written"} for kernel in entry["kernels"])


@pytest.mark.parametrize("name", recorded.names())
def test_what_is_shipped_satisfies_the_schema(name: str) -> None:
    check_recording(recorded.load(name))


def registry(*devices: str) -> Any:
    """One demo, called one, which runs on these."""
    return {"one": SimpleNamespace(DEMO=SimpleNamespace(devices=devices))}


def child_that_says(text: str) -> Any:
    return lambda *arguments: subprocess.CompletedProcess(arguments, 0, text, "")


def as_lines(events: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(event) + "\n" for event in events)


def test_a_recording_is_written_read_and_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bench = ABOUT | {
        "ceilings": {"matmul_tflops": 803.5, "copy_gbps": 4195.0},
        "rows": [BENCH_ROW],
        "notes": [],
    }
    monkeypatch.setattr(command, "need_gpu", lambda who: None)
    monkeypatch.setattr(command, "measure", lambda *_, seconds: dict(bench))
    monkeypatch.setattr(make, "demonstrations", lambda demos, say: [(name, SAID[1:]) for name in demos])
    counted = {
        "impl": "flash",
        "n": 512,
        "d": 64,
        "heads": 1,
        "dtype": "float16",
        "kernels": [],
        "why": "no ncu",
    }
    monkeypatch.setattr(make, "watched", lambda say: [counted])
    told: list[str] = []
    folder = tmp_path / "new" / "folder"
    demos: Any = {"one": None}
    assert make.run(folder, demos, NOW, told.append, quick=True) == 0
    assert recorded.names(folder) == ["h200"]
    document = recorded.load("h200", folder)
    check_recording(document)
    assert document["demos"] == {"one": SAID[1:]}
    assert told == [f"written: {folder / 'h200.json'}"]
    assert [path.name for path in folder.iterdir()] == ["h200.json"]


def test_a_file_has_a_line_for_each_entry_and_says_the_same() -> None:
    document = ABOUT | {"rows": [BENCH_ROW, BENCH_ROW], "notes": [], "demos": {"one": SAID, "two": SAID}}
    written = make.pretty(document)
    assert json.loads(written) == document
    assert sum(json.dumps(BENCH_ROW) in line for line in written.splitlines()) == 2
    assert written.startswith(
        '{\n "device": "NVIDIA H200",\n "driver": "580.159.04",\n "versions": {\n  "python"'
    )


def test_the_benchmark_is_kept_if_what_follows_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command, "need_gpu", lambda who: None)
    monkeypatch.setattr(command, "measure", lambda *_, seconds: ABOUT | {"rows": [BENCH_ROW]})
    monkeypatch.setattr(make, "watched", lambda say: [])

    def fail(*_: object) -> Any:
        raise RuntimeError("the far side is gone")

    monkeypatch.setattr(make, "demonstrations", fail)
    with pytest.raises(RuntimeError):
        make.run(tmp_path, {}, NOW, lambda _: None, quick=True)
    assert recorded.load("h200", tmp_path)["rows"] == [BENCH_ROW]


def test_an_unknown_recording_is_named_with_those_there_are(tmp_path: Path) -> None:
    (tmp_path / "h200.json").write_text("{}")
    with pytest.raises(LookupError, match=r"no recording called 'b200'; there are \['h200'\]"):
        recorded.load("b200", tmp_path)


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("NVIDIA H200", "h200"),
        ("NVIDIA A100-SXM4-80GB", "a100-sxm4-80gb"),
        ("AMD Instinct (X)", "amd-instinct-x"),
    ],
)
def test_files_are_named_after_the_gpu(device: str, name: str) -> None:
    assert make.slug(device) == name


def test_a_demo_is_its_events_without_the_progress() -> None:
    told: list[str] = []
    kept = dict(make.demonstrations(registry("cuda"), told.append, child_that_says(as_lines(SAID))))
    assert kept == {"one": SAID[1:]}
    assert told == ["demo one: confirmed"]


def test_a_demo_that_needs_no_gpu_is_recorded_too() -> None:
    kept = dict(make.demonstrations(registry("interpreter"), lambda _: None, child_that_says(as_lines(SAID))))
    assert kept == {"one": SAID[1:]}


@pytest.mark.parametrize("said", ["", as_lines(SAID[:2]), "Traceback (most recent call last):\n"])
def test_a_demo_that_does_not_end_keeps_an_error(said: str) -> None:
    ((_, events),) = make.demonstrations(registry("cuda"), lambda _: None, child_that_says(said))
    assert events[-1]["event"] == "error"
    assert events[-1]["what"]


def test_a_demo_that_hangs_keeps_an_error() -> None:
    def hang(*arguments: str) -> Any:
        raise subprocess.TimeoutExpired(arguments, 180)

    ((_, events),) = make.demonstrations(registry("cuda"), lambda _: None, hang)
    assert "timed out" in events[-1]["what"]


def test_counters_are_kept_with_their_shape_or_their_reason() -> None:
    def count(impl: str, **shape: Any) -> Counted:
        return Counted((Kernel("k", 3, 4),)) if impl == "flash" else Counted(why="not allowed")

    told: list[str] = []
    entries = make.watched(told.append, count)
    flash = [entry for entry in entries if entry["impl"] == "flash"]
    assert [entry["kernels"] for entry in flash] == [[{"name": "k", "read": 3, "written": 4}]] * 2
    assert {entry["why"] for entry in entries if entry["impl"] != "flash"} == {"not allowed"}
    assert told[1] == "counters flash N=512: 3 B read, 4 B written"


def test_a_folder_that_takes_no_files_is_refused_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "need_gpu", lambda who: None)
    monkeypatch.setattr(command, "measure", lambda *_, seconds: pytest.fail("measured for nothing"))
    (tmp_path / "file").write_text("")
    with pytest.raises(RefusalError, match="nothing can be written to") as refused:
        make.run(tmp_path / "file", {}, NOW, lambda _: None, quick=True)
    assert (refused.value.exit_code, refused.value.error.way_out) == (1, "choose a folder by --out")


def test_without_a_gpu_it_says_so(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    with pytest.raises(RefusalError, match="record needs a GPU"):
        make.run(tmp_path, {}, NOW, lambda _: None, quick=True)
