"""What a demo screen says in words: the question, the sizes, where it runs, the verdict. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import tzinfo
from itertools import groupby

from fatutor.deck.model import AnswerForm, Card
from fatutor.demo.catalogue import Demo, Param
from fatutor.demo.events import Call, Progress, Result
from fatutor.demo.evidence import Witnesses
from fatutor.demo.history import lines
from fatutor.demo.places import Source
from fatutor.demo.prediction import carried
from fatutor.demo.recordings import Recording
from fatutor.demo.units import human
from fatutor.store.records import DemoRun
from fatutor.text.words import many

MOST_RUNS = 20
COUNTERS = (
    "DRAM traffic by the hardware's counters. Each kernel began with empty caches; what L2 held at its end "
    "is not among the writes."
)


def question(demo: Demo, params: Mapping[str, object]) -> str:
    """What a run does, the question and its choices, as Markdown; sizes other than the question's below.

    Not the claim: it often is the answer.
    """
    others = [
        f"{param.name} {params[param.name]} in place of {param.default}"
        for param in demo.params
        if params.get(param.name, param.default) != param.default
    ]
    now = f"\n\n**Now with {' and '.join(others)}.**" if others else ""
    choices = "\n".join(f"{place}. {choice}" for place, choice in enumerate(demo.choices, 1))
    return f"## {demo.plan}\n\n{demo.question}{now}\n\n{choices}"


def asking(demo: Demo, source: Source, carried_over: str) -> str:
    """How to answer, and what that sets off."""
    number = demo.form is AnswerForm.NUMBER
    way = {"": "as a plain number", "×": "as a factor", "%": "in per cent"}.get(demo.unit, f"in {demo.unit}")
    sets_off = "shows the recorded run" if isinstance(source, Recording) else "runs"
    if carried_over:
        key = "enter" if number else f"{carried_over} or ctrl+j"
        return f"Your answer on the card; {key} commits it as your prediction and {sets_off}."
    if number:
        return f"Your prediction {way}; enter commits it and {sets_off}."
    return f"Choose, 1 to {len(demo.choices)}: the choice is your prediction, and {sets_off}."


def from_card(demo: Demo, card: Card | None, said: str) -> str:
    """A card's answer as what would be typed here: a number in the demo's terms, or a choice's place.

    Empty where the card asked for something else.
    """
    form = card.response.form if card else None
    if card is None or form is not demo.form or not said.strip():
        return ""
    if form is AnswerForm.NUMBER:
        return carried(said, card.response.unit, demo.unit)
    options = [choice.text.casefold() for choice in card.response.choices]
    place = int(said) - 1 if said.isdecimal() else -1
    same = [choice.casefold() for choice in demo.choices]
    if 0 <= place < len(options) and options[place] in same:
        return str(same.index(options[place]) + 1)
    return ""


def changeable(demo: Demo) -> tuple[Param, ...]:
    """The parameters that have more than one value."""
    return tuple(param for param in demo.params if len(param.values) > 1)


def sizes(demo: Demo, params: Mapping[str, object], marked: str) -> str:
    """Which sizes there are to try, one line a parameter; `marked` is the one that a key changes."""
    several = changeable(demo)
    lines = [
        f"{'▸' if param.name == marked else ' '} {param.name} {params[param.name]}"
        f"  of {', '.join(map(str, param.values))}  {param.help}".rstrip()
        for param in several
    ]
    if len(several) > 1:
        lines.append("  v changes the one marked ▸, n marks the next")
    return "\n".join(lines)


def pace(told: Progress, passed: float) -> str:
    """4 of 8 tiles · 2 s left · 1.3 a second; `passed` are the seconds since the start."""
    if not told.total:
        return f"{told.note or 'running'} · {passed:.0f} s"
    words = [f"{told.done:g} of {told.total:g} {told.note}".rstrip()]
    share = min(1.0, told.done / told.total)
    if share > 0.1 and passed > 1:
        words.append(f"{passed * (1 - share) / share:.0f} s left")
        words.append(f"{human(told.done / passed, '')} a second")
    else:
        words.append(f"{passed:.0f} s")
    return " · ".join(words)


def verdict(demo: Demo, seen: Witnesses) -> tuple[str, str, str]:
    """Who was right, for above the numbers: the verdict, the claim that it is on, then your prediction.

    A run that failed says nothing of the claim.
    """
    return seen.verdict, f"Claim: {demo.claim}" if seen.comparison else "", seen.comparison


def remarks(seen: Witnesses, *recorded: str) -> str:
    """Below the numbers: what was recorded, the formula with its numbers, what this device cannot show.

    Plain text, not Markdown: a star between two numbers is a star.
    """
    filled_in = f"By the formula: {seen.derivation}" if seen.derivation else ""
    return "\n\n".join(filter(None, (*recorded, filled_in, seen.limits)))


def recorded_line(demo: str, recording: Recording) -> str:
    """What another machine said on its day, for beside the numbers of this one."""
    result = next((event for event in recording.demos[demo] if isinstance(event, Result)), None)
    if result is None:
        return ""
    value = result.formula if result.measured is None else result.measured
    figure = result.answer if value is None else f"{result.quantity} {human(value, result.unit)}".strip()
    decided = f"{result.verdict}: {result.why}" if result.why else result.verdict
    told = ", ".join(filter(None, (figure, decided)))
    return f"Recorded on {recording.device}, {recording.date}: {told}."


def counted(result: Result, recording: Recording | None) -> str:
    """What a recording's hardware counters read for the calls of this result, a line for each, by shape.

    Figures of another day and perhaps of another machine, and told as such. Empty without a recording. A
    line fits the narrowest screen, so that none breaks between a figure and its unit.
    """
    if recording is None:
        return ""
    lines = [f"Recorded on {recording.device}, {recording.date}: {COUNTERS}"]
    for shape, counted in groupby(recording.counted(result.calls), lambda pair: _shape(pair[0])):
        lines.append(f"  {shape}")
        for call, moved in counted:
            read, written = human(moved.read, "B"), human(moved.written, "B")
            lines.append(f"    {call.name}: {read} read, {written} written")
    return "\n".join(lines)


def _shape(call: Call) -> str:
    return f"N {call.n}, d {call.d}, {many(call.heads, 'head')}, {call.dtype}"


def history(runs: Sequence[DemoRun], zone: tzinfo | None) -> str:
    """The latest runs, the newest first."""
    if not runs:
        return "No run of this demo is kept yet."
    shown = runs[: -MOST_RUNS - 1 : -1]
    head = "Runs so far" if len(runs) <= MOST_RUNS else f"The last {MOST_RUNS} of {len(runs)} runs"
    return "\n".join([head, *("\n  ".join(lines(run, zone)) for run in shown)])
