"""Terms and what they mean: read from a glossary file, gathered over the library, found in a text.

A glossary is a deck file with `glossary: true` in its front matter. A level-2 heading names a term, with what
else it is called in parentheses; the text below explains it. Fences marked `check` prove its numbers and are
not shown.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

from fatutor.deck import outline, sections
from fatutor.deck.faults import Faults, quoted
from fatutor.deck.model import Deck, Fault, Place, Term
from fatutor.deck.outline import CARD_COMMENTS
from fatutor.deck.scan import Line, LineKind

_HEADING = re.compile(r"(.*?)\s*(?:\(([^()]*)\))?")
_SPLIT = re.compile(r"[\s-]+")


class Glossary(NamedTuple):
    """The terms of a library, each once, in reading order."""

    terms: tuple[Term, ...] = ()

    def occurring(self, text: str) -> tuple[Term, ...]:
        """The terms that a text uses, by name or alias, in the order of the alphabet."""
        found = [term for term in self.terms if any(_pattern(name).search(text) for name in term.names)]
        return tuple(sorted(found, key=lambda term: term.name.casefold()))


def read(lines: Sequence[Line], path: str, faults: Faults) -> tuple[Term, ...]:
    """The terms of one glossary. What stands above its first term is for whoever reads the file."""
    terms: list[Term] = []
    for stretch in outline.stretches(lines):
        for line in stretch:
            if line.kind in CARD_COMMENTS:
                faults.fault(line.number, "a card stands in a glossary", "move it to a deck of its own")
        heading = stretch[0]
        if heading.kind is LineKind.HEADING and heading.level == 2 and (term := _term(stretch, path, faults)):
            terms.append(term)
    if not terms and not faults.count:
        faults.warn(1, "this glossary has no terms", "write ## Term (alias, alias) and a sentence below it")
    return tuple(terms)


def gather(decks: Iterable[Deck]) -> tuple[Glossary, tuple[Fault, ...]]:
    """All terms, and a fault at each place of a name that is explained twice; the first one stands."""
    terms = [term for deck in decks for term in deck.terms]
    by_name: dict[str, list[Term]] = {}
    for term in terms:
        for name in dict.fromkeys(map(_key, term.names)):
            by_name.setdefault(name, []).append(term)
    clashes = [found for found in by_name.values() if len(found) > 1]
    late = {term.place for found in clashes for term in found[1:]}
    return (
        Glossary(tuple(term for term in terms if term.place not in late)),
        tuple(fault for found in clashes for fault in _clash_faults(found)),
    )


def _clash_faults(terms: Sequence[Term]) -> Iterator[Fault]:
    shared = set[str].intersection(*({_key(name) for name in term.names} for term in terms))
    for term in terms:
        name = next(name for name in term.names if _key(name) in shared)
        others = ", ".join(str(other.place) for other in terms if other is not term)
        what = f"the term {quoted(name)} is also explained at {others}"
        yield Fault(term.place, what, "explain it once; until then the first one is shown")


def _term(stretch: Sequence[Line], path: str, faults: Faults) -> Term | None:
    heading = stretch[0]
    match = _HEADING.fullmatch(heading.value)
    name, others = (match[1], match[2] or "") if match else (heading.value, "")
    if not name:
        faults.fault(heading.number, "the heading of a term is empty", "write ## and the term")
        return None
    text = sections.text(_without_checks(stretch[1:]))
    if not text:
        what = f"the term {quoted(name)} is not explained"
        faults.fault(heading.number, what, "write one to three sentences below it")
        return None
    aliases = tuple(alias.strip() for alias in others.split(",") if alias.strip())
    return Term(name, aliases, text, Place(path, heading.number))


def _without_checks(lines: Iterable[Line]) -> Iterator[Line]:
    in_check = False
    for line in lines:
        in_check = in_check or (line.kind is LineKind.FENCE and line.value == "check")
        if not in_check:
            yield line
        elif line.kind is LineKind.FENCE_END:
            in_check = False


def _key(name: str) -> str:
    """What two spellings of one name have in common."""
    return " ".join(_SPLIT.split(name.casefold().strip()))


@lru_cache(maxsize=1024)
def _pattern(name: str) -> re.Pattern[str]:
    """A name as whole words, in the plural too. Abbreviations keep their capitals, other words need not.

    Between its words may stand spaces, a line end or a hyphen. An underscore ends a word: it may be emphasis.
    """
    words = r"[\s-]+".join(map(_word, _SPLIT.split(name)))
    return re.compile(rf"(?<![^\W_]){words}(?:e?s)?(?![^\W_])")


def _word(word: str) -> str:
    is_abbreviation = word != word.lower() and (word[1:] != word[1:].lower() or word == word.upper())
    return re.escape(word) if is_abbreviation else f"(?i:{re.escape(word)})"
