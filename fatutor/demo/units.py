"""Numbers with units, as people write and read them: 4.8 MB, 1,181,696, 256 GiB, 43 FLOP/B, 12 %."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

from fatutor.errors import FatutorError
from fatutor.text.clean import clean_line

_BINARY = {"ki": 2.0**10, "mi": 2.0**20, "gi": 2.0**30, "ti": 2.0**40, "pi": 2.0**50}
_LARGE = _BINARY | {"k": 1e3, "m": 1e6, "g": 1e9, "t": 1e12, "p": 1e15}
_SMALL = {"m": 1e-3, "u": 1e-6, "µ": 1e-6, "n": 1e-9}
_STEPS_UP = (("P", 1e15), ("T", 1e12), ("G", 1e9), ("M", 1e6), ("k", 1e3), ("", 1.0))
_STEPS_DOWN = (("", 1.0), ("m", 1e-3), ("µ", 1e-6), ("n", 1e-9))

# What people call the units that we know: what each measures, and how much of it one is. Lower case, since
# nobody means millibytes by "mb". Ratios measure "1". Any other unit is known by its own name.
_KNOWN: Mapping[str, tuple[str, float]] = {
    **dict.fromkeys(("b", "byte", "bytes"), ("B", 1.0)),
    **dict.fromkeys(("flop", "flops"), ("FLOP", 1.0)),
    **dict.fromkeys(("s", "sec", "second", "seconds"), ("s", 1.0)),
    **dict.fromkeys(("", "x", "×", "times"), ("1", 1.0)),
    **dict.fromkeys(("%", "percent", "per cent"), ("1", 0.01)),
}
_EXAMPLES = {
    "B": "2.5 MB or 65,536",
    "FLOP": "30 MFLOP or 3e7",
    "s": "3.2 ms",
    "FLOP/B": "43 FLOP/B",
    "FLOP/s": "600 TFLOP/s",
    "B/s": "4.8 TB/s",
}

_COUNTABLE = 1e12
_NO_BREAK_SPACE = "\u00a0"
_LOOKALIKES = {ord(space): " " for space in "\t\u00a0\u2007\u2009\u202f"} | {
    ord("−"): "-",
    ord("’"): "'",
    ord("μ"): "µ",
}
_LONGEST = 80
_TYPED = re.compile(
    r"[~≈]?\s*(?P<sign>[-+]?)"
    r"(?P<digits>[0-9](?:[0-9 _',.]*[0-9])?|[.,][0-9]+)"
    r"(?P<power>e[-+]?[0-9]{1,4})?\.?\s*(?P<unit>.*)",
    re.IGNORECASE,
)
# Groups of three, and the decimal point that goes with them. A lone dot never groups: 1.181 is near one.
_GROUPED = [
    re.compile(rf"(?P<whole>[1-9][0-9]{{0,2}}(?:{group}[0-9]{{3}})+)(?:{point}(?P<fraction>[0-9]+))?")
    for group, point in ((",", r"\."), ("[ _']", "[.,]"), (r"\.", ","))
]


def read_number(text: str, unit: str) -> float:
    """The number that a learner typed, in `unit`. Without a unit of its own it is taken to be in that one.

    Takes SI and binary prefixes, groups of three, exponents, and a decimal comma where it cannot be a
    group. Raises FatutorError, one line, for anything else and for a unit that measures something else.
    """
    text = clean_line(text)
    shown, way_out = f"“{text[:_LONGEST]}”", f"write it like {example(unit)}"
    typed = _TYPED.fullmatch(text.translate(_LOOKALIKES)) if len(text) <= _LONGEST else None
    digits = _decimal(typed["digits"]) if typed else None
    if typed is None or digits is None:
        raise FatutorError(f"{shown} is not a number", way_out)
    scale = _relative(typed["unit"], unit)
    if scale is None:
        raise FatutorError(f"{shown} is not in {unit or 'plain numbers'}", way_out)
    number = float(f"{typed['sign']}{digits}{typed['power'] or ''}") * scale
    if not math.isfinite(number):
        raise FatutorError(f"{shown} is too large", way_out)
    return number


def human(value: float, unit: str, like: float | None = None) -> str:
    """Three digits that count and a prefix: 4.78 MB, 3.2 ms, 43 FLOP/B.

    With `like`, in the prefix and to the decimals that fit that value, so that the bars of one chart
    compare: `human(262144, "B", like=4784128)` is 0.26 MB.
    """
    reference = value if like is None else like
    steps, scale, measures = _steps(unit)
    # Rounded first: 999 999 bytes are 1 MB, not 1000 kB.
    rounded = float(f"{abs(reference) * scale:.3g}")
    prefix, step = next((pair for pair in steps if rounded >= pair[1]), steps[-1] if rounded else ("", 1.0))
    digits = _digits(value * scale / step, reference * scale / step)
    if digits == "0" and value and like is not None:
        return human(value, unit)
    return _with_unit(digits, f"{prefix}{measures}")


def exact(value: float, unit: str) -> str:
    """A whole number to its last digit, grouped by no-break spaces: 4 784 128 B. Others as `human`.

    Nobody counts to a million millions: what is as large as that was measured, and has three digits too.
    """
    if not float(value).is_integer() or abs(value) >= _COUNTABLE:
        return human(value, unit)
    return _with_unit(f"{int(value):,}".replace(",", _NO_BREAK_SPACE), unit)


def _decimal(digits: str) -> str | None:
    """The digits with at most a decimal point in them; None where the separators make no sense."""
    if re.fullmatch(r"[0-9]*\.?[0-9]+", digits):
        return digits
    for grouped in _GROUPED:
        if found := grouped.fullmatch(digits):
            return f"{re.sub('[^0-9]', '', found['whole'])}.{found['fraction'] or 0}"
    return digits.replace(",", ".") if re.fullmatch(r"[0-9]*,[0-9]+", digits) else None


def _relative(typed: str, unit: str) -> float | None:
    """How many of `unit` one of the typed unit is; None where they measure different things."""
    if not typed:
        return 1.0
    known = _names(unit)
    measures, scale = _meaning(unit, known) or (unit, 1.0)
    if (large := _LARGE.get(typed.lower())) and (measures != "s" and (measures, scale) != ("1", 0.01)):
        return large / scale
    found = _meaning(typed, known)
    if found is None:
        return None
    # TFLOPS says "per second" with its last letter.
    if found[0] == measures or (f"{found[0]}/s" == measures and typed.lower().endswith("s")):
        return found[1] / scale
    return None


def _names(unit: str) -> Mapping[str, tuple[str, float]]:
    """The known names, and those of this unit where it is none of them."""
    names = dict(_KNOWN)
    for part in _parts(unit):
        if _part(part, names) is None:
            one = part.lower().removesuffix("s")
            names |= dict.fromkeys((part.lower(), one, f"{one}s"), (one, 1.0))
    return names


def _meaning(unit: str, names: Mapping[str, tuple[str, float]]) -> tuple[str, float] | None:
    """What a unit measures and how much of it one is: MB is 1e6 of B, TFLOP/s 1e12 of FLOP/s."""
    if whole := _part(unit, names):
        return whole
    found = [_part(part, names) for part in _parts(unit)]
    match found:
        case [(above, up), (below, down)]:
            return f"{above}/{below}", up / down
        case _:
            return None


def _parts(unit: str) -> list[str]:
    return [part.strip() for part in re.split(r"/| per (?!cent)", unit)]


def _part(word: str, names: Mapping[str, tuple[str, float]]) -> tuple[str, float] | None:
    word = word.strip().lower()
    if word in names:
        return names[word]
    for prefix in (*_LARGE, *_SMALL):
        found = names.get(word.removeprefix(prefix).strip()) if word.startswith(prefix) else None
        if found is None or found[0] == "1":
            continue
        steps = _SMALL if found[0] == "s" else _LARGE
        if prefix in steps:
            return found[0], found[1] * steps[prefix]
    return None


def _steps(unit: str) -> tuple[Sequence[tuple[str, float]], float, str]:
    """The prefixes that a unit is shown with, how much of the bare unit one is, and the bare unit."""
    measures, scale = _meaning(unit, _names(unit)) or (unit, 1.0)
    if measures == "s":
        return _STEPS_DOWN, scale, measures
    # A binary unit was asked for by name, and stays.
    decimal = scale in (step for _, step in _STEPS_UP)
    if decimal and measures in ("B", "FLOP", "B/s", "FLOP/s"):
        return _STEPS_UP, scale, measures
    return (("", 1.0),), 1.0, unit


def _digits(value: float, reference: float) -> str:
    """To three digits of the reference; whole numbers of the same size keep all of theirs."""
    if not value:
        return "0"
    size = math.floor(math.log10(abs(reference))) if reference else 0
    if not -4 < size < 12:
        mantissa, power = f"{value:.2e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(power)}"
    digits = f"{value:,.{max(0, 2 - size)}f}".replace(",", _NO_BREAK_SPACE)
    return digits.rstrip("0").rstrip(".") if "." in digits else digits


def _with_unit(digits: str, unit: str) -> str:
    if not unit:
        return digits
    return f"{digits}×" if unit in ("x", "×") else f"{digits} {unit}"


def example(unit: str) -> str:
    """How a number in that unit may be written. No figure here answers a demo."""
    if unit in ("x", "×"):
        return "2.5x"
    if unit == "%":
        return "12 %"
    measures, scale = _meaning(unit, _names(unit)) or (unit, 1.0)
    if scale in _BINARY.values():
        return f"12 {unit}"
    return _EXAMPLES.get(measures, f"65,536 {unit}".strip() + " or 1.2e6")
