"""What a learner says before the machine does, and how near it was."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from fatutor.demo.units import human, read_number
from fatutor.errors import FatutorError
from fatutor.text.clean import clean_line

CLOSE = 0.10
"""Within ten per cent counts as right: a head does not do more."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """As it was typed, and what it stands for: a number in the demo's unit, or one of its choices."""

    text: str
    value: float | None = None
    choice: str | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """`ratio` is prediction over truth, where both are numbers and the truth is not zero."""

    right: bool
    sentence: str
    ratio: float | None = None


def predict(text: str, unit: str, choices: Sequence[str] = ()) -> Prediction:
    """Reads a prediction: one of the choices where there are any, else a number.

    A choice is named by its words, by their beginning or by its place, counted from 1.
    Raises FatutorError, one line, with an example of what would do.
    """
    text = clean_line(text)
    if not text:
        raise FatutorError("a prediction comes first", "a rough one will do")
    if not choices:
        return Prediction(text, value=read_number(text, unit))
    return Prediction(text, choice=_chosen(text, choices))


def compare(
    prediction: Prediction, formula: float | None, measured: float | None, unit: str, answer: str = ""
) -> Comparison:
    """How near the prediction came to what was measured, or to the formula where nothing was measured.

    For a choice, `answer` is the right one.
    """
    if prediction.choice is not None and answer:
        right = prediction.choice == answer
        return Comparison(right, "right" if right else f"it is {answer}")
    truth = formula if measured is None else measured
    if prediction.value is None or truth is None:
        return Comparison(False, "nothing to compare with")
    if truth == 0 or prediction.value * truth <= 0:
        right = prediction.value == truth
        return Comparison(right, "exactly right" if right else f"it is {human(truth, unit)}")
    ratio = prediction.value / truth
    # What is typed in another unit goes through a multiplication or two.
    same = math.isclose(ratio, 1, rel_tol=1e-9)
    return Comparison(_off(ratio) <= CLOSE, "exactly right" if same else apart(ratio), ratio)


def apart(ratio: float) -> str:
    """A ratio in words, as seen from its denominator: within 3 %, 40 % over, 2.4× under."""
    off, side = _off(ratio), "over" if ratio > 1 else "under"
    if off <= CLOSE:
        return f"within {max(1, math.ceil(round(off * 100, 6)))} %"
    times = max(ratio, 1 / ratio)
    if times < 2:
        return f"{off * 100:.0f} % {side}"
    return f"{human(float(f'{times:.2g}'), '×')} {side}"


def carried(typed: str, unit: str, demo_unit: str) -> str:
    """A number that answered a card in `unit`, as a prediction in `demo_unit`; empty where it is none.

    The learner's own words stay, with the card's unit where they named none.
    """
    text = clean_line(typed)
    for words in (text, f"{text} {unit}".strip()):
        try:
            meant, one = read_number(text, unit), read_number(f"1 {unit or 'x'}", demo_unit)
            if math.isclose(read_number(words, demo_unit), meant * one, rel_tol=1e-9):
                return words
        except FatutorError:
            continue
    return ""


def _off(ratio: float) -> float:
    # Rounded, so that 1.1 is ten per cent off and no more.
    return round(abs(ratio - 1), 12)


def _chosen(text: str, choices: Sequence[str]) -> str:
    typed = text.casefold()
    places = {str(place): choice for place, choice in enumerate(choices, 1)}
    # The words come first: where the choices are numbers, "2" means the two, not the second.
    if same := [choice for choice in choices if choice.casefold() == typed]:
        return same[0]
    if typed in places:
        return places[typed]
    begun = [choice for choice in choices if choice.casefold().startswith(typed)]
    if len(begun) == 1:
        return begun[0]
    raise FatutorError(
        f"“{text[:80]}” is not one of the choices", f"type 1 to {len(choices)}, or how the choice begins"
    )
