"""From a level-2 heading, its card comment and the lines below to cards."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from fatutor.deck import attributes, cloze, sections
from fatutor.deck.attributes import Attributes
from fatutor.deck.faults import Faults, quoted
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import AnswerForm, Card, Check, Choice, Kind, Place
from fatutor.deck.scan import Line, LineKind
from fatutor.deck.sections import Sections

_LABEL = re.compile(r"(?:interview|prove it|recall|cloze)\s*:\s*", re.IGNORECASE)
_WANT_KEY_POINTS = (Kind.INTERVIEW, Kind.PROVE_IT)


@dataclass(frozen=True, slots=True)
class Source:
    """Where cards come from: the deck's name and tags, the file as people see it, and the hardware table."""

    deck: str
    path: str
    tags: tuple[str, ...]
    hardware: Hardware


def title(heading: str) -> str:
    """The heading without its label, such as `Interview:`."""
    return _LABEL.sub("", heading, count=1) if _LABEL.match(heading) else heading


def read_cards(
    heading: Line, mark: Line, lines: Sequence[Line], source: Source, faults: Faults
) -> list[Card]:
    """The cards of one heading: several for a cloze, none (and a fault) where something is wrong.

    `mark` is the line of the card comment, `lines` is what follows it up to the next heading of level 1 or 2.
    """
    before = faults.count
    given = attributes.read(mark.value, mark.number, source.hardware, faults)
    parts = sections.split(lines, faults)
    for line in lines:
        if line.kind in (LineKind.CARD, LineKind.BAD_CARD):
            what = "a card comment stands within a card"
            faults.fault(line.number, what, "give the card a level-2 heading (## …) right above its comment")
    name = title(heading.value)
    if not name:
        faults.fault(heading.number, "the heading of a card is empty", "write ## and a few words")
    if given is None:
        return []
    cards = _cards(name, heading, given, parts, source, faults)
    if faults.count > before:
        return []
    if not given.id:
        what = f"the card {quoted(name)} has no id, so its history would be lost with the next edit"
        faults.warn(mark.number, what, "run fatutor check --fix, which writes one into its comment")
    return cards


def _cards(
    name: str, heading: Line, given: Attributes, parts: Sections, source: Source, faults: Faults
) -> list[Card]:
    choices = _choices(heading, given, parts, faults)
    prompt = sections.text(parts.body) or name
    base = given.id or _provisional(source.deck, name, prompt)
    card = Card(
        id=base,
        base=base,
        kind=given.kind,
        title=name,
        prompt=prompt,
        answer=_answer(heading, given, parts, choices, faults),
        place=Place(source.path, heading.number),
        deck=source.deck,
        digest="",
        response=replace(given.response, choices=choices),
        key_points=sections.key_points(parts["Key points"], faults),
        not_quite=sections.not_quite(parts["Not quite"], faults),
        follow_ups=sections.follow_ups(parts["Follow-up"], faults),
        checks=(*sections.checks(parts["Check"], faults), *_fenced_checks(parts)),
        hint=sections.text(parts["Hint"]),
        source=sections.text(parts["Source"]),
        level=given.level,
        difficulty=given.difficulty,
        target_seconds=given.target_seconds,
        tags=tuple(dict.fromkeys((*given.tags, *source.tags))),
        demo=given.demo,
        provisional=not given.id,
    )
    for section, number in parts.lines.items():
        if not sections.text(parts[section]):
            faults.fault(
                number, f"the section {section} is empty", "write something below it, or take it out"
            )
    if given.kind in _WANT_KEY_POINTS and "Key points" not in parts:
        what = f"the card {quoted(name)} has no key points to tick"
        faults.warn(heading.number, what, "add ### Key points and a list of what a good answer says")
    if given.kind is Kind.CLOZE:
        return [_digested(sibling) for sibling in _siblings(card, heading, parts, faults)]
    if cloze.has_gaps(parts.body):
        what = f"{quoted(name)} has gaps, but is no cloze"
        faults.warn(heading.number, what, "write kind=cloze in its comment to ask for them")
    return [_digested(card)]


def _siblings(card: Card, heading: Line, parts: Sections, faults: Faults) -> list[Card]:
    """One card a gap number. What stands under Answer follows the filled text."""
    if card.response.form not in (AnswerForm.ALOUD, AnswerForm.TEXT):
        faults.fault(
            heading.number, f"a cloze cannot have answer={card.response.form}", "write answer=text or none"
        )
    body = [line for line in parts.body if line.kind is not LineKind.COMMENT]
    variants = cloze.variants(body, faults)
    if not variants:
        what = "this cloze has no gap (those inside code or a formula do not count)"
        faults.fault(heading.number, what, "write {{c1::what is asked for}} in its text")
    return [
        replace(
            card,
            id=f"{card.base}#c{variant.number}",
            prompt=variant.prompt.strip("\n"),
            answer="\n\n".join(filter(None, (variant.answer.strip("\n"), card.answer))),
        )
        for variant in variants
    ]


def _choices(heading: Line, given: Attributes, parts: Sections, faults: Faults) -> tuple[Choice, ...]:
    choices = sections.choices(parts["Choices"], faults)
    if given.response.form is not AnswerForm.CHOICE:
        if "Choices" in parts:
            what = "there are choices, but the card does not ask for one"
            faults.fault(parts.lines["Choices"], what, "write answer=choice in its comment")
        return ()
    if "Choices" not in parts:
        faults.fault(
            heading.number, "answer=choice needs choices", "add ### Choices with - [x] right and - [ ] wrong"
        )
    elif not 2 <= len(choices) <= 6 or sum(choice.right for choice in choices) != 1:
        what = f"there are {len(choices)} choices, {sum(choice.right for choice in choices)} of them right"
        faults.fault(parts.lines["Choices"], what, "write 2 to 6, and mark exactly one with [x]")
    return choices


def _answer(
    heading: Line, given: Attributes, parts: Sections, choices: Sequence[Choice], faults: Faults
) -> str:
    """The model answer; where a choice card writes none, the right choice is all there is to say."""
    if "Answer" in parts or given.kind is Kind.CLOZE:
        return sections.text(parts["Answer"])
    if given.response.form is AnswerForm.CHOICE:
        return next((choice.text for choice in choices if choice.right), "")
    faults.fault(
        heading.number, f"the card {quoted(title(heading.value))} has no answer", "add ### Answer below it"
    )
    return ""


def _fenced_checks(parts: Sections) -> Iterator[Check]:
    yield from sections.fenced_checks(parts.body)
    for name, lines in parts.named.items():
        if name != "Check":
            yield from sections.fenced_checks(lines)


def _provisional(deck: str, name: str, prompt: str) -> str:
    """An id for a card that has none yet: the same as long as deck, title and prompt say the same."""
    words = [" ".join(unicodedata.normalize("NFC", text).split()) for text in (deck, name, prompt)]
    return f"unstamped-{_hash(words)}"


def _digested(card: Card) -> Card:
    """The card with a digest of all that a learner sees of it."""
    shown = (
        *(card.title, card.prompt, card.answer, card.hint, card.source),
        *(
            card.response.value,
            card.response.unit,
            [[choice.text, choice.right] for choice in card.response.choices],
        ),
        *([[point.text, point.critical] for point in card.key_points], card.not_quite, card.follow_ups),
    )
    return replace(card, digest=_hash(shown))


def _hash(values: Sequence[object]) -> str:
    """Sixteen hex digits over values whose borders count: JSON keeps ("ab", "c") and ("a", "bc") apart."""
    return hashlib.blake2b(json.dumps(values).encode("ascii"), digest_size=8).hexdigest()
