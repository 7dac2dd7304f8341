"""From a level-2 heading, its card comment and the lines below to cards."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, replace

from fatutor.deck import attributes, cloze, sections
from fatutor.deck.attributes import Attributes
from fatutor.deck.cloze import Variant
from fatutor.deck.faults import Faults, quoted
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import AnswerForm, Card, Check, Kind, Place, Response
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
    name = title(heading.value)
    if not name:
        faults.fault(heading.number, "the heading of a card is empty", "write ## and a few words")
    well_cut = faults.count
    parts = sections.split(lines, faults)
    if given is None or faults.count > well_cut:  # whatever else were said of it would follow from this
        return []
    checks = sections.checks(lines, faults, in_card=True)
    cards = _cards(name, heading, given, parts, checks, source, faults)
    if faults.count > before:
        return []
    if not given.id:
        what = f"the card {quoted(name)} has no id, so its history would be lost with the next edit"
        faults.warn(mark.number, what, "run fatutor check --fix, which writes one into its comment")
    return cards


def _cards(
    name: str,
    heading: Line,
    given: Attributes,
    parts: Sections,
    checks: tuple[Check, ...],
    source: Source,
    faults: Faults,
) -> list[Card]:
    if given.kind in _WANT_KEY_POINTS and "Key points" not in parts:
        what = f"the card {quoted(name)} has no key points to tick"
        faults.warn(heading.number, what, "add ### Key points and a list of what a good answer says")
    prompt = sections.text(parts.body) or name
    answer = _answer(heading, given, parts, faults)
    variants = [Variant(0, prompt, answer)]
    if given.kind is Kind.CLOZE:
        variants = _siblings(heading, given, parts, answer, faults)
    elif cloze.has_gaps(parts.body):
        what = f"{quoted(name)} has gaps, but is no cloze"
        faults.warn(heading.number, what, "write kind=cloze in its comment to ask for them")
    base = given.id or _provisional(source.deck, name, prompt)
    response = _response(heading, given, parts, faults)
    key_points = sections.key_points(parts["Key points"], faults)
    not_quite = sections.not_quite(parts["Not quite"], faults)
    follow_ups = sections.follow_ups(parts["Follow-up"], faults)
    hint, origin = sections.text(parts["Hint"]), sections.text(parts["Source"])
    place = Place(source.path, heading.number)
    tags = tuple(dict.fromkeys((*given.tags, *source.tags)))
    # What a learner sees of a card; the digest changes when any of it does.
    choices = [[choice.text, choice.right] for choice in response.choices]
    points = [[point.text, point.critical] for point in key_points]
    shared = (name, hint, origin, response.value, response.unit, choices, points, not_quite, follow_ups)
    return [
        Card(
            id=f"{base}#c{variant.number}" if variant.number else base,
            base=base,
            kind=given.kind,
            title=name,
            prompt=variant.prompt,
            answer=variant.answer,
            place=place,
            deck=source.deck,
            digest=_hash(variant.prompt, variant.answer, *shared),
            response=response,
            key_points=key_points,
            not_quite=not_quite,
            follow_ups=follow_ups,
            checks=checks,
            hint=hint,
            source=origin,
            level=given.level,
            difficulty=given.difficulty,
            target_seconds=given.target_seconds,
            tags=tags,
            demo=given.demo,
            provisional=not given.id,
        )
        for variant in variants
    ]


def _siblings(
    heading: Line, given: Attributes, parts: Sections, answer: str, faults: Faults
) -> list[Variant]:
    """One variant a gap number. What stands under Answer follows the filled text."""
    form = given.response.form
    if form not in (AnswerForm.ALOUD, AnswerForm.TEXT):
        faults.fault(
            heading.number, f"a cloze cannot have answer={form}", "write answer=text, or leave it out"
        )
    before = faults.count
    variants = cloze.variants([line for line in parts.body if line.kind is not LineKind.COMMENT], faults)
    if not variants and faults.count == before:
        what = "this cloze has no gap (those inside code or a formula do not count)"
        faults.fault(heading.number, what, "write {{c1::what is asked for}} in its text")
    filled = "\n\n".join
    return [
        Variant(number, prompt.strip("\n"), filled(part for part in (text.strip("\n"), answer) if part))
        for number, prompt, text in variants
    ]


def _response(heading: Line, given: Attributes, parts: Sections, faults: Faults) -> Response:
    """How the card is answered, with its choices where it asks for one."""
    if given.response.form is not AnswerForm.CHOICE:
        if "Choices" in parts:
            what = "there are choices, but the card does not ask for one"
            faults.fault(parts.lines["Choices"], what, "write answer=choice in its comment")
        return given.response
    before = faults.count
    choices = sections.choices(parts["Choices"], faults)
    right = sum(choice.right for choice in choices)
    if "Choices" not in parts:
        cure = "add ### Choices with a list of - [x] right and - [ ] wrong"
        faults.fault(heading.number, "answer=choice needs choices", cure)
    elif faults.count == before and (not 2 <= len(choices) <= 6 or right != 1):
        what = f"there are {len(choices)} choices, {right} of them right"
        faults.fault(parts.lines["Choices"], what, "write 2 to 6, and mark exactly one with [x]")
    return replace(given.response, choices=choices)


def _answer(heading: Line, given: Attributes, parts: Sections, faults: Faults) -> str:
    """The model answer; where a choice card writes none, the right choice is all there is to say."""
    if "Answer" in parts or given.kind is Kind.CLOZE:
        return sections.text(parts["Answer"])
    if given.response.form is AnswerForm.CHOICE:
        choices = sections.choices(parts["Choices"], Faults(faults.path))  # its faults are noted elsewhere
        return next((choice.text for choice in choices if choice.right), "")
    cure = "add ### Answer and the model answer below it"
    faults.fault(heading.number, f"the card {quoted(title(heading.value))} has no answer", cure)
    return ""


def _provisional(deck: str, name: str, prompt: str) -> str:
    """An id for a card that has none yet: the same as long as deck, title and prompt say the same."""
    words = [" ".join(unicodedata.normalize("NFC", text).split()) for text in (deck, name, prompt)]
    return f"unstamped-{_hash(*words)}"


def _hash(*values: object) -> str:
    """Sixteen hex digits over values whose borders count: JSON keeps ("ab", "c") and ("a", "bc") apart."""
    return hashlib.blake2b(json.dumps(values).encode("ascii"), digest_size=8).hexdigest()
