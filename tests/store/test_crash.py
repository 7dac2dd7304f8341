"""Stored means stored: what `append` returned from survives the process being killed at that moment."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.schedule.log import EntryKind
from fatutor.store import doctor
from fatutor.store.read import read_facts
from fatutor.store.store import Store
from fatutor.store.url import Location

ROOT = Path(__file__).resolve().parents[2]

CHILD = """
import os, signal
from datetime import UTC, date, datetime
from pathlib import Path
from random import Random
from fatutor.schedule import rules
from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.scheduler import Scheduler
from fatutor.schedule.state import CardState
from fatutor.store.ids import Ids
from fatutor.store.store import open_store
from fatutor.store.url import Location

now, today, ids = datetime(2026, 11, 29, tzinfo=UTC), date(2026, 11, 29), Ids(Random(1).getrandbits)
store = open_store(Location(file=Path({file!r})), backups=None, now=now)
for number in range(5):
    after = rules.grade(CardState(), 2, today, Scheduler(), "d")
    store.append(Entry(ids.new(now), f"c{{number}}", EntryKind.REVIEW, now, 0, today, CardState(), after,
                       quality=2, scheduler="sm2@365", digest="d"))
{last}
os.kill(os.getpid(), signal.SIGKILL)
"""

HALF_WAY = """
from fatutor.store import journal
with store.database.writing() as session:
    never = CardState()
    journal.add_entry(session, Entry(ids.new(now), "half", EntryKind.FLAG, now, 0, today, never, never))
    session.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.parametrize("last", ["", "store.undo(ids.new(now), now, 0, today)", HALF_WAY])
def test_killed_right_after_the_fifth_grade(
    location: Location, reopen: Callable[[], Store], last: str, tmp_path: Path
) -> None:
    script = tmp_path / "child.py"
    script.write_text(CHILD.format(file=str(location.file), last=last))
    died = subprocess.run([sys.executable, script], cwd=ROOT, env={"PYTHONPATH": str(ROOT)}, check=False)
    assert died.returncode == -signal.SIGKILL
    cards = {f"c{number}" for number in range(4 if "undo" in last else 5)}
    assert set(read_facts(location).states) == cards
    store = reopen()
    assert set(store.facts().states) == cards
    reviews = [entry.card for entry in store.entries() if entry.kind is EntryKind.REVIEW]
    assert reviews == [f"c{number}" for number in range(5)]
    assert doctor.differences(store) == []
    assert doctor.damage(store) == []
