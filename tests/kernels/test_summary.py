"""The table of all demos: a line for each, also for one that fails or says nothing."""

from __future__ import annotations

import io
import json
import subprocess
from typing import Any

from kernels import summary

START = {"event": "start", "device": "interpreter"}
RESULT = {
    "event": "result",
    "verdict": "confirmed",
    "formula": 1181696,
    "measured": 2.5,
    "unit": "B",
    "seconds": 3.14,
}


def printed(*says: Any) -> tuple[int, list[str]]:
    """What the table says of demos a, b, …; each says its events, or raises."""
    answers = dict(zip("abcdef", says, strict=False))

    def call(module: str, verb: str, name: str, *rest: str) -> subprocess.CompletedProcess[str]:
        assert (module, verb, rest) == ("kernels", "run", ("--json",))
        if isinstance(answers[name], Exception):
            raise answers[name]
        return subprocess.CompletedProcess([], 0, stdout=answers[name])

    out = io.StringIO()
    code = summary.main(answers, out, call)
    return code, [" ".join(line.split()) for line in out.getvalue().splitlines()]


def lines(*events: dict[str, Any]) -> str:
    return "\n".join(json.dumps(event) for event in events)


def test_a_line_for_each_demo() -> None:
    code, table = printed(
        lines(START, RESULT), lines(START, RESULT | {"formula": None, "verdict": "refuted"})
    )
    assert code == 0
    assert table == [
        "demo device verdict formula measured unit seconds",
        "a interpreter confirmed 1,181,696 2.5 B 3.1",
        "b interpreter refuted - 2.5 B 3.1",
    ]


def test_one_that_fails_does_not_stop_the_others() -> None:
    code, table = printed(
        lines(START, {"event": "error", "what": "it needs torch"}),
        "",
        "no JSON",
        subprocess.TimeoutExpired("demo", 180),
        lines(START, RESULT),
    )
    assert code == 1
    assert table[1] == "a interpreter failed - - it needs torch"
    assert table[2] == "b - failed - - it ended without a result"
    assert table[3].startswith("c - failed - - Expecting value")
    assert table[4] == "d - failed - - Command 'demo' timed out after 180 seconds"
    assert table[5].startswith("e interpreter confirmed")
