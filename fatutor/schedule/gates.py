"""Which beats are open, and which cards have joined the drill. A gate opens by committing, right or wrong."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from fatutor.deck.model import Beat, Slip, Track


def drillable(card: Slip, committed: Collection[str]) -> bool:
    """A beat's cards join the drill once its own gate is committed; cards of plain decks always belong."""
    return card.gate is None or card.gate in committed


def opener(beat: Beat, beats: Iterable[Beat]) -> Beat | None:
    """The beat whose gate opens `beat`; None for one that is always open.

    A core beat waits for the core beat before it, so that a deep dive can be skipped; a deep dive waits for
    whatever stands before it.
    """
    before = [
        other
        for other in beats
        if other.module == beat.module
        and other.number < beat.number
        and (beat.track is Track.DEEP_DIVE or other.track is Track.CORE)
    ]
    return max(before, key=lambda other: other.number, default=None)


def unlocked(beats: Collection[Beat], committed: Collection[str]) -> frozenset[str]:
    """Gate ids of all open beats: the first of each module, and those whose opener is committed."""
    openers = ((beat.gate, opener(beat, beats)) for beat in beats)
    return frozenset(gate for gate, before in openers if before is None or before.gate in committed)
