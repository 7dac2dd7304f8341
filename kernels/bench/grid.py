"""What is timed: the shapes, and the operations and bytes that each comes to.

The shapes are those of the FlashAttention papers: 16 K tokens in all, however long a sequence is, and heads
whose dimensions add up to 2048. Decoding attends from one query a sequence to 128 K cached keys in all, so
that the cache is too large for L2 even where eight heads share one of K and V.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

Phase = Literal["forward", "backward", "decode"]
PHASES: tuple[Phase, ...] = get_args(Phase)

TOKENS = 16384
WIDTH = 2048  # heads · d
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
HEAD_DIMS = (64, 128, 256)
SHARED = 4  # query heads to one head of K and V, in the rows with grouped heads
DECODE_TOKENS = 131072
DECODE_LENGTHS = (1024, 8192, 65536)
DECODE_SHARED = 8
ITEMSIZE = 2  # bf16


@dataclass(frozen=True, slots=True)
class Point:
    """One row's problem. n: keys, and queries too unless decoding, which has one a sequence."""

    phase: Phase
    d: int
    causal: bool
    n: int
    batch: int
    heads: int
    heads_kv: int

    @property
    def queries(self) -> int:
        return 1 if self.phase == "decode" else self.n

    @property
    def flops(self) -> float:
        """4 N² d for each head, half of it if causal; 2.5 times that backward, whatever is computed again."""
        forward = 4 * self.queries * self.n * self.d * self.heads * self.batch
        return forward * (0.5 if self.causal else 1) * (2.5 if self.phase == "backward" else 1)

    @property
    def bytes(self) -> int:
        """Each tensor once: Q, K, V and O; backward also the gradient of each."""
        forward = 2 * (self.queries * self.heads + self.n * self.heads_kv) * self.d * self.batch * ITEMSIZE
        return forward * (2 if self.phase == "backward" else 1)

    def __str__(self) -> str:
        mask = "causal " if self.causal else ""
        return f"{self.phase} {mask}d={self.d} N={self.n} heads={self.heads}/{self.heads_kv}"


def full() -> list[Point]:
    """Every row."""
    training = [
        _point(phase, d, n, causal=causal)
        for phase in ("forward", "backward")
        for d in HEAD_DIMS
        for causal in (False, True)
        for n in LENGTHS
    ]
    grouped = [
        _point(phase, 128, n, causal=True, shared=SHARED)
        for phase in ("forward", "backward")
        for n in (1024, 4096, 16384)
    ]
    decoding = [
        _point("decode", d, n, shared=shared)
        for d in HEAD_DIMS
        for shared in (1, DECODE_SHARED)
        for n in DECODE_LENGTHS
    ]
    return sorted(training + grouped + decoding, key=lambda point: PHASES.index(point.phase))


def quick() -> list[Point]:
    """Enough to see whether something got slower."""
    return [
        *(
            _point("forward", d, n, causal=causal)
            for d in (64, 128)
            for causal in (False, True)
            for n in (1024, 16384)
        ),
        *(_point("backward", 128, 4096, causal=causal) for causal in (False, True)),
        *(_point("decode", 128, 8192, shared=shared) for shared in (1, DECODE_SHARED)),
    ]


def _point(phase: Phase, d: int, n: int, *, causal: bool = False, shared: int = 1) -> Point:
    tokens = DECODE_TOKENS if phase == "decode" else TOKENS
    heads = WIDTH // d
    return Point(phase, d, causal, n, tokens // n, heads, max(1, heads // shared))
