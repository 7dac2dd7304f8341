"""Running a demo inside a test, and what its events said."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from kernels.demos import modules
from kernels.wire import Number, Progress, Result, Row, Series

NAME_WIDTH = 27  # leaves room for two numbers in 60 columns


@dataclass
class Said:
    """A run: rows by name as (formula, measured), curves by name as (x, y), steps and result."""

    result: Result
    rows: dict[str, tuple[Number, Number]] = field(default_factory=dict)
    notes: dict[str, str] = field(default_factory=dict)
    curves: dict[str, tuple[list[float], list[float]]] = field(default_factory=dict)
    steps: list[tuple[int, int]] = field(default_factory=list)

    @property
    def steady(self) -> bool:
        """Whether progress went from 0 in steps of one, to one before its total."""
        return self.steps == [(done, len(self.steps)) for done in range(len(self.steps))]


def run(name: str, device: str = "", /, **params: int) -> Said:
    """The demo with its own settings but for `params`; on the CPU in whichever way it takes, unless told."""
    module = modules()[name]
    demo = module.DEMO
    device = device or ("interpreter" if "interpreter" in demo.devices else "cpu")
    settings: dict[str, Any] = {param.name: param.default for param in demo.params} | params
    *events, result = module.run(settings, device)
    assert isinstance(result, Result)
    said = Said(result)
    for event in events:
        match event:
            case Row():
                assert event.name not in said.rows, f"two rows are called {event.name!r}"
                assert len(event.name) <= NAME_WIDTH, event.name
                said.rows[event.name] = (event.formula, event.measured)
                said.notes[event.name] = event.note
            case Series():
                said.curves[event.name] = (list(event.x), list(event.y))
            case Progress():
                said.steps.append((event.done, event.total))
            case _:
                raise AssertionError(f"{event} in the middle of a run")
    return said
