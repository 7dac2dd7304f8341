"""What is missing on a far side: asked by starting one demo there, and judged by how far that gets."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass

from fatutor.demo.catalogue import Demo
from fatutor.demo.events import VERSION, Failed, Result, Started
from fatutor.demo.launcher import Launcher
from fatutor.demo.run import Run
from fatutor.errors import FatutorError
from fatutor.paths import bundle_root

CHECK_SECONDS = 60.0
"""A queue may be long; a check is told when it has waited enough."""

_NO_KERNELS = re.compile(r"No module named '?kernels")
_NOT_FOUND = (126, 127)  # what shells exit with for a program that is not there, or cannot be started
_SSH_FAILED = 255


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a run there needs. `way_out` is empty where it is there."""

    what: str
    told: str
    way_out: str = ""

    @property
    def fine(self) -> bool:
        return not self.way_out


def check(launcher: Launcher, demo: Demo, *, limit_seconds: float = CHECK_SECONDS) -> list[Finding]:
    """What the far side has, in the order in which a run needs it; the first that is missing ends the list.

    Starts `demo` there and leaves it as soon as it says on what device it runs, so it costs no more than
    loading torch. Choose one that would take a GPU.
    """
    return asyncio.run(_check(launcher, demo, limit_seconds))


async def _check(launcher: Launcher, demo: Demo, limit: float) -> list[Finding]:
    outcome: Started | Result | Failed | None = None
    run = Run(launcher, demo.name, {}, "auto", limit_seconds=limit)
    try:
        async with run:
            async for event in run:
                if isinstance(event, Started | Result | Failed):
                    outcome = event
                    break
            if isinstance(outcome, Failed) and not run.heard:
                # An exit code may come a moment after the last word.
                return [_unreached(launcher, run, limit)]
    except FatutorError as error:
        return [Finding("launch", error.what, "install it, or mend launch in config.toml")]
    kernels = Finding("kernels", f"they answer, in version {VERSION} of the wire")
    if isinstance(outcome, Failed):
        return [kernels, Finding("run", outcome.what, outcome.way_out or "look into its log")]
    started = outcome if isinstance(outcome, Started) else Started(demo.name, "")
    versions = " · ".join(f"{name} {version}" for name, version in started.versions.items())
    return [kernels, Finding("run", versions or "it starts"), _gpu(started, run.log)]


def _gpu(started: Started, log: tuple[str, ...]) -> Finding:
    if started.device == "cuda":
        return Finding("GPU", started.device_name or "found")
    # PyTorch warns on stderr where there is a GPU that its driver keeps from it.
    reason = next((f": {line}" for line in reversed(log) if "driver" in line.lower()), "")
    told = f"none that PyTorch can use{reason}"
    return Finding("GPU", told, "start it on a node with a GPU, or mend its driver; without, no times there")


def _unreached(launcher: Launcher, run: Run, limit: float) -> Finding:
    """Why no kernels were heard."""
    last = run.last_words or ("it said nothing" if not run.log else "no text")
    code = run.exit_code
    kernels = bundle_root() / "kernels"
    if run.other_version:
        return Finding(
            "kernels", f"they do not speak version {VERSION} of the wire", f"copy {kernels} there once more"
        )
    if any(_NO_KERNELS.search(line) for line in run.log):
        return Finding("kernels", last, f"copy {kernels} into the folder that its Python starts in")
    if code is None:
        return Finding(
            "answer",
            f"none within {limit:g} s; last word: {last}",
            "see that it is up, has no queue, and asks for no password",
        )
    if code in _NOT_FOUND:
        return Finding("Python", last, "name its Python in launch; it must be 3.11 or newer")
    if code == _SSH_FAILED:
        return Finding("answer", last, "see that it is up and lets you in without a password")
    if code == 0:
        told = f"it ended in peace without a word of theirs; last word: {last}"
        return Finding("kernels", told, "let launch end in the far side's own `python3 -m kernels`")
    return Finding(
        "kernels",
        f"they did not start (exit code {code}): {last}",
        f"they need Python 3.11 or newer and the whole of {kernels}",
    )
