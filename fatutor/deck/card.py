"""From a level-2 heading, its card comment and the lines below to cards."""

from __future__ import annotations

import hashlib
import json
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from fatutor.deck import attributes, cloze, sections
from fatutor.deck.attributes import Attributes
from fatutor.deck.cloze import Variant
from fatutor.deck.faults import Faults, quoted
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import AnswerForm, Card, Kind, Place, Response
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
    cards = _Draft(name, heading.number, given, parts, source, faults).cards()
    if faults.count > before:
        return []
    if not given.id:
        what = f"the card {quoted(name)} has no id, so its history would be lost with the next edit"
        faults.warn(mark.number, what, "run fatutor check --fix, which writes one into its comment")
    return cards


@dataclass(frozen=True, slots=True)
class _Draft:
    """What one heading gives, on its way to cards; `line` is where the heading stands."""

    name: str
    line: int
    given: Attributes
    parts: Sections
    source: Source
    faults: Faults

    def cards(self) -> list[Card]:
        given, parts, faults = self.given, self.parts, self.faults
        if given.kind in _WANT_KEY_POINTS and "Key points" not in parts:
            what = f"the card {quoted(self.name)} has no key points to tick"
            faults.warn(self.line, what, "add ### Key points and a list of what a good answer says")
        response = self._response()
        variants = self._variants(self._answer(response))
        key_points = sections.key_points(parts["Key points"], faults)
        not_quite = sections.not_quite(parts["Not quite"], faults)
        follow_ups = sections.follow_ups(parts["Follow-up"], faults)
        hint, origin = sections.text(parts["Hint"]), sections.text(parts["Source"])
        base = given.id or self._provisional()
        place = Place(self.source.path, self.line)
        tags = tuple(dict.fromkeys((*given.tags, *self.source.tags)))
        # What a learner sees of a card; the digest changes when any of it does.
        choices = [[choice.text, choice.right] for choice in response.choices]
        points = [[point.text, point.critical] for point in key_points]
        shown = (
            self.name,
            hint,
            origin,
            response.value,
            response.unit,
            choices,
            points,
            not_quite,
            follow_ups,
        )
        return [
            Card(
                id=f"{base}#c{variant.number}" if variant.number else base,
                base=base,
                kind=given.kind,
                title=self.name,
                prompt=variant.prompt,
                answer=variant.answer,
                place=place,
                deck=self.source.deck,
                digest=_hash(variant.prompt, variant.answer, *shown),
                response=response,
                key_points=key_points,
                not_quite=not_quite,
                follow_ups=follow_ups,
                checks=parts.checks,
                hint=hint,
                source=origin,
                level=given.level,
                difficulty=given.difficulty,
                target_seconds=given.target_seconds,
                tags=tags,
                demo=given.demo,
                after=given.after,
                provisional=not given.id,
            )
            for variant in variants
        ]

    def _response(self) -> Response:
        """How the card is answered, with its choices where it asks for one."""
        response, parts, faults = self.given.response, self.parts, self.faults
        if response.form is not AnswerForm.CHOICE:
            if "Choices" in parts:
                what = "there are choices, but the card does not ask for one"
                faults.fault(parts.lines["Choices"], what, "write answer=choice in its comment")
            return response
        if "Choices" not in parts:
            cure = "add ### Choices with a list of - [x] right and - [ ] wrong"
            faults.fault(self.line, "answer=choice needs choices", cure)
            return response
        before = faults.count
        choices = sections.choices(parts["Choices"], faults)
        right = sum(choice.right for choice in choices)
        if faults.count == before and (not 2 <= len(choices) <= 6 or right != 1):
            what = f"of {len(choices)} choices {right} are right"
            faults.fault(parts.lines["Choices"], what, "write 2 to 6, and mark exactly one with [x]")
        return response._replace(choices=choices)

    def _answer(self, response: Response) -> str:
        """The model answer; where a choice card writes none, the right choice is all there is to say."""
        if "Answer" in self.parts or self.given.kind is Kind.CLOZE:
            return sections.text(self.parts["Answer"])
        if response.form is AnswerForm.CHOICE:
            return next((choice.text for choice in response.choices if choice.right), "")
        cure = "add ### Answer and the model answer below it"
        self.faults.fault(self.line, f"the card {quoted(self.name)} has no answer", cure)
        return ""

    def _prompt(self) -> str:
        return sections.text(self.parts.body) or self.name

    def _variants(self, answer: str) -> list[Variant]:
        """What is asked: one thing, numbered 0, or in a cloze one for each gap number.

        What a cloze says under Answer follows its filled text.
        """
        faults = self.faults
        if self.given.kind is not Kind.CLOZE:
            if cloze.has_gaps(self.parts.body):
                what = f"{quoted(self.name)} has gaps, but is no cloze"
                faults.warn(self.line, what, "write kind=cloze in its comment to ask for them")
            return [Variant(0, self._prompt(), answer)]
        form = self.given.response.form
        if form not in (AnswerForm.ALOUD, AnswerForm.TEXT):
            what = f"a cloze cannot have answer={form}"
            faults.fault(self.line, what, "write answer=text, or leave it out")
        before = faults.count
        body = [line for line in self.parts.body if line.kind is not LineKind.COMMENT]
        variants = cloze.variants(body, faults)
        if not variants and faults.count == before:
            what = "this cloze has no gap (those inside code or a formula do not count)"
            faults.fault(self.line, what, "write {{c1::what is asked for}} in its text")
        filled = "\n\n".join
        return [
            Variant(number, prompt.strip("\n"), filled(part for part in (text.strip("\n"), answer) if part))
            for number, prompt, text in variants
        ]

    def _provisional(self) -> str:
        """An id for a card that has none yet: the same as long as deck, title and prompt say the same."""
        said = (self.source.deck, self.name, self._prompt())
        words = [" ".join(unicodedata.normalize("NFC", text).split()) for text in said]
        return f"unstamped-{_hash(*words)}"


def _hash(*values: object) -> str:
    """Sixteen hex digits over values whose borders count: JSON keeps ("ab", "c") and ("a", "bc") apart."""
    return hashlib.blake2b(json.dumps(values).encode("ascii"), digest_size=8).hexdigest()
