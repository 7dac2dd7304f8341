"""A committed answer: what was typed or chosen, and whether it was right where that can be told."""

from __future__ import annotations

from dataclasses import dataclass

from fatutor.deck.model import AnswerForm, Card
from fatutor.demo.units import human, read_number
from fatutor.errors import FatutorError
from fatutor.text.clean import clean

LONGEST = 16_384  # characters; more is a paste that went wrong


@dataclass(frozen=True, slots=True)
class Committed:
    """`right` is None where only a person can judge; `note` says in words what came of it."""

    text: str
    right: bool | None = None
    note: str = ""


def judge(card: Card, typed: str) -> Committed:
    """Take a learner's answer to `card`. Raises FatutorError with the reason where it commits nothing."""
    form = card.response.form
    text = clean(typed).strip()
    if len(text) > LONGEST:
        raise FatutorError(
            f"that is {len(text):,} characters",
            f"an answer holds at most {LONGEST:,}; keep the part you would say",
        )
    if form is AnswerForm.ALOUD:
        return Committed(text)
    if not text:
        raise FatutorError("an empty answer commits nothing", "a guess is enough, right or wrong")
    if form is AnswerForm.NUMBER:
        return _number(card, text)
    if form is AnswerForm.CHOICE:
        return _choice(card, text)
    return Committed(text)


def _number(card: Card, text: str) -> Committed:
    response = card.response
    assert response.value is not None, "the parser refuses a number card without a value"
    given = read_number(text, response.unit)
    want = response.value
    # A tolerance of zero still forgives the ninth digit: people type 0.333333333 for a third.
    slack = abs(want) * max(response.tolerance, 1e-9)
    right = abs(given - want) <= slack
    wanted = human(want, response.unit)
    return Committed(text, right, f"right: {wanted}" if right else f"not {wanted}")


def _choice(card: Card, text: str) -> Committed:
    choices = card.response.choices
    if not text.isdecimal() or not 1 <= int(text) <= len(choices):
        raise FatutorError(f"{text[:20]!r} is none of the choices", f"press 1 to {len(choices)}")
    chosen = choices[int(text) - 1]
    want = next(i for i, choice in enumerate(choices, 1) if choice.right)
    return Committed(text, chosen.right, "right" if chosen.right else f"not {text}; it is {want}")
