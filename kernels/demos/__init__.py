"""One claim a file. The folder is the registry: a module here that has a `DEMO` and a `run` is a demo.

    DEMO: Demo
    def run(params: Mapping[str, Any], device: str) -> Iterator[Event]

`run` yields progress, rows and series as they come, and one result at the end. What it imports beyond the
standard library it imports inside `run`, so that the list of demos costs nothing.
"""

from __future__ import annotations

import pkgutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Literal, Protocol, cast

from kernels.wire import Event


@dataclass(frozen=True, slots=True)
class Param:
    """Something that can be set, from a short list. All values have the default's type."""

    name: str
    default: int
    values: tuple[int, ...]
    help: str


@dataclass(frozen=True, slots=True)
class Demo:
    """A claim, put as a question that is answered before the run.

    form: the prediction is a "number" in `unit`, or a "choice" among `choices`.
    needs: the packages without which it cannot run.
    devices: where it can run, out of "cuda", "interpreter" and "cpu", best first.
    seconds: typical wall time on two CPU cores.
    explain: the derivation, in Markdown.
    plan: one sentence on what a run does.
    """

    name: str
    claim: str
    question: str
    unit: str
    form: Literal["number", "choice"]
    needs: tuple[str, ...]
    devices: tuple[str, ...]
    params: tuple[Param, ...]
    seconds: float
    plan: str
    explain: str
    choices: tuple[str, ...] = ()


class DemoModule(Protocol):
    """What each file of this folder holds."""

    DEMO: Demo

    def run(self, params: Mapping[str, Any], device: str) -> Iterator[Event]: ...


def modules() -> dict[str, DemoModule]:
    """The demos by name, in the order of their names."""
    found = (import_module(f"{__name__}.{entry.name}") for entry in pkgutil.iter_modules(__path__))
    demos = (cast("DemoModule", module) for module in found if hasattr(module, "DEMO"))
    return {module.DEMO.name: module for module in sorted(demos, key=lambda module: module.DEMO.name)}
