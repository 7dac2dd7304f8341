"""What stands on the table, as Markdown and words: a card before and after its reveal."""

from __future__ import annotations

import re
from datetime import date
from itertools import pairwise

from fatutor.deck.expressions import holds
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import AnswerForm, Card
from fatutor.schedule.grades import GRADES
from fatutor.schedule.log import Entry, EntryKind
from fatutor.schedule.state import CardState
from fatutor.study.drill import Turn
from fatutor.text.words import many


def prompt(card: Card) -> str:
    """Title and prompt. Nothing that hints at the answer; a choice card lists its choices."""
    parts = [f"## {title(card)}"] if card.title else []
    if card.prompt and card.prompt != card.title:
        parts.append(card.prompt)
    if card.response.form is AnswerForm.CHOICE:
        parts.append("\n".join(f"{i}. {choice.text}" for i, choice in enumerate(card.response.choices, 1)))
    return "\n\n".join(parts)


def title(card: Card) -> str:
    """Decks write titles after `Interview:`, where they begin small."""
    return card.title[:1].upper() + card.title[1:]


def answer(turn: Turn, hardware: Hardware) -> str:
    card = turn.card
    parts: list[str] = []
    if turn.committed is not None and turn.committed.text:
        parts.append(_committed(turn))
    if card.answer:
        parts.append(card.answer)
    if card.checks:
        parts.append(_checked(card, hardware))
    return "\n\n".join(parts)


def _checked(card: Card, hardware: Hardware) -> str:
    count = len(card.checks)
    wrong = sum(not holds(check, hardware) for check in card.checks)
    if wrong:
        return f"✗ {wrong} of {many(count, 'check')} not true; run: fatutor check {card.place.path}"
    return f"✓ {many(count, 'check')} true"


def _committed(turn: Turn) -> str:
    committed = turn.committed
    assert committed is not None
    verdict = "" if committed.right is None else f"\n\n{'✓' if committed.right else '✗'} {committed.note}"
    choices = {str(i): choice.text for i, choice in enumerate(turn.card.response.choices, 1)}
    if committed.text in choices:
        return f"*You chose*\n\n> {committed.text}\\. {choices[committed.text]}{verdict}"
    return f"*You committed*\n\n{quoted(committed.text)}{verdict}"


def quoted(words: str) -> str:
    """A learner's own words as a Markdown quotation that shows them to the letter."""
    literal = re.sub(r"([!-/:-@\[-`{-~])", r"\\\1", words)
    lines = literal.split("\n")
    # A backslash at a line's end keeps the line; before a blank line, and at the end, it would be text.
    kept = [f"> {line}\\" if line and after else f"> {line}" for line, after in pairwise([*lines, ""])]
    return "\n".join(kept)


def rest(card: Card) -> str:
    """What stands below the key points: half-truths, the follow-up, the source."""
    parts: list[str] = []
    if card.not_quite:
        parts.append("**Not quite**\n\n" + "\n".join(f"- {line}" for line in card.not_quite))
    if card.follow_ups:
        parts.append("**Then they ask**\n\n" + "\n".join(f"- {line}" for line in card.follow_ups))
    if card.source:
        parts.append(f"**Source** {card.source}")
    return "\n\n".join(parts)


def whereabouts(turn: Turn, at: int, of: int, deck: str) -> str:
    """`3 of 16 · Problem and roofline · onsite ●●●○○`"""
    card = turn.card
    level = f"{card.level} " if card.level else ""
    stars = "●" * card.difficulty + "○" * (5 - card.difficulty) if card.difficulty else ""
    parts = [f"{at} of {of}", deck, f"{level}{stars}".strip()]
    if turn.kind is EntryKind.RELEARN:
        parts.append("again")
    elif turn.state.is_new:
        parts.append("new")
    if turn.state.flagged:
        parts.append("⚑")
    return " · ".join(part for part in parts if part)


DEEDS = {
    EntryKind.SUSPEND: "suspended",
    EntryKind.RESUME: "back in the drill",
    EntryKind.BURY: "put off",
    EntryKind.FLAG: "flagged",
    EntryKind.UNFLAG: "flag cleared",
}


def taken_back(undone: Entry | None) -> str:
    """`taken back: good`, or that there was nothing."""
    if undone is None:
        return "nothing left to undo"
    return f"taken back: {DEEDS[undone.kind] if undone.quality is None else GRADES[undone.quality].label}"


def returns(state: CardState, today: date) -> str:
    """When a card comes back: `today`, `6 d`, `2.1 mo`, `1.0 y`."""
    if state.relearn_on == today:
        return "today"
    return days((state.due - today).days) if state.due else "today"


def days(count: int) -> str:
    if count < 60:
        return f"{count} d"
    if count < 365:
        return f"{count / 30.44:.1f} mo"
    return f"{count / 365.25:.1f} y" if count < 3650 else f"{count / 365.25:.0f} y"
