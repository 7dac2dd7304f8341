from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.schedule.day import settle, study_day, utc_offset

NEW_YORK = ZoneInfo("America/New_York")
LOS_ANGELES = ZoneInfo("America/Los_Angeles")
BERLIN = ZoneInfo("Europe/Berlin")
TOKYO = ZoneInfo("Asia/Tokyo")
KOLKATA = ZoneInfo("Asia/Kolkata")


@pytest.mark.parametrize(
    ("instant", "zone", "rollover", "day"),
    [
        # The night belongs to the day before it, on the local clock and not on that of UTC.
        (datetime(2026, 1, 10, 1, 0, tzinfo=NEW_YORK), NEW_YORK, 4, date(2026, 1, 9)),
        (datetime(2026, 1, 10, 3, 59, 59, tzinfo=NEW_YORK), NEW_YORK, 4, date(2026, 1, 9)),
        (datetime(2026, 1, 10, 4, 0, tzinfo=NEW_YORK), NEW_YORK, 4, date(2026, 1, 10)),
        (datetime(2026, 1, 10, 20, 0, tzinfo=LOS_ANGELES), LOS_ANGELES, 4, date(2026, 1, 10)),
        # Clocks go forward at 02:00: four hours taken off the instant would end on the day before.
        (datetime(2026, 3, 8, 4, 30, tzinfo=NEW_YORK), NEW_YORK, 4, date(2026, 3, 8)),
        (datetime(2026, 3, 8, 3, 30, tzinfo=NEW_YORK), NEW_YORK, 4, date(2026, 3, 7)),
        # Clocks go back: both 02:30s belong to the day before, and the day is 25 hours long.
        (datetime(2026, 10, 25, 0, 30, tzinfo=UTC), BERLIN, 4, date(2026, 10, 24)),
        (datetime(2026, 10, 25, 1, 30, tzinfo=UTC), BERLIN, 4, date(2026, 10, 24)),
        (datetime(2026, 10, 25, 23, 30, tzinfo=BERLIN), BERLIN, 0, date(2026, 10, 25)),
        (datetime(2026, 1, 10, 1, 0, tzinfo=BERLIN), BERLIN, 2.5, date(2026, 1, 9)),
        (datetime(2028, 2, 29, 12, 0, tzinfo=BERLIN), BERLIN, 4, date(2028, 2, 29)),
        (datetime(2028, 3, 1, 3, 0, tzinfo=BERLIN), BERLIN, 4, date(2028, 2, 29)),
    ],
)
def test_study_day(instant: datetime, zone: ZoneInfo, rollover: float, day: date) -> None:
    assert study_day(instant, zone, rollover) == day
    assert study_day(instant.astimezone(UTC), zone, rollover) == day


def test_a_naive_instant_is_refused() -> None:
    naive = datetime(2026, 1, 10, 12, 0)
    with pytest.raises(ValueError, match="time zone"):
        study_day(naive, BERLIN)
    with pytest.raises(ValueError, match="time zone"):
        utc_offset(naive, BERLIN)


@pytest.mark.parametrize(
    ("zone", "month", "minutes"),
    [(BERLIN, 1, 60), (BERLIN, 7, 120), (NEW_YORK, 1, -300), (KOLKATA, 1, 330), (UTC, 1, 0)],
)
def test_offset_is_what_the_local_clock_is_ahead(zone: ZoneInfo, month: int, minutes: int) -> None:
    assert utc_offset(datetime(2026, month, 1, tzinfo=UTC), zone) == minutes


@given(st.datetimes(datetime(2020, 1, 1), datetime(2040, 1, 1)), st.sampled_from([BERLIN, NEW_YORK, TOKYO]))
def test_days_never_go_back_while_time_goes_on(start: datetime, zone: ZoneInfo) -> None:
    instants = [start.replace(tzinfo=UTC) + timedelta(minutes=20 * step) for step in range(4 * 24)]
    days = [study_day(instant, zone) for instant in instants]
    assert days == sorted(days)


def test_settle_takes_the_clock_at_its_word_when_it_went_on() -> None:
    today = date(2026, 1, 10)
    assert settle(today, None) == (today, None)
    assert settle(today, today) == (today, None)
    assert settle(today, date(2025, 6, 1)) == (today, None)


def test_flying_west_keeps_the_day_in_silence() -> None:
    landed = study_day(datetime(2026, 1, 10, 3, 59, tzinfo=LOS_ANGELES), LOS_ANGELES)
    stored = study_day(datetime(2026, 1, 10, 20, 0, tzinfo=TOKYO), TOKYO)
    assert (landed, stored) == (date(2026, 1, 9), date(2026, 1, 10))
    assert settle(landed, stored) == (stored, None)


def test_a_clock_set_back_keeps_the_day_and_says_so_in_one_line() -> None:
    day, note = settle(date(2026, 1, 8), date(2026, 1, 10))
    assert day == date(2026, 1, 10)
    assert note is not None
    assert "\n" not in note
    assert "2026-01-08" in note
    assert "2026-01-10" in note


@given(st.dates(), st.dates())
def test_settled_days_are_never_before_the_stored_one(computed: date, stored: date) -> None:
    day, note = settle(computed, stored)
    assert day == max(computed, stored)
    assert (note is None) == ((stored - computed).days <= 1)
