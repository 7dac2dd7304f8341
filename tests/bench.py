"""The budgets, measured: `make bench`. Prints a table; says which budget is broken and exits 1.

A library of 10,000 cards in 100 files and a log of 100,000 reviews are made first, in a temporary folder;
for the warm start, ten copies of both.
Whole processes are timed from outside, the app in a real pty; each figure is a median unless it says p95.
"""

from __future__ import annotations

import os
import random
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import perf_counter, sleep

from fatutor.paths import paths
from fatutor.schedule import rules
from fatutor.schedule.log import Entry
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState
from fatutor.store.ids import Ids
from fatutor.store.rows import columns_of, entry_columns
from fatutor.store.store import open_store
from fatutor.store.tables import CardStateRow, ReviewRow
from fatutor.store.url import Location
from tests.pty_terminal import Terminal

ROOT = Path(__file__).resolve().parents[1]

FILES, EACH, REVIEWS, COPIES = 100, 100, 10, 10
CARD = """## Interview: question {n} of deck {deck}
<!-- card id=bench-{deck}-{n}-{copy} kind=interview level=onsite difficulty=3 target=60s tags=topic-{deck} -->
Why does number {n} matter when N = {n}?

### Answer
Because {n} is what the formula gives: $4N^2d$ FLOPs and six passes over N² elements.

### Key points
- says {n} **[critical]**
- says why

### Not quite
- {n} plus one: an off-by-one.

### Check
    {n} + 1 > {n}

"""


def make_decks(folder: Path, copies: int = 1) -> None:
    """The same cards in every copy, but for the last part of their ids."""
    folder.mkdir(parents=True)
    for copy in range(copies):
        for deck in range(FILES):
            cards = "".join(CARD.format(deck=deck, n=n, copy=copy) for n in range(EACH))
            text = f"---\nfatutor: 1\ntitle: Deck {deck}\n---\n{cards}"
            (folder / f"deck-{copy}-{deck:03d}.md").write_text(text, encoding="utf-8")


def make_log(file: Path) -> None:
    """Ten reviews for each card, ending in the last weeks, written in one transaction."""
    chance, scheduler = random.Random(1), Scheduler()
    ids = Ids(chance.getrandbits)
    entries: list[Entry] = []
    states: dict[str, CardState] = {}
    today = datetime.now().date()
    for deck in range(FILES):
        for n in range(EACH):
            card = f"bench-{deck}-{n}-0"
            state, day = CardState(), today - timedelta(days=chance.randrange(60, 400))
            for _ in range(REVIEWS):
                day = min(day, today - timedelta(days=1))
                quality = chance.choice((2, 3, 4, 4, 4, 5))
                after = rules.grade(state, quality, day, scheduler, "")
                at = datetime(day.year, day.month, day.day, 12, tzinfo=UTC)
                entry = Entry(ids.new(at), card, rules.EntryKind.REVIEW, at, 0, day, state, after)
                entries.append(replace(entry, quality=quality, key=quality - 1, scheduler=scheduler.tag))
                state, day = after, day + timedelta(days=chance.randrange(1, 12))
            states[card] = state._replace(relearn_on=None)
    with open_store(Location(file=file), backups=None, now=datetime.now(UTC)) as store:
        from sqlalchemy import insert

        with store.database.writing() as session:
            rows = [{"seq": i, **entry_columns(entry)} for i, entry in enumerate(entries, 1)]
            session.connection().execute(insert(ReviewRow), rows)
            cards = [{"card": card, **columns_of(state)} for card, state in states.items()]
            session.connection().execute(insert(CardStateRow), cards)


def multiply_log(one: Path, many: Path) -> None:
    """The log of one copy of the cards as that of all copies, made by the database itself."""
    many.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(one, many)
    count = FILES * EACH * REVIEWS
    renamed = {
        "seq": f"seq + :copy * {count}",
        "id": "id || :copy",
        "card": "rtrim(card, '0123456789') || :copy",
    }
    with closing(sqlite3.connect(many)) as connection, connection:
        for table in ("review", "card_state"):
            names = [name for _, name, *_ in connection.execute(f"PRAGMA table_info({table})")]
            values = ", ".join(renamed.get(name, f'"{name}"') for name in names)
            statement = f"INSERT INTO {table} SELECT {values} FROM {table} WHERE card LIKE '%-0'"
            for copy in range(1, COPIES):
                connection.execute(statement, {"copy": copy})


def timed(argv: list[str], env: dict[str, str], runs: int = 7) -> float:
    """Seconds of a whole process, the median of `runs` after one that does not count."""
    times = []
    for _ in range(runs + 1):
        start = perf_counter()
        subprocess.run(argv, env=env, check=True, capture_output=True)
        times.append(perf_counter() - start)
    return statistics.median(times[1:])


def until(env: dict[str, str], *steps: tuple[str, str], runs: int = 5) -> list[list[float]]:
    """For each step (keys to send first, text to wait for): seconds since the app was started."""
    results: list[list[float]] = [[] for _ in steps]
    for _ in range(runs + 1):
        start = perf_counter()
        app = Terminal([sys.executable, "-m", "fatutor"], env, (80, 24))
        for times, (keys, text) in zip(results, steps, strict=True):
            if keys:
                app.send(keys)
            app.wait_for(text, pause=0.002)
            times.append(perf_counter() - start)
        memory(app.pid)
        app.close()
    return [times[1:] for times in results]


PEAK = [0]


def memory(pid: int) -> None:
    """Note the resident memory of a process, in KiB."""
    status = Path(f"/proc/{pid}/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmRSS"))
        PEAK[0] = max(PEAK[0], int(line.split()[1]))


def p95(times: list[float]) -> float:
    return sorted(times)[int(len(times) * 0.95)]


def repaints(env: dict[str, str], cards: int = 25) -> list[float]:
    """Seconds from a key typed in the drill to its effect on the terminal."""
    times: list[float] = []
    app = Terminal([sys.executable, "-m", "fatutor", "drill"], env, (80, 24))
    app.wait_for("1 of ")
    sleep(1.5)  # the database layer is imported behind the first card
    for card in range(cards):
        for key, effect in (
            (" ", "What did you say?"),
            ("x", "[x]"),
            ("j", "▸[ ]"),
            ("3", f"{card + 2} of "),
        ):
            start = perf_counter()
            app.send(key)
            app.wait_for(effect, pause=0.002)
            times.append(perf_counter() - start)
    app.close()
    return times


def appends(file: Path, count: int = 300) -> list[float]:
    """Seconds that `Store.append` takes, fsync included, on a log that is already long."""
    ids, scheduler, times = Ids(random.Random(2).getrandbits), Scheduler(), []
    with open_store(Location(file=file), backups=None, now=datetime.now(UTC)) as store:
        for n in range(count):
            at = datetime.now(UTC)
            after = rules.grade(CardState(), 4, at.date(), scheduler, "")
            new, kind = CardState(), rules.EntryKind.REVIEW
            entry = Entry(ids.new(at), f"fresh-{n}", kind, at, 0, at.date(), new, after)
            entry = replace(entry, quality=4, key=3, scheduler=scheduler.tag)
            start = perf_counter()
            store.append(entry)
            times.append(perf_counter() - start)
    return times


def measure(folder: Path) -> Iterator[tuple[str, float, float, str]]:
    """Name, figure, budget, unit."""
    home = folder / "home"
    env = {**os.environ, "FATUTOR_HOME": str(home), "PYTHONPATH": str(ROOT), "TERM": "xterm-256color"}
    where = paths(env)
    make_decks(where.own_decks)
    make_log(where.database)
    many = {**env, "FATUTOR_HOME": str(folder / "many")}
    make_decks(paths(many).own_decks, COPIES)
    multiply_log(where.database, paths(many).database)
    fatutor = [sys.executable, "-m", "fatutor"]
    yield "fatutor --help", timed([*fatutor, "--help"], env), 0.15, "s"
    yield "fatutor due, 10,000 cards", timed([*fatutor, "due"], env), 0.4, "s"
    frame, card = until(env, ("", "start the drill"), ("d", "1 of "))
    yield "first frame, 10,000 cards, 100,000 reviews", statistics.median(frame), 0.6, "s"
    yield "first card", statistics.median(card), 1.0, "s"
    yield "memory of the app", PEAK[0] / 1024, 120, "MiB"
    yield "answer stored, p95", p95(appends(where.database)) * 1e3, 10, "ms"
    yield "key to repaint, p95", p95(repaints(env)) * 1e3, 50, "ms"
    subprocess.run([*fatutor, "due"], env=many, check=True, capture_output=True)  # reads every deck once
    (frame,) = until(many, ("", "start the drill"))
    yield "warm start, 100,000 cards, 1,000,000 reviews", statistics.median(frame), 1.5, "s"


def main() -> int:
    broken = 0
    with tempfile.TemporaryDirectory() as folder:
        print(f"{'what':<46}{'measured':>12}{'budget':>12}")
        for what, figure, budget, unit in measure(Path(folder)):
            over = figure > budget
            broken += over
            print(
                f"{what:<46}{figure:>9.3g} {unit:<3}{budget:>8g} {unit:<3}{'  over' if over else ''}",
                flush=True,
            )
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
