"""The lines of a deck cut at its headings of level 1 and 2, and which of the pieces are cards."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fatutor.deck.scan import Line, LineKind

CARD_COMMENTS = (LineKind.CARD, LineKind.BAD_CARD)


def stretches(lines: Iterable[Line]) -> Iterator[list[Line]]:
    """The lines from each heading of level 1 or 2 up to the next one; the first piece may have no heading."""
    stretch: list[Line] = []
    for line in lines:
        if line.kind is LineKind.HEADING and line.level <= 2 and stretch:
            yield stretch
            stretch = []
        stretch.append(line)
    if stretch:
        yield stretch


def card_comment(stretch: Sequence[Line]) -> int | None:
    """The index of the card comment that makes a stretch a card: the next thing below a level-2 heading."""
    if stretch[0].kind is not LineKind.HEADING or stretch[0].level != 2:
        return None
    below = next((index for index, line in enumerate(stretch) if index and not line.blank), None)
    return below if below is not None and stretch[below].kind in CARD_COMMENTS else None
