"""What a running demo says, one JSON object a line, read with suspicion.

A child's output is data from outside: every field's type is checked, every text is cleaned, and a line that
does not fit is `Noise` with the reason. Nothing here raises on any input.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, NoReturn, cast

from fatutor.text.clean import clean, clean_line

VERSION = 1
OTHER_VERSION = f"not version {VERSION} of the wire"
"""Why an event of another version is noise."""
LINE_CAP = 256 * 1024
"""The longest line that is read, in bytes."""
TEXT_CAP = 8 * 1024
"""The longest text in it, in characters."""

Verdict = Literal["confirmed", "refuted"]
Scalar = bool | int | float | str


@dataclass(frozen=True, slots=True)
class Started:
    """The child is ready: where it runs, with what, and what it is going to do."""

    demo: str
    device: str
    device_name: str = ""
    versions: Mapping[str, str] = field(default_factory=dict)
    params: Mapping[str, Scalar] = field(default_factory=dict)
    plan: str = ""
    at: str = ""


@dataclass(frozen=True, slots=True)
class Progress:
    """`done` of `total` steps; a total of None means that the end is not known."""

    done: float
    total: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the table. A number is None where that witness has nothing to say."""

    name: str
    formula: float | None = None
    measured: float | None = None
    unit: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Series:
    """One curve: as many x as y."""

    name: str
    x: tuple[float, ...]
    y: tuple[float, ...]
    x_unit: str = ""
    y_unit: str = ""


@dataclass(frozen=True, slots=True)
class Call:
    """One call of attention: which implementation, and the shape. `dtype` is "float16" or another.

    `name` is what people call it there; calls that do the same are equal under any name.
    """

    name: str = field(compare=False)
    impl: str
    n: int
    d: int
    heads: int
    dtype: str


@dataclass(frozen=True, slots=True)
class Result:
    """The verdict on the claim. `formula` and `measured` are in `unit`; `answer` is the right choice.

    `calls` are what the claim is about, so that a GPU's counters for the same calls can stand beside it.
    """

    verdict: Verdict
    quantity: str = ""
    formula: float | None = None
    measured: float | None = None
    unit: str = ""
    why: str = ""
    derivation: str = ""
    limits: str = ""
    spread: float | None = None
    answer: str = ""
    calls: tuple[Call, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Failed:
    """The run ended without a verdict: what happened, and what to do about it."""

    what: str
    way_out: str = ""


@dataclass(frozen=True, slots=True)
class Noise:
    """A line that is no event: why it was not read, and its beginning, cleaned."""

    reason: str
    text: str


Event = Started | Progress | Row | Series | Result | Failed


def read_event(line: str | bytes) -> Event | Noise:
    """The event on one line of a child's stdout, or Noise with the reason."""
    if len(line) > LINE_CAP:
        return Noise(f"a line of more than {LINE_CAP // 1024} KiB", _shown(line))
    try:
        said: object = json.loads(_text(line), parse_constant=_not_finite)
    except (ValueError, RecursionError):
        return Noise("not JSON", _shown(line))
    if not isinstance(said, dict):
        return Noise("not a JSON object", _shown(line))
    fields = Fields(cast("Mapping[str, object]", said))
    try:
        if fields.number("v") != VERSION:
            return Noise(OTHER_VERSION, _shown(line))
        read = _READERS.get(fields.word("event"))
        return Noise("an unknown event", _shown(line)) if read is None else read(fields)
    except WireError as error:
        return Noise(str(error), _shown(line))


class WireError(Exception):
    """A field is missing or of the wrong type."""


@dataclass(frozen=True, slots=True)
class Fields:
    """The members of one JSON object. Each method gives one, checked and cleaned, or raises WireError."""

    said: Mapping[str, object]

    def word(self, name: str) -> str:
        """A text of one line that must be there and must not be empty."""
        if not (text := self.line(name)):
            raise WireError(f"no {name}")
        return text

    def line(self, name: str) -> str:
        """A text of one line; empty where it is left out."""
        return clean_line(self._prose(name))

    def text(self, name: str) -> str:
        """A text of any number of lines; empty where it is left out."""
        return clean(self._prose(name)).strip()

    def number(self, name: str) -> float:
        if (number := self.maybe_number(name)) is None:
            raise WireError(f"no {name}")
        return number

    def maybe_number(self, name: str) -> float | None:
        """A finite number, or None where it is null or left out."""
        value = self.said.get(name)
        return None if value is None else _finite(name, value)

    def count(self, name: str) -> int:
        """A whole number that is not negative, and must be there."""
        if (number := self.number(name)) < 0 or not number.is_integer():
            raise WireError(f"{name} is not a count")
        return int(number)

    def numbers(self, name: str) -> tuple[float, ...]:
        return tuple(_finite(name, value) for value in self.items(name))

    def items(self, name: str, default: Sequence[object] | None = None) -> Sequence[object]:
        """A list, or the default where it is null or left out."""
        value = self.said.get(name)
        if value is None and default is not None:
            return default
        if not isinstance(value, list):
            raise WireError(f"{name} is not a list")
        return cast("list[object]", value)

    def scalars(self, name: str) -> dict[str, Scalar]:
        """A flat object of texts, numbers and truth values; empty where it is left out."""
        return {key: scalar(name, value) for key, value in self.members(name).items()}

    def members(self, name: str) -> dict[str, object]:
        value = self.said.get(name)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise WireError(f"{name} is not an object")
        return {clean_line(key): member for key, member in cast("dict[str, object]", value).items()}

    def _prose(self, name: str) -> str:
        value = self.said.get(name)
        if value is None:
            return ""
        if not isinstance(value, str):
            raise WireError(f"{name} is not a text")
        if len(value) > TEXT_CAP:
            raise WireError(f"{name} is longer than {TEXT_CAP} characters")
        return value


def scalar(name: str, value: object) -> Scalar:
    """A text (cleaned), a truth value or a finite number; WireError for anything else."""
    if isinstance(value, str):
        return clean_line(value[:TEXT_CAP])
    if isinstance(value, bool):
        return value
    number = _finite(name, value)
    return value if isinstance(value, int) else number


def member(said: object) -> Fields:
    """The fields of an object within a list or an object; WireError for anything else."""
    if not isinstance(said, dict):
        raise WireError("not an object")
    return Fields(cast("Mapping[str, object]", said))


def call(fields: Fields) -> Call:
    """The call that an object tells of, among other things perhaps; without a name it goes by its `impl`."""
    impl = fields.word("impl")
    n, d, heads = (fields.count(name) for name in ("n", "d", "heads"))
    return Call(fields.line("name") or impl, impl, n, d, heads, fields.word("dtype"))


def _finite(name: str, value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise WireError(f"{name} is not a number")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise WireError(f"{name} is not a finite number")
    return number


def _not_finite(word: str) -> NoReturn:
    raise ValueError(word)


def _text(line: str | bytes) -> str:
    return line.decode("utf-8", "replace") if isinstance(line, bytes) else line


def _shown(line: str | bytes) -> str:
    return clean_line(_text(line[:500]))


def _started(fields: Fields) -> Started:
    return Started(
        demo=fields.word("demo"),
        device=fields.word("device"),
        device_name=fields.line("device_name"),
        versions={name: str(version) for name, version in fields.scalars("versions").items()},
        params=fields.scalars("params"),
        plan=fields.text("plan"),
        at=fields.line("at"),
    )


def _progress(fields: Fields) -> Progress:
    done, total = fields.number("done"), fields.maybe_number("total")
    if done < 0 or (total is not None and total < 0):
        raise WireError("progress is negative")
    return Progress(done, total, fields.line("note"))


def _row(fields: Fields) -> Row:
    return Row(
        name=fields.word("name"),
        formula=fields.maybe_number("formula"),
        measured=fields.maybe_number("measured"),
        unit=fields.line("unit"),
        note=fields.line("note"),
    )


def _series(fields: Fields) -> Series:
    x, y = fields.numbers("x"), fields.numbers("y")
    if len(x) != len(y):
        raise WireError(f"a series with {len(x)} x and {len(y)} y")
    return Series(fields.word("name"), x, y, fields.line("x_unit"), fields.line("y_unit"))


def _result(fields: Fields) -> Result:
    verdict = fields.word("verdict")
    if verdict not in ("confirmed", "refuted"):
        raise WireError("verdict is neither confirmed nor refuted")
    return Result(
        verdict=verdict,
        quantity=fields.line("quantity"),
        formula=fields.maybe_number("formula"),
        measured=fields.maybe_number("measured"),
        unit=fields.line("unit"),
        why=fields.text("why"),
        derivation=fields.text("derivation"),
        limits=fields.text("limits"),
        spread=fields.maybe_number("spread"),
        answer=fields.line("answer"),
        calls=tuple(call(member(said)) for said in fields.items("calls", ())),
        seconds=fields.maybe_number("seconds") or 0.0,
    )


def _failed(fields: Fields) -> Failed:
    return Failed(fields.word("what"), fields.line("way_out"))


_READERS: Mapping[str, Callable[[Fields], Event]] = {
    "start": _started,
    "progress": _progress,
    "row": _row,
    "series": _series,
    "result": _result,
    "error": _failed,
}
