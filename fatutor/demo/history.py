"""Runs that were kept, each with how far off its prediction was. Pure."""

from __future__ import annotations

from datetime import tzinfo

from fatutor.demo.prediction import Comparison, Prediction, compare
from fatutor.demo.units import human
from fatutor.store.records import DemoRun


def judged(run: DemoRun) -> Comparison:
    """How near the prediction of a kept run came."""
    choice = run.prediction if run.predicted is None else None
    said = Prediction(run.prediction, run.predicted, choice)
    return compare(said, run.formula, run.measured, run.unit, run.answer)


def as_document(run: DemoRun) -> dict[str, object]:
    """One run for programs. `ratio` is prediction over truth; `entry` and `commitment` are ids of the log."""
    found = judged(run)
    return {
        "id": run.id,
        "demo": run.demo,
        "at": run.at.isoformat(),
        "params": dict(run.params),
        "prediction": run.prediction,
        "predicted": run.predicted,
        "formula": run.formula,
        "measured": run.measured,
        "unit": run.unit,
        "answer": run.answer,
        "right": found.right,
        "ratio": found.ratio,
        "verdict": run.verdict,
        "device": run.device,
        "device_name": run.device_name,
        "seconds": run.seconds,
        "card": run.card,
        "entry": run.entry,
        "commitment": run.commitment,
    }


def lines(run: DemoRun, zone: tzinfo | None) -> tuple[str, str]:
    """One run for people: when, what and where; then what was said, what was measured, how near that was."""
    first = f"{run.at.astimezone(zone):%Y-%m-%d %H:%M}  {run.demo}"
    setting = [*(f"{name} {value}" for name, value in run.params.items()), run.device_name or run.device]
    second = [
        f"you said {said(run)}",
        truth(run),
        f"{'✓' if judged(run).right else '✗'} {judged(run).sentence}",
        f"claim {run.verdict}",
        belongs(run),
    ]
    return f"{first}  {' · '.join(filter(None, setting))}", " · ".join(filter(None, second))


def said(run: DemoRun) -> str:
    return run.prediction if run.predicted is None else human(run.predicted, run.unit)


def truth(run: DemoRun) -> str:
    """What was measured, else what the formula says; the sentence on a choice names the right one itself."""
    if run.predicted is None:
        return ""
    if run.measured is not None:
        return f"measured {human(run.measured, run.unit)}"
    return "" if run.formula is None else f"formula {human(run.formula, run.unit)}"


def belongs(run: DemoRun) -> str:
    """What the run is evidence for."""
    if run.commitment:
        return f"with the commitment of {run.card}"
    if run.entry:
        return f"with a review of {run.card}"
    return f"from {run.card}" if run.card else ""
