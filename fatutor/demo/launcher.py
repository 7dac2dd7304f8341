"""How a process that speaks the wire is started."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fatutor.errors import FatutorError
from fatutor.paths import bundle_root

DEVICES = ("auto", "cpu", "cuda")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")


@dataclass(frozen=True, slots=True)
class Launcher:
    """Whatever starts the kernels and carries their stdin and stdout: a Python here, or `ssh box …`.

    `argv` is what the verbs `list` and `run` are appended to, `env` the complete environment. The process
    works in `cwd`, or in a fresh folder of its own that goes away with it.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None

    def listing(self) -> list[str]:
        """The command line that prints the catalogue."""
        return [*self.argv, "list", "--json"]

    def running(self, demo: str, params: Mapping[str, object], device: str) -> list[str]:
        """The command line that runs one demo.

        Raises FatutorError for a name that could be read as an option or an unknown device.
        """
        for name in (demo, *params):
            if not _NAME.fullmatch(name):
                raise FatutorError(f"“{name}” is not a name", "use letters, digits, - and _")
        if device not in DEVICES:
            raise FatutorError(f"there is no device “{device}”", f"use {', '.join(DEVICES)}")
        settings = [word for name, value in params.items() for word in ("--param", f"{name}={value}")]
        return [*self.argv, "run", demo, "--device", device, *settings, "--json"]


def local(root: Path | None = None, environ: Mapping[str, str] = os.environ) -> Launcher:
    """The kernels under `root` (the bundle unless told otherwise), run by the Python that runs us.

    Raises FatutorError where the interpreter does not know its own path.
    """
    if not sys.executable:
        raise FatutorError("Python does not know where it is", "start fatutor with a full path to python")
    found = str(root or bundle_root())
    return Launcher(
        argv=(sys.executable, "-m", "kernels"),
        env={
            **environ,
            # First on the path, before any installed package of the same name; what was there stays,
            # since cluster modules bring their torch in by this variable.
            "PYTHONPATH": os.pathsep.join(filter(None, (found, environ.get("PYTHONPATH")))),
            "PYTHONUNBUFFERED": "1",
            "PYTHONIOENCODING": "utf-8",
        },
    )
