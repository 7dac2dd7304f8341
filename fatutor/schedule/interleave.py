"""Order items so that neighbours differ in topic wherever that is possible, and move as few as it takes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from heapq import heappop, heappush
from typing import TypeVar

Item = TypeVar("Item")


def interleave(items: Sequence[Item], topic: Callable[[Item], str], after: Sequence[Item] = ()) -> list[Item]:
    """`items` with no two neighbours of one topic, counting the last of `after` as the one before them.

    Each place takes the earliest item whose topic differs from the one before it. Only a topic that holds
    more than half of what is left goes out of turn, since it would end up next to itself otherwise; what
    cannot be parted comes last.
    """
    waiting: dict[str, deque[int]] = {}
    for position, item in enumerate(items):
        waiting.setdefault(topic(item), deque()).append(position)
    heads = [(positions[0], name) for name, positions in waiting.items()]  # in order, so already a heap
    last = topic(after[-1]) if after else None
    fullest, most = "", len(items)
    ordered: list[Item] = []
    for left in range(len(items), 0, -1):
        if 2 * most > left:  # counts only fall, so an old one that is small enough still tells
            fullest = max(waiting, key=lambda name: len(waiting[name]))
            most = len(waiting[fullest])
        crowded = 2 * most > left
        last = fullest if crowded and fullest != last else _earliest(heads, waiting, last)
        positions = waiting[last]
        ordered.append(items[positions.popleft()])
        if positions:
            heappush(heads, (positions[0], last))
    return ordered


def _earliest(heads: list[tuple[int, str]], waiting: dict[str, deque[int]], last: str | None) -> str:
    """The topic of the earliest item that is not of `last`; `last` itself where nothing else waits.

    A topic that went out of turn has left old entries behind. They do no harm: it stays the crowded one to
    the end, so it is either `last` here or used up.
    """
    passed_over = None
    while heads:
        head = heappop(heads)
        name = head[1]
        if not waiting[name]:
            continue
        if name == last:
            passed_over = head
            continue
        if passed_over is not None:
            heappush(heads, passed_over)
        return name
    assert last is not None
    return last
