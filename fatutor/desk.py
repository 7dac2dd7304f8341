"""Everything one run of fatutor works with, wired once and opened late.

The desk stands above `study` and below anything that draws: the screens, the plain drill and the verbs are
handed a desk and ask it. What is due is read without opening the database for writing; the first answer
opens it, or a look at an earlier one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from fatutor.deck.library import Library, load
from fatutor.deck.model import Card, Deck
from fatutor.errors import FatutorError
from fatutor.paths import Paths, bundle_root
from fatutor.schedule.facts import Facts
from fatutor.schedule.grades import Grade, grading_keys
from fatutor.schedule.queue import Limits, today_queue
from fatutor.schedule.scheduler import Scheduler
from fatutor.settings import Settings
from fatutor.store.read import is_older, read_facts, read_runs
from fatutor.store.url import Location
from fatutor.study.beat import Lesson
from fatutor.study.drill import Drill
from fatutor.study.marks import unmark
from fatutor.study.overview import Overview, overview
from fatutor.study.ports import Time

if TYPE_CHECKING:
    from fatutor.deck.hardware import Hardware
    from fatutor.demo.catalogue import Demo
    from fatutor.demo.events import Result
    from fatutor.demo.launcher import Launcher
    from fatutor.demo.places import Place, Source
    from fatutor.demo.recordings import Recording
    from fatutor.schedule.log import Entry, EntryKind
    from fatutor.store.records import Commitment, DemoRun
    from fatutor.store.store import Store


class Desk:
    """One learner's decks, log and settings. `roots` are the folders and files that hold decks."""

    def __init__(
        self,
        *,
        paths: Paths,
        settings: Settings,
        location: Location,
        roots: Sequence[Path],
        time: Time,
        new_id: Callable[[], str],
        launcher: Launcher | None = None,
        recorded: Path | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        """`launcher` starts the demos; the bundled kernels with this Python unless another is given.

        `recorded` is the folder of recorded runs; the kernels' own unless another is given.
        """
        self.paths = paths
        self.settings = settings
        self.location = location
        self.time = time
        self.new_id = new_id
        self.roots = roots
        self._launcher = launcher
        self._recorded = recorded or bundle_root() / "kernels" / "recorded"
        self._notes = tuple(notes)
        self._store: Store | None = None
        self._library: Library | None = None

    # -- decks --------------------------------------------------------------------------------------

    @property
    def library(self) -> Library:
        if self._library is None:
            self._library = load(self.roots, cache=self.paths.cache)
        return self._library

    def reload(self) -> Library:
        """The decks as they are on disk now."""
        self._library = None
        return self.library

    def deck_title(self, card: Card) -> str:
        deck = self.library.deck(card.deck)
        return deck.title if deck else card.deck

    @cached_property
    def hardware(self) -> Hardware:
        """The table that checks may name: `A100.ridge` and its like."""
        from fatutor.deck.hardware import bundled, read

        return read(bundled())

    # -- what is stored -----------------------------------------------------------------------------

    @property
    def store(self) -> Store:
        """The log, opened for writing. Raises FatutorError, one line, where that cannot be."""
        if self._store is None:
            from fatutor.store.store import open_store

            self._store = open_store(self.location, backups=self.paths.backups, now=self.time.now())
        return self._store

    def facts(self) -> Facts:
        if self._store is not None:
            return self._store.facts()
        return read_facts(self.location, self.paths.backups)

    def bring_up_to_date(self) -> None:
        """Migrate a database that an older fatutor wrote; for those who may write, which readers may not."""
        if is_older(self.location):
            _ = self.store

    def warm_up(self) -> None:
        """Import the database layer, half a second's work, before it is needed. Opens nothing."""
        import fatutor.store.store  # noqa: F401 - for its time, not for its names

    def close(self) -> str | None:
        """Keep the day's copy and let go of the database. Returns one line where no copy could be kept."""
        store, self._store = self._store, None
        if store is None:
            return None
        with store:
            return store.back_up(self.today(store.facts())[0])

    # -- sittings -----------------------------------------------------------------------------------

    @property
    def limits(self) -> Limits:
        return Limits(self.settings.new_per_day, self.settings.minutes, self.settings.interview_on)

    @property
    def scheduler(self) -> Scheduler:
        return Scheduler(self.settings.profile, self.settings.ceiling)

    @property
    def grading_keys(self) -> Mapping[int, Grade]:
        return grading_keys(self.settings.six_grades)

    def today(self, facts: Facts) -> tuple[date, str | None]:
        return self.time.study_day(facts.last_study_day)

    def overview(self) -> Overview:
        facts = self.facts()
        day, note = self.today(facts)
        notes = [*self._notes, *([note] if note else []), *self._deck_notes()]
        return overview(self.library, facts, day, self.limits, notes)

    def _deck_notes(self) -> list[str]:
        faults = [fault for fault in self.library.faults if not fault.warning]
        if not faults:
            return []
        more = f" (and {len(faults) - 1} more; fatutor check lists them)" if len(faults) > 1 else ""
        return [f"{faults[0]}{more}"]

    def drill(self, *decks: Deck) -> Drill:
        """A sitting with today's queue, over all decks or some."""
        facts = self.facts()
        names = {deck.name for deck in decks}
        cards = [card for card in self.library.slips if card.deck in names or not decks]
        queue = today_queue(cards, facts, self.today(facts)[0], self.limits)
        return Drill(
            self.library,
            LateLedger(self),
            [card.id for card in queue.cards],
            facts=facts,
            time=self.time,
            scheduler=self.scheduler,
            new_id=self.new_id,
        )

    def unmark(self, card: Card, kind: EntryKind) -> Entry:
        """Bring a card back into the drill (`RESUME`), or clear its flag (`UNFLAG`)."""
        return unmark(card, kind, LateLedger(self), time=self.time, new_id=self.new_id)

    def lesson(self, deck: Deck) -> Lesson:
        return Lesson(self.library, deck, LateLedger(self), time=self.time, new_id=self.new_id)

    def beat_after(self, deck: Deck) -> Deck | None:
        """The next beat of the module that is open and whose gate is not committed; core before deep dive."""
        for module in self.overview().modules:
            if deck.beat is not None and module.title == deck.beat.module:
                open_lines = [line for line in module.beats if line.status in ("next", "open")]
                ahead = [line for line in open_lines if line.status == "next"] or open_lines
                return ahead[0].deck if ahead else None
        return None

    def deck_named(self, name: str) -> Deck:
        """A deck by its name, the end of its name (a leading number may go), or its title.

        Raises FatutorError naming what there is.
        """
        wanted = name.removesuffix(".md").casefold()
        for matches in (
            [d for d in self.library.decks if d.name.casefold() == wanted],
            [d for d in self.library.decks if d.name.casefold().endswith("/" + wanted)],
            [d for d in self.library.decks if re.sub(r".*/\d+-", "", d.name.casefold()) == wanted],
            [d for d in self.library.decks if d.title.casefold() == wanted],
        ):
            if len(matches) == 1:
                return matches[0]
            if matches:
                names = ", ".join(deck.name for deck in matches)
                raise FatutorError(f"{name!r} may be any of several decks", f"name one of them: {names}")
        there = ", ".join(deck.name.rpartition("/")[2] for deck in self.library.decks if deck.slips) or "none"
        raise FatutorError(f"there is no deck {name!r}", f"decks here: {there}")

    # -- demos --------------------------------------------------------------------------------------

    @property
    def launcher(self) -> Launcher:
        from fatutor.demo.launcher import local

        return self._launcher or local()

    def remote(self, name: str) -> Launcher:
        """The far side of that name in `config.toml`. Raises FatutorError naming those there are."""
        from fatutor.demo.launcher import remote

        launch = self.settings.remotes.get(name)
        if launch is None:
            there = ", ".join(self.settings.remotes)
            way_out = f"remotes here: {there}" if there else f"write [demo.remotes.{name}] in config.toml"
            raise FatutorError(f"there is no remote {name!r}", way_out)
        return remote(name, launch, self.paths.config)

    @cached_property
    def demos(self) -> Mapping[str, Demo]:
        """The demos that the kernels offer, by name. Raises FatutorError where they cannot be asked."""
        from fatutor.demo.catalogue import catalogue

        return {demo.name: demo for demo in catalogue(self.launcher)}

    def demo(self, name: str) -> Demo:
        found = self.demos.get(name)
        if found is None:
            raise FatutorError(f"there is no demo {name!r}", f"demos here: {', '.join(self.demos)}")
        return found

    def places(self, demo: Demo) -> tuple[Place, ...]:
        """Where it can run, the place that `auto` means first."""
        from fatutor.demo.places import places

        return places(demo, self.launcher, self.gpu, map(self.remote, self.settings.remotes))

    def sources(self, demo: Demo) -> tuple[Source, ...]:
        """The places, then the run recorded on a GPU; at least one place, whose run says what is missing."""
        from fatutor.demo.places import Place

        found: list[Source] = [*self.places(demo)]
        recording = self.recording(demo.name)
        if recording is not None and recording.on_gpu(demo.name):
            found.append(recording)
        return tuple(found) or (Place("here", self.launcher),)

    def recording(self, demo: str) -> Recording | None:
        """The latest recorded run of it."""
        from fatutor.demo.recordings import recorded

        return recorded(demo, self._recordings)

    def counted(self, result: Result) -> Recording | None:
        """The latest recording with hardware counters for what this result is about."""
        from fatutor.demo.recordings import counted

        return counted(result.calls, self._recordings)

    @cached_property
    def _recordings(self) -> tuple[Recording, ...]:
        from fatutor.demo.recordings import recordings

        return recordings(self._recorded)

    def runs(self, demo: str | None = None) -> list[DemoRun]:
        """The runs that were kept, oldest first, of one demo or all. Opens nothing for writing."""
        runs = self._store.runs() if self._store else read_runs(self.location, self.paths.backups)
        return [run for run in runs if demo is None or run.demo == demo]

    @cached_property
    def gpu(self) -> str | None:
        """The GPU here, as its driver names it."""
        from fatutor.demo.machine import gpu_name

        return gpu_name()

    @cached_property
    def hardware_truth(self) -> str:
        """One line on what demos can show here, found without loading torch."""
        from fatutor.demo.machine import hardware_truth

        return hardware_truth(self.gpu, recordings=any(self._recorded.glob("*.json")))


class LateLedger:
    """A desk's log as a sitting sees it: read without opening it, opened by the first thing to write.

    So the first card shows without the database layer, and looking at a deck leaves no file behind.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    def facts(self) -> Facts:
        return self._desk.facts()

    def append(self, entry: Entry, runs: Sequence[str] = ()) -> None:
        self._desk.store.append(entry, runs)

    def undo(self, entry_id: str, at: datetime, offset: int, study_day: date) -> Entry | None:
        return self._desk.store.undo(entry_id, at, offset, study_day)

    def commit(self, commitment: Commitment, runs: Sequence[str] = ()) -> None:
        self._desk.store.commit(commitment, runs)

    def commitment(self, gate: str) -> Commitment | None:
        return self._desk.store.commitment(gate) if gate in self.facts().committed else None

    def link_run(self, run: str, *, commitment: str) -> None:
        self._desk.store.link_run(run, commitment=commitment)
