"""The study day: a date on the learner's own wall clock that turns over some hours after midnight."""

from __future__ import annotations

from datetime import date, datetime, timedelta, tzinfo


def study_day(instant: datetime, zone: tzinfo, rollover_hours: float = 4) -> date:
    """The study day that `instant` belongs to. `instant` must be aware (ValueError).

    The hours come off the local wall clock and not off the instant: on the morning that clocks go forward
    the two differ, and 04:30 belongs to the new day.
    """
    return (_local(instant, zone).replace(tzinfo=None) - timedelta(hours=rollover_hours)).date()


def utc_offset(instant: datetime, zone: tzinfo) -> int:
    """How far the local clock is ahead of UTC at `instant`, in whole minutes."""
    offset = _local(instant, zone).utcoffset() or timedelta()
    return offset // timedelta(minutes=1)


def settle(computed: date, last_stored: date | None) -> tuple[date, str | None]:
    """The study day to work with, given the last one stored; it never moves backwards.

    One day back is a flight west and passes in silence. More is a clock that was set back: the stored day
    stays, and the second value says so in one line.
    """
    if last_stored is None or computed >= last_stored:
        return computed, None
    if last_stored - computed == timedelta(days=1):
        return last_stored, None
    note = (
        f"the clock says {computed} but answers are stored up to {last_stored}: "
        f"counting from {last_stored}; set the clock right, or undo those answers"
    )
    return last_stored, note


def _local(instant: datetime, zone: tzinfo) -> datetime:
    if instant.tzinfo is None:
        raise ValueError("an instant needs a time zone")
    return instant.astimezone(zone)
