"""Numbers that no check covers: a list to look through, since not every number wants a proof.

A number counts as covered where its digits stand in a check of its card, or of its own run of prose between
two cards. Digits are what is compared, without separators, sign and power of ten: 27 % is covered by 0.27,
312 TFLOP/s by 312e12, 16K by 16384. What a card's prompt gives need not be proved in its answer. Left out
are whole numbers below ten without a unit, years and dates, digits that belong to a name, as in A100 or
beat 07, and the shapes for which a claim is made: N = 16384, d = 128.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from fatutor.deck import attributes, front_matter, outline, sections
from fatutor.deck.expressions import evaluate
from fatutor.deck.faults import Faults
from fatutor.deck.functions import ExpressionError, is_number
from fatutor.deck.model import Check, Place
from fatutor.deck.scan import Line, LineKind, scan, unify

_NUMBER = re.compile(
    r"""(?<![\w.,:/^-])(?<!arXiv\ )(?<!\d[ ])(?<!\bN\ =\ )(?<!\bd\ =\ )
    (?P<digits> \d{1,3}(?:[ ,\u00a0\u202f]\d{3})+(?:\.\d+)? | \d+(?:\.\d+)?(?:e-?\d+)? | \.\d+ )
    (?P<power> [⁰¹²³⁴⁵⁶⁷⁸⁹]+ )?
    (?P<unit> K\b | \s?[%×] )?
    (?! \w|[.,:]\d|-\d )""",
    re.VERBOSE,
)
_YEAR = re.compile(r"(?:19|20)\d\d")
_CODE = re.compile(r"`[^`]*`")
_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
_SHOWN = ("", "text")  # languages of fences that are read as text
_UNREAD = ("Check", "Choices", "Source")
_AROUND = 30  # characters of context on each side


class Uncovered(NamedTuple):
    """A number as it was written, and the words around it."""

    place: Place
    number: str
    context: str

    def __str__(self) -> str:
        return f"{self.place}: {self.number}, in “{self.context}”"

    def as_json(self) -> dict[str, object]:
        """One of the `numbers` that `fatutor check --numbers --json` prints."""
        return {
            "path": self.place.path,
            "line": self.place.line,
            "number": self.number,
            "context": self.context,
        }


def uncovered(text: str, path: str) -> Iterator[Uncovered]:
    """The numbers of one deck file that no check covers, from top to bottom."""
    split = front_matter.split(unify(text))
    if split is None:
        return
    by_term = front_matter.read(split.yaml, Faults(path)).is_glossary
    pieces = outline.stretches(scan(split.body, split.first).lines)
    for is_card, group in groupby(pieces, key=lambda piece: outline.card_comment(piece) is not None):
        runs = list(group)
        if not is_card and not by_term:
            runs = [[line for piece in runs for line in piece]]
        for lines in runs:
            yield from _in_run(lines, is_card, path)


def _in_run(lines: Sequence[Line], is_card: bool, path: str) -> Iterator[Uncovered]:
    covered = _covered(sections.checks(lines, Faults(path), in_card=is_card))
    in_prompt = is_card
    for line in _read(lines):
        if line.kind is LineKind.HEADING and line.level == 3:
            in_prompt = False
        if line.kind is LineKind.CARD:
            value = attributes.pairs(line.value, line.number, Faults(path)).get("value", "")
            covered |= _covered([Check(value, "", line.number)])
            continue
        for match in _NUMBER.finditer(_CODE.sub(lambda code: " " * len(code[0]), line.text)):
            keys = _keys(match)
            if in_prompt:
                covered |= keys
            elif keys and not keys & covered:
                yield Uncovered(Place(path, line.number), match[0].strip(), _context(line.text, match))


def _read(lines: Iterable[Line]) -> Iterator[Line]:
    """The lines that somebody reads for what they claim: no checks, no program code, no sources."""
    in_section = in_code = False
    for line in lines:
        if line.kind is LineKind.HEADING and line.level <= 3:
            in_section = line.level == 3 and line.value in _UNREAD
        elif line.kind is LineKind.FENCE:
            in_code = line.value not in _SHOWN
        is_text = line.kind in (LineKind.TEXT, LineKind.HEADING, LineKind.CARD)
        if not in_section and (is_text or (line.kind is LineKind.CODE and not in_code)):
            yield line


def _context(text: str, match: re.Match[str]) -> str:
    before, after = text[: match.start()], text[match.end() :]
    start = before.rfind(" ", 0, max(0, len(before) - _AROUND)) + 1
    end = after.find(" ", _AROUND)
    return f"{before[start:]}{match[0]}{after if end < 0 else after[:end]}".strip(" |")


def _keys(match: re.Match[str]) -> set[str]:
    """What may cover a number: the digits of its value, none where it need not be covered."""
    digits = re.sub(r"[ ,\u00a0\u202f]", "", match["digits"])
    unit = (match["unit"] or "").strip()
    if match["power"]:
        return _of_power(f"{digits}**{match['power'].translate(_SUPERSCRIPTS)}")
    is_count = digits.isdecimal() and (len(digits) == 1 or digits[0] == "0") and not unit
    if is_count or (_YEAR.fullmatch(match["digits"]) and not unit):
        return set()
    keys = {_digits(digits)}
    return keys | {_digits(str(int(digits) * 1024))} if unit == "K" and digits.isdecimal() else keys


def _digits(number: str) -> str:
    """The significant digits of a number, without sign, point and power of ten."""
    mantissa = number.lower().partition("e")[0].replace(".", "").lstrip("-0")
    return mantissa.rstrip("0")


def _covered(checks: Iterable[Check]) -> set[str]:
    return {key for check in checks for key in _of_expression(check.expression)}


def _of_expression(expression: str) -> set[str]:
    """The digits of every number that an expression writes down, and of every power of two such numbers."""
    try:
        nodes = list(ast.walk(ast.parse(expression.strip(), mode="eval")))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return set()
    keys: set[str] = set()
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)):
            keys.add(_digits(repr(node.value)))
        elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            keys |= _of_power(ast.unparse(node))
    return keys


def _of_power(expression: str) -> set[str]:
    """The digits of what a power comes to; none where it cannot be worked out."""
    try:
        value = evaluate(expression, {})
    except ExpressionError:
        return set()
    return {_digits(repr(value))} if is_number(value) else set()
