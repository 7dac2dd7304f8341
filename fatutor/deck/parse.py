"""From the text of a file to a deck: prose and cards in order, and everything that is wrong with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby

from fatutor.deck import front_matter, glossary, outline, sections
from fatutor.deck.card import Source, read_cards
from fatutor.deck.faults import Faults, quoted
from fatutor.deck.front_matter import FrontMatter
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import Beat, Card, Check, Deck, Kind, Prose
from fatutor.deck.outline import CARD_COMMENTS
from fatutor.deck.scan import Line, LineKind, Scan, scan, unify


def parse(text: str, *, name: str, path: str, hardware: Hardware) -> Deck:
    """Read a deck. Never raises: what is wrong is in the deck's `faults`, and the rest of it works.

    `name` is what the deck is called over the library, `path` how its file is shown to people.
    """
    faults = Faults(path)
    title = name.rpartition("/")[2]
    split = front_matter.split(unify(text))
    if split is None:
        faults.warn(
            1, "there is no front matter, so this is no deck", "begin with ---, fatutor: 1, title: …, ---"
        )
        return Deck(name, title, path, faults=tuple(faults.found))
    if not split.closed:
        faults.fault(
            1, "the front matter is never closed", "write --- on a line of its own below its last key"
        )
    front = front_matter.read(split.yaml, faults)
    title = front.title or title
    if not front.known_format:
        return Deck(name, title, path, tags=front.tags, faults=tuple(faults.found))

    found = scan(split.body, split.first)
    _note_unclosed(found, faults)
    if front.is_glossary:
        terms = glossary.read(found.lines, path, faults)
        proofs = sections.checks(found.lines, faults, in_card=False)
        return Deck(
            name, title, path, tags=front.tags, checks=proofs, faults=tuple(faults.found), terms=terms
        )
    source = Source(name, path, front.tags, hardware)
    blocks: list[Prose | Card] = []
    checks: list[Check] = []
    pieces = outline.stretches(found.lines)
    for is_card, group in groupby(pieces, key=lambda piece: outline.card_comment(piece) is not None):
        if is_card:
            for piece in group:
                blocks += _cards(piece, found, source, faults)
        else:
            lines: Sequence[Line] = [line for piece in group for line in piece]
            lines = lines if blocks else _without_title(lines, title, faults)
            checks += sections.checks(lines, faults, in_card=False)
            if prose := _prose(lines, faults):
                blocks.append(prose)
    if not any(isinstance(block, Card) for block in blocks) and not faults.count:
        faults.warn(
            1, "this deck has no cards", "put <!-- card id=… kind=interview --> below a level-2 heading"
        )
    beat = _beat(front, blocks, faults)
    if beat:
        blocks = [block._replace(gate=beat.gate) if isinstance(block, Card) else block for block in blocks]
    return Deck(
        name,
        title,
        path,
        tuple(blocks),
        beat,
        front.tags,
        tuple(checks),
        tuple(faults.found),
        slips=tuple(block.slip for block in blocks if isinstance(block, Card)),
    )


def _note_unclosed(found: Scan, faults: Faults) -> None:
    if found.open_fence:
        cure = "end it with a line of the same signs"
        faults.fault(found.open_fence, "this code fence is never closed", cure)
    if found.open_comment:
        faults.fault(found.open_comment, "this comment is never closed", "end it with -->")


def _cards(lines: Sequence[Line], found: Scan, source: Source, faults: Faults) -> list[Card]:
    heading, at = lines[0], outline.card_comment(lines)
    assert at is not None, "prose goes another way"
    mark = lines[at]
    if mark.kind is LineKind.BAD_CARD:
        what = "this card comment does not end on its line"
        faults.fault(mark.number, what, "write it on one line, from <!-- card to -->, with nothing behind")
        return []
    if heading.number < max(found.open_fence, found.open_comment) <= lines[-1].number:
        return []  # what never closes swallows the rest of this card, the last one
    return read_cards(heading, mark, lines[at + 1 :], source, faults)


def _without_title(lines: Sequence[Line], title: str, faults: Faults) -> Sequence[Line]:
    """The first lines of a deck without the level-1 heading that says its title again."""
    at = next((index for index, line in enumerate(lines) if line.kind is LineKind.HEADING), None)
    if at is None or lines[at].level != 1:
        return lines
    if lines[at].value.split() == title.split():
        return [*lines[:at], *lines[at + 1 :]]
    what = f"the heading {quoted(lines[at].value)} differs from the title {quoted(title)}"
    faults.warn(lines[at].number, what, "let them say the same, or make it a level-2 heading (##)")
    return lines


def _prose(lines: Sequence[Line], faults: Faults) -> Prose | None:
    """The prose of some lines, if they hold any, and a word on what looks like a card in it."""
    for line in lines:
        if line.kind in CARD_COMMENTS:
            faults.fault(
                line.number,
                "this card comment belongs to no card",
                "put it right below a level-2 heading (## …)",
            )
    heading: Line | None = None
    for line in lines:
        if line.kind is LineKind.HEADING and line.level == 2:
            heading = line
        elif heading and line.kind is LineKind.HEADING and line.level == 3 and line.value == "Answer":
            what = f"{quoted(heading.value)} has an answer, but is no card"
            faults.warn(heading.number, what, "put <!-- card id=… kind=interview --> right below it")
    shown = [line for line in lines if line.kind not in CARD_COMMENTS]
    first = next((line.number for line in shown if not line.blank), None)
    return Prose(sections.text(shown), first) if first is not None else None


def _beat(front: FrontMatter, blocks: Sequence[Prose | Card], faults: Faults) -> Beat | None:
    """The beat with its gate, the one prove-it card at the end; without it nothing opens the next beat."""
    cards = [block for block in blocks if isinstance(block, Card)]
    gates = [card for card in cards if card.kind is Kind.PROVE_IT]
    if front.beat is None:
        if gates and not front.is_lesson:
            what = "a prove-it card ends a beat, and this deck is none"
            faults.warn(
                gates[0].place.line, what, "write kind=interview, or add module, beat and so on at the top"
            )
        return None
    if not gates:
        what = "this beat has no prove-it card, so it is left out of its module"
        faults.fault(1, what, "end the file with ## Prove it: … and <!-- card id=… kind=prove-it -->")
        return None
    for extra in gates[:-1]:
        faults.fault(
            extra.place.line, "a beat has one prove-it card, and this is not the last", "write kind=interview"
        )
    if cards[-1] is not gates[-1]:
        faults.fault(
            gates[-1].place.line, "the prove-it card is not the last card of the beat", "move it to the end"
        )
    return replace(front.beat, gate=gates[-1].id)
