"""`fatutor demo` on other machines, recorded, and looked back upon."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from fatutor.store.store import open_store
from fatutor.store.url import Location
from fatutor.verbs.demo import demo
from tests import far_side, kept_run
from tests.processes import assert_is_gone

ROOT = Path(__file__).resolve().parents[2]
RUN = replace(kept_run.RUN, card="ridge")


@pytest.fixture
def remote(home: Path, tmp_path: Path):
    """Writes a remote called far, in some mode, into config.toml."""

    def write(mode: str) -> None:
        home.mkdir(exist_ok=True)
        launch = json.dumps([sys.executable, far_side.__file__, str(tmp_path), mode])
        (home / "config.toml").write_text(f"[demo.remotes.far]\nlaunch = {launch}\n", encoding="utf-8")

    return write


def test_a_run_on_a_remote(fatutor, remote, tmp_path) -> None:
    remote("good")
    done = fatutor("demo", "bytes-moved", "--on", "far", "--param", "n=256", "--device", "cuda")
    assert done.returncode == 0, done.stderr
    assert "Pretend [H200] on far" in done.stderr
    assert "confirmed: they are equal" in done.stdout
    assert (tmp_path / "asked").read_text() == "run bytes-moved --device cuda --param n=256 --json"
    assert_is_gone(int((tmp_path / "pid").read_text()))


def test_a_run_on_a_remote_as_events(fatutor, remote) -> None:
    remote("good")
    events = [
        json.loads(line)
        for line in fatutor("demo", "bytes-moved", "--on", "far", "--json").stdout.splitlines()
    ]
    assert [event["event"] for event in events][-1] == "result"
    assert "recorded" not in events[-1]


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("no-torch", "bytes-moved needs torch, not installed here; pip install"),
        ("out-of-memory", "4.0 GiB are needed; choose a smaller size"),
        ("drops", "exit code 255 and without a result: client_loop"),
        ("garbage", "without a result"),
        ("killed", "was ended by SIGKILL"),
    ],
)
def test_a_remote_that_fails_is_one_line(fatutor, remote, tmp_path, mode, told) -> None:
    remote(mode)
    done = fatutor("demo", "bytes-moved", "--on", "far")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert last.startswith("fatutor: ") and told in last
    assert "Traceback" not in done.stderr
    assert_is_gone(int((tmp_path / "pid").read_text()))


def test_an_unknown_remote_names_those_there_are(fatutor, complaint, remote) -> None:
    way_out = "there is no remote 'box'; write [demo.remotes.box] in config.toml"
    assert way_out in complaint(fatutor("demo", "bytes-moved", "--on", "box"))
    remote("good")
    assert "there is no remote 'box'; remotes here: far" in complaint(
        fatutor("demo", "--check-remote", "box")
    )


def test_a_value_that_a_far_shell_could_read_otherwise_never_gets_there(
    fatutor, complaint, remote, tmp_path
) -> None:
    remote("good")
    done = fatutor("demo", "bytes-moved", "--on", "far", "--param", "n=1;id")
    assert "is no value for n" in complaint(done)
    assert not (tmp_path / "asked").exists()


def test_a_check_says_what_is_there_and_what_is_missing(fatutor, remote) -> None:
    remote("good")
    done = fatutor("demo", "--check-remote", "far")
    assert done.returncode == 0
    assert [line[0] for line in done.stdout.splitlines()] == ["✓", "✓", "✓"]
    remote("no-torch")
    done = fatutor("demo", "--check-remote", "far", "--json")
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["remote"] == "far"
    assert [found["fine"] for found in document["findings"]] == [True, False]
    assert document["findings"][1]["way_out"] == "pip install 'fatutor[demos]'"


def test_one_thing_at_a_time(fatutor) -> None:
    done = fatutor("demo", "bytes-moved", "--on", "far", "--recorded")
    assert done.returncode == 2
    assert "not allowed with" in done.stderr


def test_history_of_nothing_makes_nothing(fatutor, home) -> None:
    assert "no run is kept yet" in fatutor("demo", "--history").stdout
    assert json.loads(fatutor("demo", "--history", "--json").stdout) == {"runs": []}
    assert not (home / "fatutor.db").exists()


def test_history_lists_runs_with_how_far_off_they_were(fatutor, home) -> None:
    with open_store(Location(file=home / "fatutor.db"), backups=None, now=RUN.at) as store:
        store.add_run(RUN)
    before = (home / "fatutor.db").read_bytes()
    shown = fatutor("demo", "--history", TZ="UTC").stdout.splitlines()
    assert shown == [
        "2026-11-29 13:05  bytes-moved  n 512 · interpreter on x86_64",
        "  you said 500 kB · measured 1.18 MB · ✗ 2.4× under · claim confirmed · from ridge",
    ]
    [run] = json.loads(fatutor("demo", "bytes-moved", "--history", "--json").stdout)["runs"]
    assert (run["demo"], run["right"], round(run["ratio"], 3)) == ("bytes-moved", False, 0.423)
    assert json.loads(fatutor("demo", "same-answer", "--history", "--json").stdout) == {"runs": []}
    assert (home / "fatutor.db").read_bytes() == before


def test_history_needs_no_database_layer(home) -> None:
    with open_store(Location(file=home / "fatutor.db"), backups=None, now=RUN.at) as store:
        store.add_run(RUN)
    code = (
        "import sys, fatutor.__main__ as m; assert m.main(['demo', '--history']) == 0;"
        "assert not {'sqlmodel', 'sqlalchemy', 'textual', 'torch'} & set(sys.modules)"
    )
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "FATUTOR_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_recorded_run_says_so_in_every_line(
    make_desk, tmp_path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fatutor.__main__ import parser

    script = (sys.executable, far_side.__file__, str(tmp_path), "good")
    start = {"v": 1, "event": "start", "demo": "bytes-moved", "device": "cuda", "params": {"n": 512}}
    result = {"v": 1, "event": "result", "verdict": "confirmed", "why": "L2 served the rest"}
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "h200.json").write_text(
        json.dumps({"device": "NVIDIA H200", "date": "2026-11-30", "demos": {"bytes-moved": [start, result]}})
    )
    from fatutor.demo.launcher import Launcher

    desk = make_desk(launcher=Launcher(script, dict(os.environ)), recorded=tmp_path / "recorded")
    monkeypatch.setattr("fatutor.verbs.demo.make_desk", lambda arguments: desk)
    assert demo(parser().parse_args(["demo", "bytes-moved", "--recorded"])) == 0
    told = capsys.readouterr()
    assert told.out.splitlines() == [
        "recorded on NVIDIA H200 · 2026-11-30",
        "Claim: Tiled [asks] for less.",
        "confirmed: L2 served the rest",
    ]
    assert told.err == "bytes-moved · cuda, 2026-11-30, recorded\n"
    assert demo(parser().parse_args(["demo", "bytes-moved", "--recorded", "--json"])) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [event["recorded"] for event in events] == ["recorded on NVIDIA H200 · 2026-11-30"] * 2
    # A live run shows the recorded one beside it, by name and day.
    desk.gpu = None
    assert demo(parser().parse_args(["demo", "bytes-moved"])) == 0
    assert "Recorded on NVIDIA H200, 2026-11-30: confirmed: L2 served" in capsys.readouterr().out
    assert not (tmp_path / "home" / "fatutor.db").exists()


def test_a_live_run_shows_the_counters_that_were_recorded_for_its_calls(
    make_desk, tmp_path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fatutor.__main__ import parser
    from fatutor.demo.launcher import Launcher

    shape = {"n": 512, "d": 64, "heads": 1, "dtype": "float16"}
    kernels = [{"name": "_flash_forward", "read": 224512, "written": 64}]
    counters = [{"impl": "flash", **shape, "kernels": kernels, "why": ""}]
    recording = {"device": "NVIDIA H200", "date": "2026-11-30", "demos": {}, "counters": counters}
    (tmp_path / "recorded").mkdir()
    (tmp_path / "recorded" / "h200.json").write_text(json.dumps(recording))
    script = (sys.executable, far_side.__file__, str(tmp_path), "calls")
    desk = make_desk(launcher=Launcher(script, dict(os.environ)), recorded=tmp_path / "recorded")
    monkeypatch.setattr("fatutor.verbs.demo.make_desk", lambda arguments: desk)
    assert demo(parser().parse_args(["demo", "bytes-moved", "--device", "cpu"])) == 0
    head, shape_line, line = capsys.readouterr().out.splitlines()[-3:]
    assert head.startswith("Recorded on NVIDIA H200, 2026-11-30: DRAM traffic by the hardware's counters.")
    assert shape_line == "  N 512, d 64, 1 head, float16"
    assert line == "    tiled: 225 kB read, 64 B written"
    assert demo(parser().parse_args(["demo", "bytes-moved", "--device", "cpu", "--json"])) == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert "recorded" not in events[-1]
    [tiled] = events[-1]["counters"]["dram"]
    assert events[-1]["counters"]["recorded"] == "recorded on NVIDIA H200 · 2026-11-30"
    assert tiled == {"name": "tiled", "impl": "flash", **shape, "read": 224512, "written": 64, "kernels": 1}
    assert not [event for event in events[:-1] if "counters" in event]


def test_a_demo_that_is_not_recorded(make_desk, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    from fatutor.__main__ import parser
    from fatutor.demo.launcher import Launcher
    from fatutor.errors import FatutorError

    script = (sys.executable, far_side.__file__, str(tmp_path), "good")
    desk = make_desk(launcher=Launcher(script, dict(os.environ)), recorded=tmp_path / "nowhere")
    monkeypatch.setattr("fatutor.verbs.demo.make_desk", lambda arguments: desk)
    with pytest.raises(FatutorError, match="no run of bytes-moved is recorded"):
        demo(parser().parse_args(["demo", "bytes-moved", "--recorded"]))


def test_the_list_tells_what_a_run_does_and_not_the_claim_that_may_be_the_answer(
    make_desk, tmp_path, capsys, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fatutor.__main__ import parser
    from fatutor.demo.launcher import Launcher

    (tmp_path / "listing.json").write_text(json.dumps(far_side.listing()), encoding="utf-8")
    desk = make_desk(
        launcher=Launcher((sys.executable, far_side.__file__, str(tmp_path), "good"), dict(os.environ))
    )
    monkeypatch.setattr("fatutor.verbs.demo.make_desk", lambda arguments: desk)
    assert demo(parser().parse_args(["demo"])) == 0
    assert capsys.readouterr().out == "bytes-moved          Count both [here].\n"
    assert demo(parser().parse_args(["demo", "--json"])) == 0
    assert json.loads(capsys.readouterr().out)[0]["plan"] == "Count both [here]."
