"""What tests of whole sittings share: a clock that obeys, a small library, and a desk over both."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta, tzinfo
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from fatutor.deck import cache
from fatutor.deck.model import Card
from fatutor.demo.launcher import Launcher
from fatutor.desk import Desk
from fatutor.paths import paths
from fatutor.settings import Settings
from fatutor.store.ids import Ids
from fatutor.store.url import Location
from fatutor.study.ports import Time

BERLIN = ZoneInfo("Europe/Berlin")

BEAT = """---
fatutor: 1
title: {title}
module: Tiny
beat: {number}
kind: concept
minutes: 1
path: core
outcome: say what beat {number} says
---
# {title}

Prose of beat {number} with `m[i]` and vector<int> and $N^2$.

## Interview: a prompt inside beat {number}
<!-- card id=tiny-{number}-inside kind=interview level=screen difficulty=2 target=30s tags=tiny -->
What is inside beat {number}?

### Answer
The inside answer.

### Key points
- says inside **[critical]**

## Prove it: the gate of beat {number}
<!-- card id=tiny-{number}-gate kind=prove-it answer=text target=30s tags=tiny -->
Prove beat {number}.

### Answer
The model answer of gate {number}.

### Key points
- says the thing **[critical]**
- says another thing
"""

PLAIN = """---
fatutor: 1
title: Plain cards
tags: [plain]
---
## Interview: the ridge
<!-- card id=ridge kind=interview level=onsite difficulty=3 target=60s tags=roofline demo=bytes-moved -->
What is the ridge of an A100? Mind the [brackets] and <angles>.

### Answer
It is 156 FLOP/B.

### Key points
- divides peak by bandwidth **[critical]**
- says dense
- gives 156

### Not quite
- 312: that is the peak.

### Follow-up
And on an H100?

### Check
    312e12 / 2.0e12 == 156

## Recall: a number
<!-- card id=number kind=recall target=20s tags=bytes answer=number value=256 unit=GiB tolerance=5% -->
How large?

### Answer
256 GiB.

## Recall: a choice
<!-- card id=choice kind=recall target=20s tags=softmax answer=choice -->
Which one?

### Choices
- [ ] the first
- [x] the second

## Recall: written down
<!-- card id=written kind=recall target=20s tags=written answer=text -->
Write the identity.

### Answer
e^(m − m′)
"""


class TestClock:
    """Stands at 14:05 on a Sunday in Berlin until it is moved."""

    __test__ = False

    def __init__(self) -> None:
        self.instant = datetime(2026, 11, 29, 14, 5, tzinfo=BERLIN)
        self.seconds = 100.0

    @property
    def zone(self) -> tzinfo:
        return BERLIN

    def now(self) -> datetime:
        return self.instant

    def monotonic(self) -> float:
        return self.seconds

    def forward(self, **by: float) -> None:
        step = timedelta(**by)
        self.instant += step
        self.seconds += step.total_seconds()


@pytest.fixture
def clock() -> TestClock:
    return TestClock()


@pytest.fixture
def decks(tmp_path: Path) -> Path:
    """Two beats and a deck of four cards, one of each form of answer."""
    folder = tmp_path / "decks"
    (folder / "tiny").mkdir(parents=True)
    for number, title in ((1, "First beat"), (2, "Second beat")):
        text = BEAT.format(number=number, title=title)
        (folder / "tiny" / f"{number:02d}.md").write_text(text, encoding="utf-8")
    (folder / "plain.md").write_text(PLAIN, encoding="utf-8")
    return folder


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def make_desk(clock: TestClock, decks: Path, home: Path) -> Iterator[Callable[..., Desk]]:
    """Each call is another start of fatutor on the same data."""
    opened: list[Desk] = []
    ids = Ids(random.Random(7).getrandbits)

    def make(
        settings: Settings | None = None,
        roots: list[Path] | None = None,
        launcher: Launcher | None = None,
        recorded: Path | None = None,
    ) -> Desk:
        where = paths({"FATUTOR_HOME": str(home)})
        desk = Desk(
            paths=where,
            settings=settings or Settings(),
            location=Location(file=where.database),
            roots=roots or [decks],
            time=Time(clock),
            new_id=lambda: ids.new(clock.now()),
            launcher=launcher,
            recorded=recorded,
        )
        opened.append(desk)
        return desk

    yield make
    for desk in opened:
        desk.close()


@pytest.fixture
def desk(make_desk: Callable[..., Desk]) -> Desk:
    return make_desk()


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The ids of the cards that were made from the cache, in that order."""
    ids: list[str] = []
    make = cache._card

    def watched(row: list[Any]) -> Card:
        card = make(row)
        ids.append(card.id)
        return card

    monkeypatch.setattr(cache, "_card", watched)
    return ids
