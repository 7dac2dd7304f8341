"""Runs one demo: its parameters, its device, what it needs, and the events around those that it yields."""

from __future__ import annotations

import os
import platform
import re
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module
from importlib.util import find_spec

from kernels import interpreter
from kernels.demos import Demo, DemoModule
from kernels.wire import Error, Event, Progress, Result, Start

INSTALL = "pip install 'fatutor[demos]'"


class RefusalError(Exception):
    """A run that cannot begin, with the event that says so. exit_code: 2 a wrong request, 1 this machine."""

    def __init__(self, what: str, way_out: str, exit_code: int = 2) -> None:
        self.error = Error(what, way_out)
        super().__init__(str(self.error))
        self.exit_code = exit_code


def find(name: str, modules: Mapping[str, DemoModule]) -> DemoModule:
    """The demo of that name, or a RefusalError."""
    if name not in modules:
        raise RefusalError(f"there is no demo called {name!r}", f"choose one of {', '.join(modules)}")
    return modules[name]


def parameters(demo: Demo, settings: Iterable[str]) -> dict[str, int]:
    """The demo's defaults, changed by settings such as "n=256", or a RefusalError."""
    params = {param.name: param for param in demo.params}
    chosen = {name: param.default for name, param in params.items()}
    for setting in settings:
        name, _, text = setting.partition("=")
        if name not in params:
            raise RefusalError(
                f"{demo.name} has no parameter {name!r}", f"it has {', '.join(params) or 'none'}"
            )
        values = {str(value): value for value in params[name].values}
        if text not in values:
            raise RefusalError(f"{name} cannot be {text!r}", f"write {name}= and one of {', '.join(values)}")
        chosen[name] = values[text]
    return chosen


def run(module: DemoModule, params: Mapping[str, int], device: str, emit: Callable[[Event], None]) -> int:
    """Run a demo and emit what it says; device is "auto", "cpu" or "cuda". Returns the exit code.

    Raises RefusalError where it cannot begin, BrokenPipeError where nobody listens any more. Anything else
    that goes wrong becomes an error event, with the traceback on standard error.
    """
    demo, began = module.DEMO, time.perf_counter()
    _need(demo)
    emit(Progress(0, 1, f"loading {' and '.join(demo.needs) or 'the demo'}"))
    try:
        where = _load(demo, device)
        emit(_start(demo, where, params))
        for event in module.run(params, where):
            seconds = round(time.perf_counter() - began, 3)
            emit(replace(event, seconds=seconds) if isinstance(event, Result) else event)
    except (RefusalError, BrokenPipeError):
        raise
    except Exception as error:
        traceback.print_exc()
        emit(_failure(demo, error))
        return 1
    return 0


# What a machine says when it cannot, and not the demo: a part of the message, and the way out.
_BEYOND = (
    ("out of memory", "choose a smaller size, or end what else is on the GPU"),
    ("can't allocate memory", "choose a smaller size, or end what else takes memory"),
    ("failed to map segment", "give the process more memory: PyTorch's libraries do not fit"),
    ("busy or unavailable", "wait until the GPU is free, or use --device cpu"),
    ("driver version is insufficient", "update the NVIDIA driver, or use --device cpu"),
    ("no kernel image is available", "use --device cpu: this PyTorch has no code for this GPU"),
)


def _failure(demo: Demo, error: Exception) -> Error:
    """Why it failed, in one sentence of the error's: PyTorch's go on for a page."""
    if isinstance(error, ModuleNotFoundError) and error.name:
        return Error(f"{demo.name} needs {error.name}, not installed here", INSTALL)
    if isinstance(error, MemoryError):
        return Error(f"{demo.name} ran out of memory", "choose a smaller size")
    sentences = _sentences(str(error))
    for sentence in sentences:
        for sign, way_out in _BEYOND:
            if sign in sentence:
                return Error(f"{demo.name} cannot go on: {sentence}", way_out)
    return Error(
        f"{demo.name} failed with {type(error).__name__}: {sentences[0]}", "its log has the traceback"
    )


def _sentences(said: str) -> list[str]:
    """Each on one line, and apart from what CUDA says after all of its errors."""
    parts = re.split(r"\.\s+|\.$|\n\s*\n|\nCUDA kernel errors", said.strip())
    return [" ".join(part.split()) for part in parts]


def _need(demo: Demo) -> None:
    missing = [name for name in demo.needs if find_spec(name) is None]
    if not missing:
        return
    way_out = INSTALL
    if "triton" in missing and sys.platform != "linux":
        way_out = "triton has wheels for Linux only: run the demo on a Linux machine"
    raise RefusalError(f"{demo.name} needs {' and '.join(missing)}, not installed here", way_out, exit_code=1)


def _load(demo: Demo, asked: str) -> str:
    """Choose where to run, then import what is needed in the mode that this takes."""
    if asked == "cuda" and "cuda" not in demo.devices:
        raise RefusalError(f"{demo.name} runs on the CPU alone", "use --device cpu", exit_code=1)
    cuda, why_not = _cuda() if "torch" in demo.needs else (False, "")
    if asked == "cuda" and not cuda:
        reason = f": {why_not}" if why_not else ""
        raise RefusalError(f"PyTorch finds no CUDA device here{reason}", "use --device cpu", exit_code=1)
    possible = [place for place in demo.devices if place != "cuda" or (cuda and asked != "cpu")]
    if not possible:
        raise RefusalError(
            f"{demo.name} runs on a CUDA device alone", "run it on a machine with one", exit_code=1
        )
    if possible[0] == "interpreter":
        interpreter.enable()
    else:
        os.environ.pop("TRITON_INTERPRET", None)  # left over in a shell, it would keep the GPU out of it
    for name in demo.needs:
        import_module(name)
    return possible[0]


def _cuda() -> tuple[bool, str]:
    """Whether PyTorch can use a GPU here, and what it warns of if there is one that it cannot use."""
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        found = bool(import_module("torch").cuda.is_available())
    for one in said:  # they belong into the log all the same
        sys.stderr.write(warnings.formatwarning(one.message, one.category, one.filename, one.lineno))
    return found, next((_sentences(str(one.message))[0] for one in said), "")


def _start(demo: Demo, device: str, params: Mapping[str, int]) -> Start:
    loaded = {name: sys.modules[name] for name in ("torch", "triton", "numpy") if name in sys.modules}
    versions = {"python": platform.python_version()}
    versions |= {name: str(module.__version__) for name, module in loaded.items()}
    if device == "cuda":
        torch = loaded["torch"]
        device_name = torch.cuda.get_device_name()
        versions["cuda"] = str(torch.version.cuda)
    else:
        device_name = f"{device} on {platform.machine()}"
    now = datetime.now(UTC).isoformat(timespec="seconds")
    return Start(demo.name, device, device_name, versions, params, demo.plan, now)
