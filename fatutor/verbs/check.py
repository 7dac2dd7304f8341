"""`fatutor check`: prove decks."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from fatutor.deck.files import find, read_text
from fatutor.deck.hardware import bundled, read
from fatutor.deck.library import load
from fatutor.deck.lint import check as lint
from fatutor.deck.model import Deck
from fatutor.deck.numbers import uncovered
from fatutor.deck.stamp import stamp
from fatutor.errors import FatutorError
from fatutor.paths import bundle_root
from fatutor.text.clean import clean_line
from fatutor.text.words import many
from fatutor.verbs.desk import make_desk


def check(arguments: argparse.Namespace) -> int:
    """Exit code 1 where a fault was found; warnings alone are fine."""
    roots: list[Path] = list(arguments.path)
    for root in roots:
        if not root.exists():
            raise FatutorError(f"there is nothing at {root}", "name a Markdown file or a folder of them")
    if not roots:
        roots = list(make_desk(arguments).roots)
    if arguments.numbers:
        return _numbers(roots, as_json=arguments.json)
    stamped = _stamp(roots) if arguments.fix else []
    beside = _beside(roots, arguments) if arguments.path else ()
    elsewhere = frozenset(slip.base for deck in beside for slip in deck.slips)
    report = lint(load(roots, beside=beside), read(bundled()), _known_demos(), elsewhere)
    faults = sum(not fault.warning for fault in report.faults)
    if arguments.json:
        print(json.dumps(report.as_json(), ensure_ascii=False))
    else:
        for line in stamped:
            print(line)
        for fault in report.faults:
            print(fault)
        print(report.summary)
    return 1 if faults else 0


def _numbers(roots: Sequence[Path], *, as_json: bool) -> int:
    """List the numbers that no check covers. It is no verdict, so the exit code is 0."""
    found = [
        number
        for file in find(roots)[0]
        if isinstance(text := read_text(file.path), str)
        for number in uncovered(text, clean_line(str(file.path)))
    ]
    if as_json:
        print(json.dumps({"numbers": [number.as_json() for number in found]}, ensure_ascii=False))
    else:
        for number in found:
            print(number)
        print(f"{many(len(found), 'number')} that no check covers")
    return 0


def _beside(roots: Sequence[Path], arguments: argparse.Namespace) -> Sequence[Deck]:
    """The decks that are drilled besides those below `roots`, where these were named alone.

    Files are found root by root and each once, so those below `roots` come first.
    """
    desk = make_desk(arguments)
    everything, _ = find([*roots, *desk.roots])
    named, _ = find(roots)
    besides = {clean_line(str(file.path)) for file in everything[len(named) :]}
    return [deck for deck in desk.library.decks if deck.path in besides]


def _stamp(roots: Sequence[Path]) -> list[str]:
    """Stamp every deck file below the roots; a line for each id written."""
    taken = {card.base for card in load(roots).cards.values()}
    lines: list[str] = []
    for file in find(roots)[0]:
        for stamped in stamp(file.path, taken):
            taken.add(stamped.id)
            lines.append(f"{file.path}: stamped {stamped}")
    return lines


def _known_demos() -> frozenset[str] | None:
    """The names that cards may use; None, and then no name is doubted, where the kernels do not answer."""
    from fatutor.demo.catalogue import known_names

    try:
        return known_names(bundle_root())
    except FatutorError:
        return None
