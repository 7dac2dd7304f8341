"""What an expression may call, each with a bound on what it costs and on how large its result gets."""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Collection, Mapping
from typing import TypeGuard

from fatutor.errors import FatutorError

MAX_STEPS = 100_000  # nodes visited, values compared, factors multiplied
MAX_BITS = 4096  # of a whole number
MAX_DIGITS = 400  # that round() is asked for; no float has as many

Number = int | float
Function = Callable[..., object]
"""Takes the budget, then the values it is called with."""


class ExpressionError(FatutorError):
    """An expression that cannot be read or worked out."""


class Budget:
    """What is left to one expression."""

    def __init__(self) -> None:
        self.steps = MAX_STEPS

    def spend(self, steps: int) -> None:
        self.steps -= steps
        if self.steps < 0:
            raise ExpressionError(
                "the expression takes too many steps", "count with a formula, or over a shorter range"
            )

    def bounded(self, value: object) -> Number:
        """The value, if it is a real number of a size that can be shown."""
        if not is_number(value):
            raise ExpressionError(
                "the result is not a real number", "keep roots and logarithms to positive numbers"
            )
        if isinstance(value, int) and value.bit_length() > MAX_BITS:
            raise too_large()
        return value


def is_number(value: object) -> TypeGuard[Number]:
    return isinstance(value, int | float)


def is_collection(value: object) -> TypeGuard[Collection[object]]:
    return isinstance(value, list | tuple | set | range)


def number(value: object) -> Number:
    if not is_number(value):
        raise ExpressionError(
            "a collection stands where a number belongs", "compute with its elements in a loop"
        )
    return value


def whole(value: object) -> int:
    if not isinstance(value, int):
        raise ExpressionError("a whole number is needed where there is none", "wrap it in int(…) or round(…)")
    return value


def too_large() -> ExpressionError:
    return ExpressionError(
        "a number in it gets too large", "stay under 1e308, and write powers of ten as 1e30"
    )


def power(budget: Budget, base: Number, exponent: Number) -> Number:
    """`base ** exponent`, refused before it is computed where the result would be too large."""
    bits = base.bit_length() - 1 if isinstance(base, int) and isinstance(exponent, int) else 0
    if bits * exponent > MAX_BITS:
        raise too_large()
    return budget.bounded(operator.pow(base, exponent))


def _plain(function: Callable[[Number, Number], Number]) -> Callable[[Budget, Number, Number], Number]:
    return lambda budget, left, right: budget.bounded(function(left, right))


OPERATORS: Mapping[type[ast.operator], Callable[[Budget, Number, Number], Number]] = {
    ast.Add: _plain(operator.add),
    ast.Sub: _plain(operator.sub),
    ast.Mult: _plain(operator.mul),
    ast.Div: _plain(operator.truediv),
    ast.FloorDiv: _plain(operator.floordiv),
    ast.Mod: _plain(operator.mod),
    ast.Pow: power,
}
ORDERS: Mapping[type[ast.cmpop], Callable[[Number, Number], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_OF_MATH = (
    *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "hypot", "gamma", "lgamma"),
    *("ceil", "floor", "trunc", "fabs", "fmod", "copysign", "isqrt", "gcd", "lcm", "erf", "erfc"),
    *("sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "degrees", "radians"),
    *("isfinite", "isinf", "isnan"),
)


def _of_math(name: str) -> Function:
    function: Callable[..., object] = getattr(math, name)
    return lambda budget, *arguments: budget.bounded(function(*map(number, arguments)))


def _factorial(budget: Budget, n: object) -> object:
    if (n := whole(n)) > MAX_BITS:
        raise too_large()
    budget.spend(max(0, n))
    return budget.bounded(math.factorial(n))


def _comb(budget: Budget, n: object, k: object) -> object:
    if (n := whole(n)) > MAX_BITS:
        raise too_large()
    budget.spend(max(0, n))
    return budget.bounded(math.comb(n, whole(k)))


def _isclose(
    budget: Budget, a: object, b: object, *, rel_tol: object = 1e-9, abs_tol: object = 0.0
) -> object:
    return math.isclose(number(a), number(b), rel_tol=number(rel_tol), abs_tol=number(abs_tol))


def _round(budget: Budget, value: object, digits: object = None) -> object:
    if digits is None:
        return budget.bounded(round(number(value)))
    if abs(whole(digits)) > MAX_DIGITS:
        raise too_large()
    return budget.bounded(round(number(value), whole(digits)))


def _range(budget: Budget, *bounds: object) -> object:
    numbers = range(*map(whole, bounds))
    # len() itself fails beyond 2**63, so compare through slicing, which does not.
    if numbers[MAX_STEPS:]:
        raise ExpressionError(f"a range has more than {MAX_STEPS} numbers", "count with a formula")
    return numbers


def _numbers(budget: Budget, *values: object) -> list[Number]:
    """The numbers that a call such as `max(a, b)` or `max([a, b])` is about."""
    elements = values[0] if len(values) == 1 and is_collection(values[0]) else values
    budget.spend(len(elements))
    return [number(element) for element in elements]


def _len(budget: Budget, value: object) -> object:
    if not is_collection(value):
        raise ExpressionError("len() is asked for a number", "give it a collection")
    return len(value)


FUNCTIONS: Mapping[str, Function] = {
    "abs": lambda budget, value: abs(number(value)),
    "float": lambda budget, value=0: float(number(value)),
    "int": lambda budget, value=0: budget.bounded(int(number(value))),
    "len": _len,
    "max": lambda budget, *values: max(_numbers(budget, *values)),
    "min": lambda budget, *values: min(_numbers(budget, *values)),
    "range": _range,
    "round": _round,
    "sum": lambda budget, values: budget.bounded(sum(_numbers(budget, values))),
}
MATH: Mapping[str, Function] = {
    **{name: _of_math(name) for name in _OF_MATH},
    "comb": _comb,
    "factorial": _factorial,
    "isclose": _isclose,
    "pow": lambda budget, base, exponent: power(budget, float(number(base)), float(number(exponent))),
}
BARE = ("exp", "log", "log2", "sqrt", "ceil", "floor", "comb", "factorial", "erf", "isclose")
CONSTANTS: Mapping[str, float] = {"pi": math.pi, "e": math.e, "inf": math.inf}
