"""SM-2 in whole numbers: one pure function from a memory and a quality to the next memory.

Follows the published text of SuperMemo 2 (Wozniak, 1990) where it is clear, and the author's own program
where the text can be read in two ways: the interval comes first and uses the ease factor as it was, then
every grade moves the ease factor. Floats would drift (2.60 - 0.32 gives 2.2800000000000002), so the ease
factor is kept times 100 and intervals are rounded by integer arithmetic.
"""

from __future__ import annotations

from typing import Literal

from fatutor.schedule.grades import PASS
from fatutor.schedule.state import Memory

Profile = Literal["sm2", "sm2-text"]

EASE_FLOOR = 130
EASE_CHANGE = (-80, -54, -32, -14, 0, 10)  # by quality: 100 (0.1 - (5 - q)(0.08 + (5 - q) 0.02))

# Without a ceiling, fourteen 5s in a row pass seven million days, beyond the last date there is.
LONGEST = 1_000_000


def review(memory: Memory, quality: int, profile: Profile = "sm2", ceiling: int | None = 365) -> Memory:
    """The memory after one review. `quality` is 0-5, `ceiling` the longest interval in days (None: none).

    Profile `sm2` rounds to the nearest day, half up, and moves the ease factor on every grade. `sm2-text`
    is the literal text: it rounds up, and a failure leaves the ease factor alone.
    """
    if not 0 <= quality <= 5:
        raise ValueError(f"quality must be 0 to 5, not {quality}")
    passed = quality >= PASS
    ease = memory.ease
    if passed or profile == "sm2":
        ease = max(EASE_FLOOR, ease + EASE_CHANGE[quality])
    if not passed:
        return Memory(0, 1, ease, memory.lapses + (memory.repetition > 0))
    interval = min(_interval(memory, profile), ceiling or LONGEST)
    return Memory(memory.repetition + 1, interval, ease, memory.lapses)


def _interval(memory: Memory, profile: Profile) -> int:
    """Days until a memory that has just been passed is asked again, before any ceiling."""
    if memory.repetition < 2:
        return (1, 6)[memory.repetition]
    days = memory.interval * memory.ease  # in hundredths
    return -(-days // 100) if profile == "sm2-text" else (days + 50) // 100
