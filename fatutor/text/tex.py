r"""Simple TeX as one line of readable Unicode: `\frac{QK^\top}{\sqrt{d}}` reads QKᵀ/√d.

Two rules keep it honest. Where one line would read differently from what was typeset, brackets or a space are
put in: M/(4d), e^(m − m′), (a/b)c, log N. And nothing is guessed at: a formula with one unknown command comes
back exactly as typed.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import replace

from fatutor.text import tex_symbols as sym
from fatutor.text.tex_line import (
    OPERATORS,
    Piece,
    Role,
    bracketed,
    fraction,
    in_brackets,
    join,
    named,
    piece_of,
)

_TOKEN = re.compile(
    r"\\[A-Za-z]+|\\.|[0-9]+(?:\.[0-9]+)?|[<>=!:]=+|->|'+|\s+"
    f"|[{''.join(sym.SUPERSCRIPTS.values())}]+|[{''.join(sym.SUBSCRIPTS.values())}]+|.",
    re.DOTALL,
)
_TYPED = {"-": "−", "->": "→", ":=": "≔", "!=": "≠", "<=": "≤", ">=": "≥"}
_NAME = re.compile(r"[A-Za-z0-9\u0391-\u03c9]+")
_UPRIGHT = re.compile(r"[A-Za-z0-9 ./+-]*")
_ESCAPED = re.compile(r"\\([_%$#&{}])")


class _UnknownError(Exception):
    """Something in the formula is beyond this reader."""


def to_unicode(formula: str) -> str:
    """The formula, given without its dollars, on one line; as typed where any of it is not understood."""
    try:
        return join(_Reader(formula).sequence(closing=""))
    except (_UnknownError, RecursionError):  # the reader recurses into groups
        return formula


class _Reader:
    """Reads one formula from left to right."""

    def __init__(self, formula: str) -> None:
        self.tokens: list[str] = _TOKEN.findall(formula)
        self.at = 0

    def peek(self) -> str:
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        token = self.peek()
        self.at += 1
        return token

    def sequence(self, closing: str) -> list[Piece]:
        """The pieces up to a closing token, which is taken too; "" stands for the end of the formula."""
        pieces: list[Piece] = []
        while (token := self.take()) != closing:
            if token in ("^", "_"):
                pieces.append(self.script(_pop_base(pieces), token))
            elif token[:1] == "'":
                pieces.append(_pop_base(pieces).carrying("′" * len(token)))
            elif token[:1] in sym.SCRIPTS:
                pieces.append(_pop_base(pieces).carrying(token, sym.SCRIPTS[token[0]]))
            else:
                found = self.unit(token)
                names = token == "{" and len(found) > 1 and pieces and pieces[-1].role is Role.WORD
                pieces += [bracketed(found)] if names else found  # \exp{-x} applies to all of the group
        return pieces

    def unit(self, token: str) -> list[Piece]:
        """What one token stands for, together with the arguments it takes."""
        if token == "{":
            pieces = self.group()
            return [bracketed(pieces)] if len(pieces) > 1 and self.peek() in ("^", "_") else pieces
        if token in ("", "}", "&", "\\", "\\\\"):
            raise _UnknownError
        if token.isspace() or token == "~":
            return [Piece(" ", Role.SPACE)]
        if token[0] == "\\":
            return self.command(token[1:])
        return [piece_of(_TYPED.get(token, token))]

    def group(self) -> list[Piece]:
        """The rest of a group whose brace is open, without the spaces at its ends."""
        pieces = self.sequence(closing="}")
        solid = [at for at, piece in enumerate(pieces) if piece.role is not Role.SPACE]
        return pieces[solid[0] : solid[-1] + 1] if solid else []

    def argument(self) -> list[Piece]:
        """One token or one group; of a number only the first digit, as TeX has it."""
        while self.peek().isspace():
            self.at += 1
        token = self.take()
        if len(token) > 1 and token[0].isdigit():
            self.at -= 1
            self.tokens[self.at] = token[1:]
            token = token[0]
        if token in ("^", "_"):
            raise _UnknownError
        pieces = self.group() if token == "{" else self.unit(token)
        if token != "{" and not pieces:
            raise _UnknownError
        return pieces

    def verbatim(self) -> str:
        """A group as typed."""
        if self.take() != "{":
            raise _UnknownError
        start, depth = self.at, 1
        while depth:
            token = self.take()
            if not token:
                raise _UnknownError
            depth += (token == "{") - (token == "}")
        return "".join(self.tokens[start : self.at - 1])

    def command(self, name: str) -> list[Piece]:
        if name in sym.SYMBOLS:
            return [piece_of(sym.SYMBOLS[name])]
        if name in sym.FUNCTIONS:
            return [Piece(name, Role.WORD)]
        if name in sym.SPACES:
            return [Piece(sym.SPACES[name], Role.SPACE)]
        if name in sym.FRACTIONS:
            return [fraction(self.argument(), self.argument())]
        if name == "sqrt":
            return [self.radical()]
        if name in sym.UPRIGHT:
            return self.upright()
        if name in sym.TEXTS:
            return self.words()
        if name in sym.LETTERS:
            return self.argument()
        if name in sym.ACCENTS:
            return [_accented(self.argument(), sym.ACCENTS[name])]
        if name == "mathbb":
            return [piece_of(_mapped(join(self.argument()), sym.BLACKBOARD))]
        if name in sym.SIZES:
            if self.peek() == ".":  # an invisible bracket
                self.at += 1
            return []
        if name in sym.SILENT:
            return []
        raise _UnknownError

    def script(self, base: Piece, mark: str) -> Piece:
        text = join(self.argument())
        raised = mark == "^"
        if raised and text in sym.RAISED:
            return base.carrying(sym.RAISED[text])
        try:
            table = sym.SUPERSCRIPTS if raised else sym.SUBSCRIPTS
            return base.carrying(_mapped(text.replace(" ", ""), table), mark)
        except _UnknownError:
            pass
        closed = base.carrying(mark + in_brackets(text), mark)
        if len(text) == 1 or (not raised and _NAME.fullmatch(text)):
            return replace(base.carrying(mark + text, mark), closed=closed.text)
        return closed

    def radical(self) -> Piece:
        degree = ""
        if self.peek() == "[":
            self.at += 1
            degree = _mapped(join(self.sequence(closing="]")), sym.SUPERSCRIPTS)
        body = join(self.argument())
        closed = f"{degree}√{in_brackets(body)}"
        text = f"{degree}√{body}" if len(body) == 1 or body.isdecimal() else closed
        return Piece(text, Role.RADICAL, closed)

    def upright(self) -> list[Piece]:
        if self.peek() == "*":
            self.at += 1
        start = self.at
        if self.peek() == "{" and _UPRIGHT.fullmatch(text := self.verbatim()):
            return [named(text.replace(" ", ""))]
        self.at = start
        return self.argument()

    def words(self) -> list[Piece]:
        text = _ESCAPED.sub(r"\1", self.verbatim())
        if "\\" in text:
            raise _UnknownError
        space = Piece(" ", Role.SPACE)
        pieces = [named(" ".join(text.split()))]
        return [space] * text[:1].isspace() + pieces + [space] * text[-1:].isspace()


def _mapped(text: str, table: dict[str, str]) -> str:
    try:
        return "".join(table[character] for character in text)
    except KeyError:
        raise _UnknownError from None


def _pop_base(pieces: list[Piece]) -> Piece:
    """Take off what a script belongs to: nothing, after an operator or an opening bracket."""
    while pieces and pieces[-1].role is Role.SPACE:
        pieces.pop()
    if pieces and pieces[-1].role not in {Role.OPEN, *OPERATORS}:
        return pieces.pop()
    return Piece("", Role.FACTOR)


def _accented(pieces: list[Piece], accent: str) -> Piece:
    if len(pieces) != 1 or not pieces[0].text[:1].isalpha() or pieces[0].role is not Role.FACTOR:
        raise _UnknownError
    text = pieces[0].text
    return Piece(unicodedata.normalize("NFC", text[0] + accent) + text[1:], Role.FACTOR)
