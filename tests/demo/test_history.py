"""Runs that were kept, with how far off their predictions were."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from fatutor.demo.history import as_document, judged, lines
from fatutor.demo.sheet import MOST_RUNS, history
from tests.kept_run import RUN

CHOICE = replace(RUN, prediction="nearer", predicted=None, measured=None, formula=None, answer="further")
BERLIN = ZoneInfo("Europe/Berlin")


def test_a_run_in_two_lines() -> None:
    assert lines(RUN, BERLIN) == (
        "2026-11-29 14:05  bytes-moved  n 512 · interpreter on x86_64",
        "you said 500 kB · measured 1.18 MB · ✗ 2.4× under · claim confirmed · from io-1",
    )


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({"entry": "e"}, "with a review of io-1"),
        ({"commitment": "c", "entry": "e"}, "with the commitment of io-1"),
        ({"card": None}, "claim confirmed"),
    ],
)
def test_what_it_is_evidence_for(changes, end) -> None:
    assert lines(replace(RUN, **changes), None)[1].endswith(f" · {end}")


def test_a_choice_is_right_or_it_is_the_other() -> None:
    assert lines(CHOICE, BERLIN)[1].startswith("you said nearer · ✗ it is further · claim")
    right = replace(CHOICE, answer="nearer")
    assert lines(right, BERLIN)[1].startswith("you said nearer · ✓ right")
    assert judged(right).right


def test_a_run_from_before_answers_were_kept_has_nothing_to_compare_with() -> None:
    assert judged(replace(CHOICE, answer="")).sentence == "nothing to compare with"


def test_without_a_measurement_the_formula_judges() -> None:
    assert "formula 1.18 MB" in lines(replace(RUN, measured=None), None)[1]
    assert judged(replace(RUN, measured=None, predicted=1.2e6)).right


def test_a_run_as_a_document() -> None:
    document = as_document(RUN)
    assert document["ratio"] == pytest.approx(5e5 / 1181696)
    assert (document["right"], document["at"]) == (False, "2026-11-29T13:05:00+00:00")
    assert set(document) == {
        "id", "demo", "at", "params", "prediction", "predicted", "formula", "measured", "unit", "answer",
        "right", "ratio", "verdict", "device", "device_name", "seconds", "card", "entry", "commitment",
    }  # fmt: skip


def test_the_newest_stand_first_and_old_ones_make_room() -> None:
    runs = [replace(RUN, id=str(day), at=RUN.at + timedelta(days=day)) for day in range(MOST_RUNS + 2)]
    shown = history(runs, BERLIN).split("\n")
    assert shown[0] == f"The last {MOST_RUNS} of {MOST_RUNS + 2} runs"
    assert shown[1].startswith("2026-12-20 14:05")
    assert len(shown) == 1 + 2 * MOST_RUNS
    assert history(runs[:1], BERLIN).startswith("Runs so far\n2026-11-29")
    assert history([], BERLIN) == "No run of this demo is kept yet."
