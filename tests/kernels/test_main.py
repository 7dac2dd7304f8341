"""`python -m kernels` as others start it: a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PATIENCE = 60  # seconds until a process that should have ended counts as hung

# A demo that needs nothing, in a process that otherwise is the real one.
FAKE = """
import os, sys, time
from kernels import __main__ as cli
from kernels.demos import Demo
from kernels.wire import Progress, Result

class Fake:
    DEMO = Demo(name="fake", claim="", question="", unit="", form="number", needs=(), devices=("cpu",),
                params=(), seconds=1, plan="", explain="")
    def run(self, params, device):
        {body}
        yield Result("one", 1, 1, "", "confirmed", "so", "1", "none")

cli.modules = lambda: {{"fake": Fake()}}
sys.exit(cli.main(sys.argv[1:]))
"""


def environment() -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return clean | {"PYTHONPATH": str(ROOT), "PYTHONUNBUFFERED": "1"}


def call(*arguments: str, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        env=environment(),
        cwd=cwd,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        env=environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def fake(body: str) -> tuple[str, str]:
    return "-c", FAKE.format(body=body)


def events(output: str) -> list[dict[str, Any]]:
    """Every line, which must be an event."""
    said = [json.loads(line) for line in output.splitlines()]
    assert all(event["v"] == 1 for event in said)
    return said


def test_the_list_names_one_demo_a_line(tmp_path: Path) -> None:
    listed = call("-m", "kernels", "list", cwd=tmp_path)
    assert listed.returncode == 0, listed.stderr
    names = listed.stdout.split()
    assert names == sorted(names)
    assert len(names) == 21
    assert {"bytes-moved", "same-answer", "the-256-gib"} <= set(names)


def test_the_list_says_all_about_each_demo() -> None:
    entries = json.loads(call("-m", "kernels", "list", "--json").stdout)
    about = {"name", "claim", "question", "unit", "form", "choices", "plan", "explain"}
    keys = about | {"needs", "devices", "params", "seconds"}
    assert all(set(entry) == keys for entry in entries)
    moved = next(entry for entry in entries if entry["name"] == "bytes-moved")
    assert moved["needs"] == ["torch", "triton"]
    assert moved["devices"] == ["interpreter"]
    assert moved["params"]["n"] == {"default": 512, "values": [128, 256, 512], "help": "queries and keys"}
    assert moved["unit"] == "B"


def test_the_list_loads_neither_torch_nor_numpy() -> None:
    code = (
        "import sys\nfrom kernels.__main__ import main\nmain(['list', '--json'])\n"
        "loaded = {'torch', 'triton', 'numpy'} & set(sys.modules)\n"
        "sys.exit(f'loaded {loaded}' if loaded else 0)"
    )
    assert call("-c", code).stderr == ""


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["nope"], "there is no demo called 'nope'"),
        (["bytes-moved", "--param", "n=7"], "n cannot be '7'"),
        (["bytes-moved", "--param", "size=7"], "bytes-moved has no parameter 'size'"),
    ],
)
def test_a_wrong_request_is_an_event_or_a_line(arguments: list[str], what: str) -> None:
    for_programs = call("-m", "kernels", "run", *arguments, "--json")
    (error,) = events(for_programs.stdout)
    assert (for_programs.returncode, error["event"], error["what"]) == (2, "error", what)
    assert error["way_out"]
    for_people = call("-m", "kernels", "run", *arguments)
    assert (for_people.returncode, for_people.stdout) == (2, "")
    assert for_people.stderr == f"{what}; {error['way_out']}\n"


@pytest.mark.parametrize("arguments", [["run", "x", "--device", "tpu"], ["sing"], []])
def test_a_wrong_command_line_is_one_line(arguments: list[str]) -> None:
    wrong = call("-m", "kernels", *arguments)
    assert (wrong.returncode, wrong.stdout, wrong.stderr.count("\n")) == (2, "", 1)


def test_what_others_print_does_not_reach_the_wire() -> None:
    noise = (
        "print('python'); sys.stdout.write('direct\\n'); os.write(1, b'from C\\n'); os.system('echo child')"
    )
    ran = call(*fake(noise), "run", "fake", "--json")
    assert [event["event"] for event in events(ran.stdout)] == ["progress", "start", "result"]
    assert all(word in ran.stderr for word in ("python", "direct", "from C", "child"))
    assert ran.returncode == 0


def test_a_failure_is_the_last_event() -> None:
    ran = call(*fake("raise ValueError('no')"), "run", "fake", "--json")
    assert events(ran.stdout)[-1]["what"] == "fake failed with ValueError: no"
    assert ran.returncode == 1


def test_it_stops_when_standard_input_closes() -> None:
    with start(*fake("time.sleep(600)"), "run", "fake", "--json") as child:
        assert child.stdin
        assert child.stdout
        assert json.loads(child.stdout.readline())["event"] == "progress"
        assert json.loads(child.stdout.readline())["event"] == "start"
        assert child.poll() is None
        child.stdin.close()
        assert child.wait(PATIENCE) == 130
        assert child.stdout.read() == ""


def test_it_stops_while_torch_is_loading() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    with start("-m", "kernels", "run", "same-answer", "--json") as child:
        assert child.stdin
        assert child.stdout
        assert json.loads(child.stdout.readline())["note"] == "loading torch and triton"
        child.stdin.close()
        assert child.wait(PATIENCE) == 130
        assert "result" not in child.stdout.read()


def test_without_json_standard_input_is_left_alone_unless_asked() -> None:
    with start(*fake("time.sleep(0.2)"), "run", "fake") as child:
        out, _ = child.communicate(timeout=PATIENCE)  # closes its standard input at once
        assert (child.returncode, "confirmed" in out) == (0, True)
    with start(*fake("time.sleep(600)"), "run", "fake", "--watch-stdin") as child:
        child.communicate(timeout=PATIENCE)
        assert child.returncode == 130


def test_ctrl_c_is_quiet() -> None:
    with start(*fake("time.sleep(600)"), "run", "fake", "--json") as child:
        assert child.stdout
        assert child.stderr
        child.stdout.readline()
        assert json.loads(child.stdout.readline())["event"] == "start"
        child.send_signal(signal.SIGINT)
        assert child.wait(PATIENCE) == 130
        assert child.stderr.read() == ""


def test_a_reader_that_goes_away_ends_it_quietly() -> None:
    with start(*fake("time.sleep(0.5)"), "run", "fake", "--json") as child:
        assert child.stdout
        assert child.stderr
        child.stdout.readline()
        child.stdout.readline()
        child.stdout.close()
        assert child.wait(PATIENCE) == 130
        assert child.stderr.read() == ""


def test_a_real_run_speaks_the_wire_from_start_to_result() -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    ran = call("-m", "kernels", "run", "bytes-moved", "--param", "n=128", "--json", "--device", "cpu")
    said = events(ran.stdout)
    assert ran.returncode == 0, ran.stderr
    assert said[0]["note"] == "loading torch and triton"
    assert said[1]["event"] == "start"
    assert (said[1]["device"], said[1]["params"]) == ("interpreter", {"n": 128, "tile_rows": 64})
    assert set(said[1]["versions"]) == {"python", "torch", "triton", "numpy"}
    assert (said[-1]["event"], said[-1]["verdict"], said[-1]["measured"]) == ("result", "confirmed", 98816)
    assert said[-1]["seconds"] > 0
    assert "interpreter" in said[-1]["limits"]
