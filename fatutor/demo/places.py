"""Where a demo can run: the GPU here, the processor here, and the far sides of `config.toml`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fatutor.demo.catalogue import Demo
from fatutor.demo.launcher import Launcher
from fatutor.demo.machine import missing
from fatutor.demo.recordings import Recording


@dataclass(frozen=True, slots=True)
class Place:
    """Somewhere that a demo can run: `label` is what people see, `device` what the kernels are asked for."""

    label: str
    launcher: Launcher
    device: str = "auto"


Source = Place | Recording
"""Where a demo's events come from: a run, or what is left of one."""


def places(demo: Demo, here: Launcher, gpu: str | None, remotes: Iterable[Launcher]) -> tuple[Place, ...]:
    """Every place that can run `demo`, the one that `auto` means first. `gpu` is the name of the one here.

    Auto stays on this machine while this machine can run the demo at all: nobody's cluster is used unasked.
    Empty only for a demo that needs a GPU where there is neither a GPU nor a remote.
    """
    there = [Place(f"remote {remote.remote}", remote) for remote in remotes]
    own = _here(demo, here, gpu)
    if missing(demo.needs):
        # Nothing here can run it; without a remote the kernels themselves say what to install.
        return (*there, *(() if there else own[:1]))
    return (*own, *there)


def _here(demo: Demo, here: Launcher, gpu: str | None) -> list[Place]:
    if not demo.devices:
        return [Place("here", here)]
    found = [Place(gpu, here, "cuda")] if gpu and "cuda" in demo.devices else []
    # The kernels take the first of their devices that is there, so one place stands for all without a GPU.
    slow = next((device for device in demo.devices if device != "cuda"), None)
    return [*found, Place("CPU" if slow == "cpu" else slow, here, "cpu")] if slow else found
