"""What a card comment says: `id=… kind=…` and the rest, each value judged as it is read."""

from __future__ import annotations

import contextlib
import math
import re
from dataclasses import dataclass
from enum import StrEnum
from typing import TypeVar

from fatutor.deck.expressions import evaluate
from fatutor.deck.faults import Faults, listed, nearest, quoted
from fatutor.deck.functions import ExpressionError, is_number
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import AnswerForm, Kind, Level, Response

ID = re.compile(r"[a-z0-9][a-z0-9-]{2,63}")
_ATTRIBUTE = re.compile(r"\s*(?:([\w-]+)=(\"[^\"]*\"|'[^']*'|[^\s\"']\S*|)(?=\s|$)|(\S+))")
_TARGET = re.compile(r"(?=\d)(?:(\d{1,2})m)?(?:(\d{1,4})s)?")
_TOLERANCE = re.compile(r"(\d+(?:\.\d+)?)\s*%|(0?\.\d+|0)")
_NUMBER_ONLY = ("value", "unit", "tolerance")
_KEYS = ("id", "kind", "level", "difficulty", "target", "tags", "after", "demo", "answer", *_NUMBER_ONLY)
_Choice = TypeVar("_Choice", bound=StrEnum)


@dataclass(frozen=True, slots=True)
class Attributes:
    """The attributes of one card. `id` is empty where the comment names none."""

    id: str
    kind: Kind
    response: Response
    level: Level | None
    difficulty: int | None
    target_seconds: int
    tags: tuple[str, ...]
    demo: str | None
    after: tuple[str, ...] = ()


def read(text: str, line: int, hardware: Hardware, faults: Faults) -> Attributes | None:
    """Read the inside of a card comment, or None where its kind cannot be told; the rest is in `faults`."""
    reader = _Reader(pairs(text, line, faults), line, faults)
    reader.warn_of_unknown()
    kind = reader.one_of("kind", Kind)
    if "kind" not in reader.values:
        faults.fault(line, "this card says no kind", f"add kind={listed(Kind)}")
    response = reader.response(hardware)
    level = reader.one_of("level", Level)
    difficulty = reader.difficulty()
    target = reader.target()
    tags = reader.words("tags")
    after = reader.after()
    identity = reader.identity()
    if kind is None:
        return None
    demo = reader.values.get("demo") or None
    return Attributes(identity, kind, response, level, difficulty, target, tags, demo, after)


def pairs(text: str, line: int, faults: Faults) -> dict[str, str]:
    """The `key=value` pairs; quotes around a value go."""
    pairs: dict[str, str] = {}
    for match in _ATTRIBUTE.finditer(text):
        key, value, junk = match.groups()
        if junk:
            faults.fault(
                line,
                f"{quoted(junk)} in the card comment is no key=value",
                'write key=value or key="two words"',
            )
        elif key in pairs:
            faults.fault(line, f"{key} is there twice in the card comment", "keep one of them")
        else:
            pairs[key] = value[1:-1] if value[:1] in ("'", '"') else value
    return pairs


@dataclass(frozen=True, slots=True)
class _Reader:
    values: dict[str, str]
    line: int
    faults: Faults

    def _fault(self, key: str, cure: str) -> None:
        self.faults.fault(self.line, f"{key}={self.values[key]} cannot be read", f"write {cure}")

    def warn_of_unknown(self) -> None:
        for key in self.values:
            if key not in _KEYS:
                meant = nearest(key, _KEYS)
                cure = f"did you mean {meant}?" if meant else f"the keys are {listed(_KEYS)}"
                self.faults.warn(self.line, f"unknown key {quoted(key)} in the card comment", cure)

    def identity(self) -> str:
        if "id" in self.values and not ID.fullmatch(self.values["id"]):
            self._fault("id", "3 to 64 lower-case letters, digits and hyphens, as in id=my-ridge-a100")
        return self.values.get("id", "")

    def words(self, key: str) -> tuple[str, ...]:
        return tuple(word.strip() for word in self.values.get(key, "").split(",") if word.strip())

    def after(self) -> tuple[str, ...]:
        """The ids of cards that come first."""
        ids = self.words("after")
        if not all(map(ID.fullmatch, ids)):
            self._fault("after", "ids of cards with a comma between them, as in after=ridge-a100,kernel-exp2")
        return ids

    def one_of(self, key: str, choices: type[_Choice]) -> _Choice | None:
        value = self.values.get(key)
        if value is None:
            return None
        with contextlib.suppress(ValueError):
            return choices(value)
        meant = nearest(value, choices)
        self._fault(key, f"{key}={meant}" if meant else f"{key}={listed(choices)}")
        return None

    def difficulty(self) -> int | None:
        value = self.values.get("difficulty")
        if value is None:
            return None
        if value in tuple("12345"):
            return int(value)
        self._fault("difficulty", "difficulty=1 (easy) to difficulty=5")
        return None

    def target(self) -> int:
        value = self.values.get("target")
        if value is None:
            return 60
        match = _TARGET.fullmatch(value)
        seconds = 60 * int(match[1] or 0) + int(match[2] or 0) if match else 0
        if not seconds:
            self._fault("target", "a time such as target=60s, target=2m or target=1m30s")
        return seconds

    def response(self, hardware: Hardware) -> Response:
        form = self.one_of("answer", AnswerForm) or AnswerForm.ALOUD
        if form is AnswerForm.NUMBER:
            return Response(form, self._value(hardware), self.values.get("unit", ""), self._tolerance())
        for key in _NUMBER_ONLY:
            if key in self.values and "answer" not in self.values:
                self._fault(key, f"answer=number before {key}=…, or leave it out")
            elif key in self.values:
                self._fault(key, f"answer=number in place of answer={form}, or leave {key} out")
        return Response(form)

    def _value(self, hardware: Hardware) -> float | None:
        text = self.values.get("value")
        if text is None:
            self.faults.fault(self.line, "answer=number needs the right number", "add value=…")
            return None
        try:
            value = evaluate(text, hardware)
            figure = float(value) if is_number(value) and not isinstance(value, bool) else math.nan
        except ExpressionError as error:
            what = f"value={quoted(text)} cannot be worked out: {error.what}"
            self.faults.fault(self.line, what, error.way_out)
            return None
        except OverflowError:
            figure = math.inf
        if math.isfinite(figure):
            return figure
        self._fault("value", 'a number, or arithmetic in quotes as in value="312e12/2.0e12"')
        return None

    def _tolerance(self) -> float:
        text = self.values.get("tolerance")
        if text is None:
            return 0.0
        match = _TOLERANCE.fullmatch(text)
        share = (float(match[1]) / 100 if match[1] else float(match[2])) if match else 1.0
        if share >= 1:
            self._fault("tolerance", "a share of the value under 100%, as in tolerance=5%")
        return share
