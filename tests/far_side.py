"""A far side for tests: a script that stands where `python -m kernels` stands, and does as its mode says.

    python far_side.py FOLDER MODE run bytes-moved --device auto --param n=512 --json

It notes its process id in FOLDER/pid, and its arguments in FOLDER/asked.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

DEMO = "bytes-moved"


def listing(**changes: object) -> list[dict[str, object]]:
    """A catalogue of one demo."""
    demo: dict[str, object] = {
        "name": DEMO,
        "claim": "Tiled [asks] for less.",
        "question": "How many bytes?",
        "unit": "B",
        "needs": [],
        "devices": ["cuda", "interpreter"],
        "form": "number",
        "choices": [],
        "seconds": 1,
        "plan": "Count both [here].",
        "explain": "Because *tiles*.",
        "params": {
            "n": {"default": 512, "values": [256, 512], "help": "keys"},
            "rows": {"default": 64, "values": [32, 64, 128], "help": "queries a tile"},
        },
    }
    return [demo | changes]


def say(event: str, **fields: object) -> None:
    print(json.dumps({"v": 1, "event": event, **fields}), flush=True)


def start(device: str = "cuda") -> None:
    name = {"cuda": "Pretend [H200]"}.get(device, f"{device} on pretend")
    given = [sys.argv[place + 1] for place, word in enumerate(sys.argv) if word == "--param"]
    params = {name: int(value) for name, _, value in (pair.partition("=") for pair in given)}
    say("start", demo=DEMO, device=device, device_name=name, versions={"torch": "9.9"}, params=params, at="")


def rows() -> None:
    say("row", name="standard", formula=4784128, measured=4784128, unit="B", note="six passes")
    say("row", name="tiled", formula=1181696, measured=1181696, unit="B", note="K and V again")


def series() -> None:
    say("series", name="standard", x=[128, 256, 512], y=[311296, 1212416, 4784128], x_unit="N", y_unit="B")
    say("series", name="tiled", x=[128, 256, 512], y=[98816, 328704, 1181696], x_unit="N", y_unit="B")


def result(**changes: object) -> None:
    told = {"quantity": "tiled", "formula": 1181696, "measured": 1181696, "unit": "B", "seconds": 0.5}
    told |= {"why": "they are equal", "limits": "counts what is asked for", "derivation": "8*131072*[1]"}
    say("result", verdict="confirmed", **(told | changes))


def good(device: str = "cuda") -> None:
    say("progress", done=0, total=1, note="loading torch")
    start(device)
    say("progress", done=1, total=2, note="counting")
    print("a word on stderr", file=sys.stderr, flush=True)
    rows()
    series()
    result()


def choice() -> None:
    start()
    result(unit="", formula=None, measured=None, answer="the second")


def calls() -> None:
    """A result that says which calls of attention it is about."""
    start("interpreter")
    rows()
    result(
        calls=[{"name": "tiled", "impl": "flash", "n": 512, "d": 64, "heads": 1, "dtype": "float16"}],
    )


def error(what: str, way_out: str) -> None:
    say("progress", done=0, total=1, note="loading torch")
    say("error", what=what, way_out=way_out)
    sys.exit(1)


def old_driver() -> None:
    print("UserWarning: The NVIDIA driver on your system is too old (found 11040)", file=sys.stderr)
    good("interpreter")


def out_of_memory() -> None:
    start()
    error("the GPU has 2.0 GiB free and 4.0 GiB are needed", "choose a smaller size")


def waits() -> None:
    start()
    say("progress", done=1, total=2, note="waiting")
    sys.stdin.read()


def stubborn() -> None:
    """Neither a signal nor the end of its input makes it go."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    start()
    say("progress", done=1, total=2, note="waiting")
    time.sleep(600)


def drops() -> None:
    start()
    rows()
    print("client_loop: send disconnect: Broken pipe", file=sys.stderr)
    sys.exit(255)


def garbage() -> None:
    out = sys.stdout.buffer
    out.write(b"Last login: \x1b[2J\x1b]0;title\x07[/red]\n{}\n[1]\n\xff\xfe\n" + b"x" * 400_000 + b"\n")
    out.write(b'{"v": 1, "event": "result", "verdict": "maybe"}\n{"v": 1, "event": "row", "name": 3}\n')


def banner() -> None:
    print("Welcome to the cluster. [Terms] apply.", flush=True)
    good()


def disordered() -> None:
    result()
    rows()
    say("progress", done=1, total=2, note="late")
    start()
    result(measured=1)
    say("error", what="too late", way_out="")


def killed() -> None:
    start()
    os.kill(os.getpid(), signal.SIGKILL)


def flood() -> None:
    start()
    for number in range(5_000):
        say("row", name=f"row {number}", formula=number, measured=number, unit="B", note="")
    result()


def other_version() -> None:
    print(json.dumps({"v": 2, "event": "start", "demo": DEMO, "device": "cuda"}), flush=True)


def refused() -> None:
    print("ssh: connect to host box port 22: Connection refused", file=sys.stderr)
    sys.exit(255)


def no_python() -> None:
    print("bash: line 1: python3: command not found", file=sys.stderr)
    sys.exit(127)


def no_kernels() -> None:
    print("/usr/bin/python3: No module named kernels", file=sys.stderr)
    sys.exit(1)


def old_python() -> None:
    print("ImportError: cannot import name 'UTC' from 'datetime'", file=sys.stderr)
    sys.exit(1)


MODES: dict[str, Callable[[], None]] = {
    "good": good,
    "interpreter": lambda: good("interpreter"),
    "calls": calls,
    "choice": choice,
    "no-torch": lambda: error("bytes-moved needs torch, not installed here", "pip install 'fatutor[demos]'"),
    "no-triton": lambda: error("bytes-moved needs triton, not installed here", "use a Linux machine"),
    "no-gpu": lambda: error("PyTorch finds no CUDA device here", "use --device cpu"),
    "busy-gpu": lambda: error("CUDA-capable device(s) is/are busy or unavailable", "free the GPU, or wait"),
    "old-driver": old_driver,
    "out-of-memory": out_of_memory,
    "waits": waits,
    "stubborn": stubborn,
    "silent": lambda: time.sleep(600),
    "drops": drops,
    "garbage": garbage,
    "banner": banner,
    "disordered": disordered,
    "killed": killed,
    "flood": flood,
    "other-version": other_version,
    "refused": refused,
    "no-python": no_python,
    "no-kernels": no_kernels,
    "old-python": old_python,
}


def main(folder: Path, mode: str) -> None:
    if sys.argv[3] == "list":
        kept = folder / "listing.json"
        print(kept.read_text(encoding="utf-8") if kept.exists() else json.dumps(listing()))
        return
    # Renamed into place, so that nobody reads half a number.
    (folder / "pid.part").write_text(str(os.getpid()), encoding="utf-8")
    (folder / "pid.part").rename(folder / "pid")
    (folder / "asked").write_text(" ".join(sys.argv[3:]), encoding="utf-8")
    MODES[mode]()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
