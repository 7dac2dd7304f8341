"""Pieces of a formula set side by side on one line, so that none reads as part of its neighbour."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum, auto

from fatutor.text import tex_symbols as sym

_BARE_SCRIPT = re.compile(r"[_^][A-Za-z0-9\u0391-\u03c9]+\Z")


class Role(Enum):
    """How a piece of a formula behaves beside others."""

    FACTOR = auto()  # a letter, a number, with their scripts
    WORD = auto()  # a name of several letters: exp, softmax
    BIG = auto()  # a sum, a product
    RADICAL = auto()
    FRACTION = auto()
    OPEN = auto()
    CLOSE = auto()
    TIGHT = auto()  # times, divided by
    SIGN = auto()  # plus, minus
    RELATION = auto()
    MARK = auto()  # commas, bars, dots
    SPACE = auto()


OPERATORS = frozenset({Role.TIGHT, Role.SIGN, Role.RELATION})
OPERANDS = frozenset({Role.FACTOR, Role.WORD, Role.BIG, Role.RADICAL, Role.FRACTION})
_ROLES = (
    (sym.OPENING, Role.OPEN),
    (sym.CLOSING, Role.CLOSE),
    (sym.TIGHT, Role.TIGHT),
    (sym.SIGNS, Role.SIGN),
    (sym.BIG, Role.BIG),
    (sym.LETTER_LIKE, Role.FACTOR),
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of the line. `closed` is how it reads where `text` would run into a neighbour."""

    text: str
    role: Role
    closed: str = ""
    marks: str = ""  # ^ and _, of the scripts that it carries

    def carrying(self, script: str, mark: str = "") -> Piece:
        """The piece with a script at its end, which must apply to all of it."""
        if self.role in (Role.FRACTION, Role.RADICAL) or (mark and mark in self.marks):
            return Piece(in_brackets(self.text) + script, Role.FACTOR, marks=mark)
        return Piece(self.text + script, self.role, marks=self.marks + mark)


def piece_of(text: str) -> Piece:
    """A single character, or an operator of several, in the role it always plays."""
    for members, role in _ROLES:
        if text in members:
            return Piece(text, role)
    if text[0] in sym.RELATIONS:
        return Piece(text, Role.RELATION)
    return Piece(text, Role.FACTOR if text[0].isalnum() else Role.MARK)


def named(text: str) -> Piece:
    """A name set upright: one letter is a factor like any other, several are a word."""
    return Piece(text, Role.FACTOR if len(text) < 2 or text.isdecimal() else Role.WORD)


def in_brackets(text: str) -> str:
    """The text in brackets, unless one pair already holds all of it."""
    depth = 0
    for position, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if depth == 0:
            return text if position and position == len(text) - 1 else f"({text})"
    return f"({text})"


def bracketed(pieces: list[Piece]) -> Piece:
    """Several pieces as one factor."""
    return Piece(in_brackets(join(pieces)), Role.FACTOR)


def fraction(above: list[Piece], below: list[Piece]) -> Piece:
    """a/b: products may stand above the line as they are, only a single factor below it."""
    unsigned = above[1:] if above and above[0].role is Role.SIGN else above
    over = above if _factors(unsigned) else [bracketed(above)]
    under = below if _factors(below) == 1 else [bracketed(below)]
    text = join([*over, Piece("/", Role.TIGHT), *under])
    return Piece(text, Role.FRACTION, closed=f"({text})")


def _factors(pieces: list[Piece]) -> int:
    """How many factors a product has; 0 for anything looser than a product of plain factors."""
    pieces = [piece for piece in pieces if piece.role is not Role.SPACE]
    count = depth = 0
    for at, piece in enumerate(pieces):
        if piece.role is Role.OPEN:
            count += depth == 0
            depth += 1
        elif piece.role is Role.CLOSE:
            depth -= 1
        elif depth:
            continue
        elif piece.role in (Role.FACTOR, Role.RADICAL) or (piece.role is Role.WORD and len(pieces) == 1):
            count += 1
        elif not (piece.role is Role.WORD and at == 0 and pieces[1].role is Role.OPEN):
            return 0
    return count


def join(pieces: Sequence[Piece]) -> str:
    """The pieces on one line: spaces as typed and where needed, the same on both sides of an operator."""
    row: list[Piece] = []
    gaps: list[str] = []
    gap = ""
    for piece in pieces:
        if piece.role is Role.SPACE:
            gap = max(gap, piece.text, key=len)
        else:
            row.append(piece)
            gaps.append(gap)
            gap = ""
    gaps.append("")
    for at, piece in enumerate(row):
        if piece.role not in OPERATORS:
            continue
        if _is_unary(row, gaps, at):
            gaps[at + 1] = ""
        else:
            gaps[at] = gaps[at + 1] = max(gaps[at], gaps[at + 1], key=len)
    for at in range(1, len(row)):
        if row[at - 1].role is Role.OPEN or row[at].role is Role.CLOSE:
            gaps[at] = ""
        elif not gaps[at] and _needs_space(row[at - 1], row[at]):
            gaps[at] = " "
    gaps[0] = ""
    gaps[len(row)] = ""
    return "".join(
        gaps[at] + (piece.closed if piece.closed and _runs_on(row, gaps, at) else piece.text)
        for at, piece in enumerate(row)
    )


def _is_unary(row: list[Piece], gaps: list[str], at: int) -> bool:
    if row[at].role is not Role.SIGN:
        return False
    if not at:
        return True
    before = row[at - 1]
    if before.role is Role.WORD:  # log −x, but new − old
        return bool(gaps[at]) and not gaps[at + 1]
    return before.role in {Role.OPEN, Role.BIG, *OPERATORS} or before.text == ","


def _needs_space(left: Piece, right: Piece) -> bool:
    """Whether two neighbours would read as something else when they touch."""
    if not left.text or not right.text:
        return False
    if left.role is Role.BIG:
        return right.role in OPERANDS
    if left.role is Role.WORD:
        return right.role in OPERANDS - {Role.FRACTION} and right.text[0] != "("
    if right.role is Role.WORD:
        return left.role in {*OPERANDS, Role.CLOSE}
    if Role.FRACTION in (left.role, right.role):
        return False  # it comes in brackets
    if _BARE_SCRIPT.search(left.text):
        return right.text[0].isalnum()
    return left.text[-1].isdigit() and right.text[0].isdigit()


def _runs_on(row: list[Piece], gaps: list[str], at: int) -> bool:
    """Whether the piece needs its closed form between these neighbours."""
    nothing = Piece("", Role.SPACE)
    before = row[at - 1] if at and len(gaps[at]) < 2 else nothing
    after = row[at + 1] if at + 1 < len(row) and len(gaps[at + 1]) < 2 else nothing
    if row[at].role is Role.FRACTION:
        return (
            before.role in {*OPERANDS, Role.CLOSE} - {Role.BIG}
            or before.text == "/"
            or after.role in {*OPERANDS, Role.OPEN, Role.TIGHT}
        )
    if gaps[at + 1]:
        return False
    if row[at].role is Role.RADICAL:
        return after.role in {*OPERANDS, Role.OPEN} or after.text == "/"
    return after.text == "/" and "^" in row[at].text
