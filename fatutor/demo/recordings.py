"""Runs that were recorded on a GPU, for machines without one. Files of the kernels, read as data."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from fatutor.demo.events import (
    Call,
    Event,
    Fields,
    Noise,
    Result,
    Started,
    WireError,
    call,
    member,
    read_event,
)
from fatutor.errors import FatutorError


@dataclass(frozen=True, slots=True)
class Moved:
    """What the hardware counted during one call: bytes read from DRAM and written to it, over its kernels.

    Caches are emptied before each kernel; what L2 still holds at a kernel's end is not among the writes.
    """

    read: int
    written: int
    kernels: int


@dataclass(frozen=True, slots=True)
class Recording:
    """What one machine said on one day. `demos` holds the events of each demo that came to a result."""

    device: str
    driver: str
    date: str
    versions: Mapping[str, str] = field(default_factory=dict)
    demos: Mapping[str, tuple[Event, ...]] = field(default_factory=dict)
    counters: Mapping[Call, Moved] = field(default_factory=dict)

    @property
    def label(self) -> str:
        return f"recorded on {self.device}"

    def origin(self, demo: str) -> str:
        """Where and when, in one line, so that nobody takes it for a run of today."""
        if self.on_gpu(demo):
            return self.provenance
        return self._told(f"recorded on the CPU of a machine with {self.device}")

    @property
    def provenance(self) -> str:
        """Where and when, for what its GPU said of itself."""
        return self._told(self.label)

    def on_gpu(self, demo: str) -> bool:
        """Whether its GPU had a part in it; a count by the interpreter is the same anywhere."""
        started = self._start(demo)
        return started is not None and started.device == "cuda"

    def _told(self, where: str) -> str:
        names = (f"{name} {version}" for name, version in self.versions.items())
        parts = (where, self.date, f"driver {self.driver}" * bool(self.driver), *names)
        return " · ".join(filter(None, parts))

    def shown(self, demo: str) -> tuple[Event, ...]:
        """The events for people: without the sizes asked for, which a run on a GPU may have set larger."""
        return tuple(
            replace(event, params={}) if isinstance(event, Started) else event for event in self.demos[demo]
        )

    def counted(self, calls: Iterable[Call]) -> list[tuple[Call, Moved]]:
        """Those of the calls whose bytes of DRAM its counters have read."""
        return [(one, self.counters[one]) for one in calls if one in self.counters]

    def _start(self, demo: str) -> Started | None:
        return next((event for event in self.demos.get(demo, ()) if isinstance(event, Started)), None)


def recordings(folder: Path) -> tuple[Recording, ...]:
    """Those in `folder`, the newest first, without the files that cannot be read: they take no run away."""
    found: list[Recording] = []
    for path in sorted(folder.glob("*.json")):
        with suppress(FatutorError):
            found.append(read_recording(path))
    return tuple(sorted(found, key=lambda recording: recording.date, reverse=True))


def recorded(demo: str, kept: Sequence[Recording]) -> Recording | None:
    """The first recording that has a result for `demo`."""
    return next((recording for recording in kept if demo in recording.demos), None)


def counted(calls: Sequence[Call], kept: Sequence[Recording]) -> Recording | None:
    """The first recording whose hardware counters were read for any of these calls."""
    return next((recording for recording in kept if recording.counted(calls)), None)


def read_recording(path: Path) -> Recording:
    """Raises FatutorError, one line, where the file cannot be read or holds something else."""
    try:
        said: object = json.loads(path.read_bytes())
        if not isinstance(said, dict):
            raise WireError("not a JSON object")
        fields = Fields(cast("Mapping[str, object]", said))
        return Recording(
            device=fields.word("device"),
            driver=fields.line("driver"),
            date=fields.word("date")[:10],
            versions={name: str(version) for name, version in fields.scalars("versions").items()},
            demos=_demos(fields),
            counters=_counters(fields),
        )
    except (OSError, ValueError, RecursionError, WireError) as error:
        raise FatutorError(
            f"the recording {path.name} cannot be read: {error}", "install fatutor again"
        ) from error


def _demos(fields: Fields) -> dict[str, tuple[Event, ...]]:
    demos: dict[str, tuple[Event, ...]] = {}
    for name, said in fields.members("demos").items():
        if not isinstance(said, list):
            raise WireError(f"{name} is not a list of events")
        events = [read_event(json.dumps(event)) for event in cast("list[object]", said)]
        if any(isinstance(event, Result) for event in events):
            demos[name] = tuple(event for event in events if not isinstance(event, Noise))
    return demos


def _counters(fields: Fields) -> dict[Call, Moved]:
    """The calls that were counted; those that could not be say why, which is nothing to show."""
    read: dict[Call, Moved] = {}
    for entry in map(member, fields.items("counters", ())):
        kernels = [member(kernel) for kernel in entry.items("kernels", ())]
        if kernels:
            read[call(entry)] = Moved(
                sum(kernel.count("read") for kernel in kernels),
                sum(kernel.count("written") for kernel in kernels),
                len(kernels),
            )
    return read
