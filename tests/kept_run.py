"""A run as the store keeps one, for tests that list runs."""

from __future__ import annotations

from datetime import UTC, datetime

from fatutor.store.records import DemoRun

RUN = DemoRun(
    id="01",
    demo="bytes-moved",
    at=datetime(2026, 11, 29, 13, 5, tzinfo=UTC),
    params={"n": 512},
    prediction="0.5 MB",
    predicted=5e5,
    formula=1181696.0,
    measured=1181696.0,
    unit="B",
    verdict="confirmed",
    device="interpreter",
    device_name="interpreter on x86_64",
    card="io-1",
)
