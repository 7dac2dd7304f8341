"""Which scheduler moved a card, as a value and as the tag that each review stores, such as `sm2@365`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import get_args

from fatutor.errors import FatutorError
from fatutor.schedule import sm2
from fatutor.schedule.state import Memory


@dataclass(frozen=True, slots=True)
class Scheduler:
    """A profile of SM-2 and the longest interval it may give, in days (None: no ceiling)."""

    profile: sm2.Profile = "sm2"
    ceiling: int | None = 365

    @property
    def tag(self) -> str:
        return f"{self.profile}@{self.ceiling}" if self.ceiling else self.profile

    def review(self, memory: Memory, quality: int) -> Memory:
        return sm2.review(memory, quality, self.profile, self.ceiling)


@lru_cache(maxsize=64)
def scheduler_of(tag: str) -> Scheduler:
    """The scheduler that wrote `tag`, so that a replay gives what was given then.

    Raises FatutorError for a tag that this version does not know.
    """
    for profile in get_args(sm2.Profile):
        name, at, ceiling = tag.partition("@")
        if name == profile and (not at or (ceiling.isascii() and ceiling.isdigit() and int(ceiling) > 0)):
            return Scheduler(profile, int(ceiling) if at else None)
    raise FatutorError(
        f"a review was scheduled by {tag!r}, which this fatutor does not know", "install a newer fatutor"
    )
