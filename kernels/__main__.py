"""`python -m kernels`: `list` and `run NAME` for the demonstrations, `bench` and `record` for real GPUs.

With `--json`, standard output carries the lines of `wire.py` (of `bench`: one document) and nothing else,
whatever a library prints. Exit codes: 0 done, with a verdict or without, 1 not possible here or failed, 2 a
wrong request, 130 stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import stat
import sys
import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NoReturn, TextIO

from kernels import runner
from kernels.bench.contenders import USUAL_PEERS
from kernels.bench.grid import PHASES
from kernels.demos import Demo, modules
from kernels.report import Report
from kernels.wire import Event, encode

STOPPED = 130  # what a shell reports for ctrl-c


def main(arguments: list[str]) -> int:
    """Returns the exit code."""
    asked = _parser().parse_args(arguments)
    if asked.verb == "list":
        demos = [module.DEMO for module in modules().values()]
        names = "\n".join(demo.name for demo in demos)
        print(json.dumps([_listed(demo) for demo in demos], indent=1) if asked.json else names)
        return 0

    signal.signal(signal.SIGINT, lambda *_: os._exit(STOPPED))
    wire = Wire(_take_stdout())
    try:
        return {"run": _run, "bench": _bench, "record": _record}[asked.verb](asked, wire)
    except runner.RefusalError as refusal:
        if asked.verb == "run" and asked.json:
            wire(refusal.error)
        else:
            print(refusal, file=sys.stderr)
        return refusal.exit_code
    except BrokenPipeError:
        os._exit(STOPPED)  # the reader is gone; closing the pipe in order would only fail again


def _run(asked: argparse.Namespace, wire: Wire) -> int:
    if asked.json or asked.watch_stdin:
        wire.stop_with_stdin()
    module = runner.find(asked.name, modules())
    params = runner.parameters(module.DEMO, asked.param)
    emit = wire if asked.json else Report(module.DEMO.question, wire.out, sys.stderr)
    return runner.run(module, params, asked.device, emit)


def _bench(asked: argparse.Namespace, wire: Wire) -> int:
    from kernels.bench import command

    return command.run(
        quick=asked.quick,
        against=asked.against,
        phases=asked.phases,
        as_json=asked.json,
        now=datetime.now(UTC),
        out=wire.out,
        progress=sys.stderr,
    )


def _record(asked: argparse.Namespace, wire: Wire) -> int:
    from kernels.recorded import FOLDER, make

    def say(line: str) -> None:
        print(line, file=wire.out, flush=True)

    folder = asked.out or FOLDER
    return make.run(folder, modules(), datetime.now(UTC), say, quick=asked.quick, seconds=asked.seconds)


class Wire:
    """Writes events as lines, each whole or not at all."""

    def __init__(self, out: TextIO) -> None:
        self.out = out
        self._writing = threading.Lock()

    def __call__(self, event: Event) -> None:
        with self._writing:
            print(encode(event), file=self.out, flush=True)

    def stop_with_stdin(self) -> None:
        """End the process once whoever started it has gone, which closes its end of our standard input.

        That works through ssh and batch systems too, where no signal arrives. A terminal, a file or nothing
        at all as standard input is not watched.
        """
        try:
            kind = os.fstat(0).st_mode
        except OSError:
            return
        if stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind):
            threading.Thread(target=self._wait_for_end, daemon=True).start()

    def _wait_for_end(self) -> None:
        while os.read(0, 4096):
            pass
        self._writing.acquire(timeout=1)  # let a line that is being written end, unless nobody reads it
        os._exit(STOPPED)


def _take_stdout() -> TextIO:
    """Standard output for us alone: what others print, C libraries included, goes to standard error."""
    out = os.fdopen(os.dup(1), "w", encoding=sys.stdout.encoding, errors="replace")
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    return out


def _listed(demo: Demo) -> dict[str, Any]:
    return {
        "name": demo.name,
        "claim": demo.claim,
        "question": demo.question,
        "unit": demo.unit,
        "needs": demo.needs,
        "devices": demo.devices,
        "form": demo.form,
        "choices": demo.choices,
        "params": {
            param.name: {"default": param.default, "values": param.values, "help": param.help}
            for param in demo.params
        },
        "seconds": demo.seconds,
        "plan": demo.plan,
        "explain": demo.explain,
    }


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{message}; `{self.prog} --help` says what can be written\n")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(prog="python -m kernels", description="Attention kernels that confirm what is claimed.")
    verbs = parser.add_subparsers(dest="verb", required=True, metavar="list | run | bench | record")
    listing = verbs.add_parser("list", help="name the demonstrations")
    listing.add_argument("--json", action="store_true", help="with all that is known about each")
    run = verbs.add_parser("run", help="run one")
    run.add_argument("name", metavar="NAME")
    run.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    run.add_argument("--param", action="append", default=[], metavar="NAME=VALUE")
    run.add_argument("--json", action="store_true", help="one event a line; stops when standard input closes")
    run.add_argument("--watch-stdin", action="store_true", help="stop when standard input closes")
    bench = verbs.add_parser("bench", help="time our attention beside its peers, on this GPU")
    bench.add_argument("--quick", action="store_true", help="a dozen rows, under a minute on an H200")
    bench.add_argument("--against", default=",".join(USUAL_PEERS), metavar="PEERS", help="flex as well")
    bench.add_argument("--pass", dest="phases", default=",".join(PHASES), metavar="PASSES")
    bench.add_argument("--json", action="store_true", help="one document; the table goes to standard error")
    record = verbs.add_parser(
        "record", help="keep the benchmark, each demonstration and the counters as a file"
    )
    record.add_argument("--out", type=Path, metavar="DIR", help="where to; else with the recordings shipped")
    record.add_argument("--quick", action="store_true", help="the benchmark's quick rows alone")
    record.add_argument("--seconds", type=float, help="how long to time each contender at each point")
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
