"""How a process that speaks the wire is started."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from fatutor.errors import FatutorError
from fatutor.paths import bundle_root

DEVICES = ("auto", "cpu", "cuda")
LOCAL_SECONDS = 60.0
REMOTE_SECONDS = 300.0
"""A far side may have to queue for its GPU, and a shared disk takes its time to load torch."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]*")
_VALUE = re.compile(r"[A-Za-z0-9._+-]+")


@dataclass(frozen=True, slots=True)
class Launcher:
    """Whatever starts the kernels and carries their stdin and stdout: a Python here, or `ssh box …`.

    `argv` is what the verbs `list` and `run` are appended to, `env` the complete environment. The process
    works in `cwd`, or in a fresh folder of its own that goes away with it. A run may take `limit_seconds`.
    `remote` is the far side's name in `config.toml`, empty for the kernels here.

    What is appended consists of letters, digits and `._+=-` alone, so a shell on the way, such as the one
    that ssh starts, cannot read it as anything else.
    """

    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: Path | None = None
    remote: str = ""
    limit_seconds: float = LOCAL_SECONDS

    @property
    def at(self) -> str:
        """Where it runs, as the end of a sentence: " on box", or nothing for here."""
        return f" on {self.remote}" if self.remote else ""

    def way_out(self, here: str) -> str:
        """What to do about a failure: `here` for the kernels here, a check of the far side for a remote."""
        return f"fatutor demo --check-remote {self.remote} says what is missing" if self.remote else here

    def listing(self) -> list[str]:
        """The command line that prints the catalogue."""
        return [*self.argv, "list", "--json"]

    def running(self, demo: str, params: Mapping[str, object], device: str) -> list[str]:
        """The command line that runs one demo.

        Raises FatutorError for a name or value that a shell or an option parser could misread, and for an
        unknown device.
        """
        for name in (demo, *params):
            if not _NAME.fullmatch(name):
                raise FatutorError(f"“{name}” is not a name", "use letters, digits, - and _")
        for name, value in params.items():
            if not _VALUE.fullmatch(str(value)):
                raise FatutorError(f"“{value}” is no value for {name}", f"write --param {name}=256")
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


def remote(
    name: str, launch: Sequence[str], cwd: Path | None = None, environ: Mapping[str, str] = os.environ
) -> Launcher:
    """The far side called `name`: `launch` is any command that ends in that side's own `python -m kernels`.

    It starts in `cwd`. The far side ends itself when its stdin closes, so nothing has to be killed there.
    """
    return Launcher(tuple(launch), dict(environ), cwd, name, REMOTE_SECONDS)
