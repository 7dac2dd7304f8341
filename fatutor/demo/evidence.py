"""What one run has shown so far, as a record to keep and as three witnesses to put side by side. Pure."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fatutor.demo.events import Event, Failed, Progress, Result, Row, Series, Started
from fatutor.demo.prediction import Prediction, apart, compare
from fatutor.demo.units import exact, human
from fatutor.store.records import DemoRun

MOST = 200
"""Rows, and series, that are kept of one run: more than anyone reads, and little enough to draw."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What one run said, in the order of its saying."""

    started: Started | None = None
    progress: Progress | None = None
    rows: tuple[Row, ...] = ()
    series: tuple[Series, ...] = ()
    result: Result | None = None
    failed: Failed | None = None

    def after(self, event: Event) -> Evidence:
        """The evidence with one more event. The first start, and the first word on the outcome, stand."""
        match event:
            case Started():
                return self if self.started else replace(self, started=event)
            case Progress():
                return replace(self, progress=event)
            case Row() if len(self.rows) < MOST:
                return replace(self, rows=(*self.rows, event))
            case Series() if len(self.series) < MOST:
                return replace(self, series=(*self.series, event))
            case Result() if not self.over:
                return replace(self, result=event)
            case Failed() if not self.over:
                return replace(self, failed=event)
            case _:
                return self

    @property
    def over(self) -> bool:
        return self.result is not None or self.failed is not None


def kept(blank: DemoRun, prediction: Prediction, evidence: Evidence) -> DemoRun:
    """The record of a run, from one that so far says only its id, its demo, when, and what it is for.

    A run that failed has no verdict, and says why.
    """
    started, result = evidence.started or Started(blank.demo, ""), evidence.result
    run = replace(
        blank,
        params=dict(started.params),
        prediction=prediction.choice or prediction.text,
        predicted=prediction.value,
        device=started.device,
        device_name=started.device_name,
        versions=dict(started.versions),
    )
    if result is None:
        return replace(run, why=str(evidence.failed.what) if evidence.failed else "")
    return replace(
        run,
        formula=result.formula,
        measured=result.measured,
        unit=result.unit,
        verdict=result.verdict,
        why=result.why,
        seconds=max(0.0, result.seconds),
        answer=result.answer,
    )


@dataclass(frozen=True, slots=True)
class Witness:
    """One row of the table, ready to show; an empty cell is a witness with nothing to say."""

    name: str
    said: str = ""
    formula: str = ""
    machine: str = ""
    mark: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar of the chart. All labels of a chart share a prefix, so that they compare."""

    name: str
    value: float
    label: str


@dataclass(frozen=True, slots=True)
class Witnesses:
    """What you said, what the formula says, what the machine says; lines that are not known yet are empty."""

    setting: str
    rows: tuple[Witness, ...]
    bars: tuple[Bar, ...]
    series: tuple[Series, ...]
    verdict: str
    comparison: str
    derivation: str
    limits: str


def witnesses(evidence: Evidence, prediction: Prediction, at: str = "") -> Witnesses:
    """The evidence so far, side by side. `at` says where the device is, if not here: " on box"."""
    result, failed = evidence.result, evidence.failed
    verdict = ""
    if result:
        verdict = f"{'✓' if result.verdict == 'confirmed' else '✗'} {result.verdict}"
        verdict += f": {result.why}" if result.why else ""
    elif failed:
        verdict = f"{failed.what}; {failed.way_out}" if failed.way_out else failed.what
    return Witnesses(
        setting=_setting(evidence, at),
        rows=_rows(evidence, prediction),
        bars=_bars(evidence),
        series=evidence.series,
        verdict=verdict,
        comparison=_comparison(result, prediction) if result else "",
        derivation=result.derivation if result else "",
        limits=result.limits if result else "",
    )


def _setting(evidence: Evidence, at: str) -> str:
    """n 512 · d 64 · NVIDIA H200 on box · 3.8 s"""
    started, result = evidence.started, evidence.result
    words: list[str] = []
    if started:
        words += [f"{name} {value}" for name, value in started.params.items()]
        words.append(f"{started.device_name or started.device}{at}")
    if result and result.seconds:
        words.append(human(result.seconds, "s"))
    return " · ".join(words)


def _rows(evidence: Evidence, prediction: Prediction) -> tuple[Witness, ...]:
    rows, result = evidence.rows, evidence.result
    shown = [_witness(row) for row in rows]
    if result is None:
        return tuple(shown)
    if prediction.choice is not None:
        answer = Witness("answer", prediction.choice, machine=result.answer)
        return (answer, *shown)
    said = "" if prediction.value is None else human(prediction.value, result.unit)
    asked = _asked(rows, result)
    if asked is None:
        whole = Row(result.quantity, result.formula, result.measured, result.unit)
        return (replace(_witness(whole), said=said), *shown)
    shown[asked] = replace(shown[asked], said=said)
    return tuple(shown)


def _asked(rows: Sequence[Row], result: Result) -> int | None:
    """The place of the row that the question was about: the one of that name, else of those numbers."""
    numbers = (result.formula, result.measured, result.unit)
    named = [place for place, row in enumerate(rows) if row.name == result.quantity]
    alike = [place for place, row in enumerate(rows) if (row.formula, row.measured, row.unit) == numbers]
    return next(iter(named + alike), None)


def _witness(row: Row) -> Witness:
    formula, measured = row.formula, row.measured
    mark = ""
    if formula is not None and measured is not None:
        if math.isclose(measured, formula, rel_tol=1e-9):  # a quotient may be off by its last bit
            mark = "✓ equal"
        elif measured * formula > 0:
            mark = apart(measured / formula)
        else:
            mark = "✗ differs"
    return Witness(
        name=row.name,
        formula="" if formula is None else exact(formula, row.unit),
        machine="" if measured is None else exact(measured, row.unit),
        mark=mark,
        note=row.note,
    )


def _bars(evidence: Evidence) -> tuple[Bar, ...]:
    """A bar for every row in the unit of the question: measured where it was, else by the formula."""
    rows = evidence.rows
    if not rows:
        return ()
    unit = evidence.result.unit if evidence.result else rows[0].unit
    lengths = [
        (row.name, row.formula if row.measured is None else row.measured) for row in rows if row.unit == unit
    ]
    known = [(name, value) for name, value in lengths if value is not None and value >= 0]
    if len(known) < 2:
        return ()
    longest = max(value for _, value in known)
    return tuple(Bar(name, value, human(value, unit, like=longest)) for name, value in known)


def _comparison(result: Result, prediction: Prediction) -> str:
    found = compare(prediction, result.formula, result.measured, result.unit, result.answer)
    said = f"“{prediction.choice}”" if prediction.choice else human(prediction.value or 0.0, result.unit)
    return f"You said {said}: {found.sentence}."
