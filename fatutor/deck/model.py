"""What a deck is once it has been read: plain values, no behaviour beyond what follows from them.

What there are ten thousand of is a NamedTuple, which is made several times faster than a frozen dataclass.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple


class Place(NamedTuple):
    """Where something stands: a path as shown to people, and a line counted from 1."""

    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}"


class Fault(NamedTuple):
    """One thing wrong in a deck, with what to write instead."""

    place: Place
    what: str
    cure: str
    warning: bool = False

    def __str__(self) -> str:
        return f"{self.place}: {'warning: ' if self.warning else ''}{self.what}; {self.cure}"


class Kind(StrEnum):
    PROVE_IT = "prove-it"
    INTERVIEW = "interview"
    RECALL = "recall"
    CLOZE = "cloze"


class Level(StrEnum):
    SCREEN = "screen"
    ONSITE = "onsite"
    STAFF = "staff"


class AnswerForm(StrEnum):
    """What a learner commits before the reveal."""

    ALOUD = "aloud"
    TEXT = "text"
    NUMBER = "number"
    CHOICE = "choice"


class KeyPoint(NamedTuple):
    """One checkable thing a good answer says (Markdown, one line)."""

    text: str
    critical: bool = False


class Check(NamedTuple):
    """An arithmetic claim of the card: an expression that must be true."""

    expression: str
    comment: str
    line: int


class Choice(NamedTuple):
    """One option of a choice card (Markdown, one line)."""

    text: str
    right: bool


class Response(NamedTuple):
    """How a card is answered, and what is right where that can be told without a person.

    `value`, `unit` and `tolerance` belong to NUMBER (`tolerance` is relative: 0.05 accepts five per cent
    either way); `choices` to CHOICE.
    """

    form: AnswerForm = AnswerForm.ALOUD
    value: float | None = None
    unit: str = ""
    tolerance: float = 0.0
    choices: tuple[Choice, ...] = ()


class Slip(NamedTuple):
    """What the queue and the counts need to know of a card: all that a start reads of it.

    `topic` is the card's first tag, or else its deck; `line` is that of its place.
    """

    id: str
    base: str
    deck: str
    topic: str
    target_seconds: int
    gate: str | None
    line: int


class Card(NamedTuple):
    """One prompt with everything that belongs to it. Text fields hold Markdown, already cleaned.

    `id` is the identity over the whole library; a cloze card gives one card a gap, `base#c1`, all with
    the same `base`. `digest` covers the text that a learner sees, so that a changed card can say so.
    """

    id: str
    base: str
    kind: Kind
    title: str
    prompt: str
    answer: str
    place: Place
    deck: str
    digest: str
    response: Response = Response()
    key_points: tuple[KeyPoint, ...] = ()
    not_quite: tuple[str, ...] = ()
    follow_ups: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()
    hint: str = ""
    source: str = ""
    level: Level | None = None
    difficulty: int | None = None
    target_seconds: int = 60
    tags: tuple[str, ...] = ()
    demo: str | None = None
    gate: str | None = None  # id of the prove-it card that ends this card's beat; None in an interview deck
    after: tuple[str, ...] = ()  # ids of cards that come first; a cloze by its base
    provisional: bool = False

    @property
    def slip(self) -> Slip:
        topic = self.tags[0] if self.tags else self.deck
        return Slip(self.id, self.base, self.deck, topic, self.target_seconds, self.gate, self.place.line)


class Prose(NamedTuple):
    """A run of Markdown between cards."""

    text: str
    line: int


class Term(NamedTuple):
    """A word that cards use and a glossary explains, in Markdown."""

    name: str
    aliases: tuple[str, ...]
    text: str
    place: Place

    @property
    def names(self) -> tuple[str, ...]:
        return (self.name, *self.aliases)


class Track(StrEnum):
    CORE = "core"
    DEEP_DIVE = "deep-dive"


@dataclass(frozen=True, slots=True)
class Beat:
    """What makes a deck a lesson. `module` is the title its beats share, `gate` its prove-it card's id."""

    module: str
    number: int
    kind: str
    minutes: int
    track: Track
    outcome: str
    gate: str


@dataclass(frozen=True, slots=True)
class Deck:
    """One file. `name` is its path below its root without the ending, with `/` between folders.

    `slips` has one for each card. The blocks of a deck that was read before are only made when somebody
    looks at them; whoever can do with the slips leaves them alone.
    """

    name: str
    title: str
    path: str
    blocks: Sequence[Prose | Card] = ()
    beat: Beat | None = None
    tags: tuple[str, ...] = ()
    checks: tuple[Check, ...] = ()  # of the prose; a card holds its own
    faults: tuple[Fault, ...] = field(default=())
    terms: tuple[Term, ...] = ()  # of a glossary, which holds nothing else
    slips: tuple[Slip, ...] = ()

    @property
    def cards(self) -> tuple[Card, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Card))
