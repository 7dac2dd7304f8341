"""How long the prose of a beat takes to read."""

from __future__ import annotations

from fatutor.deck.model import Deck, Prose
from fatutor.deck.scan import LineKind, scan

WORDS_PER_MINUTE = 180  # technical prose, on a screen, with formulas in it
CODE_SHARE = 0.5  # code is looked at rather than read


def minutes(deck: Deck) -> float:
    """Minutes for the prose of a deck: a word of code counts half, checks and the cards not at all.

    A word is whatever stands between spaces and holds a letter or a digit, so table rules and signs are none.
    """
    words = 0.0
    for block in deck.blocks:
        if isinstance(block, Prose):
            words += _words(block.text)
    return words / WORDS_PER_MINUTE


def _words(text: str) -> float:
    total = 0.0
    is_check = False
    for line in scan(text).lines:
        if line.kind is LineKind.FENCE:
            is_check = line.value == "check"
        elif line.kind is LineKind.CODE:
            total += 0 if is_check else CODE_SHARE * _count(line.text)
        elif line.kind in (LineKind.TEXT, LineKind.HEADING):
            total += _count(line.text)
    return total


def _count(text: str) -> int:
    return sum(any(map(str.isalnum, word)) for word in text.split())
