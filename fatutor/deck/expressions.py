"""Arithmetic that decks may write: a small evaluator that computes, and can do nothing else.

Python parses an expression, and the tree is walked here node by node; what is not listed is refused. Nothing
can run long either: each node visited costs a step, whole numbers stay under 4096 bits, and a collection
holds no more than its steps have paid for, so `9**9**9` or nested loops end in a clear line.
"""

from __future__ import annotations

import ast
import reprlib
import warnings
from collections.abc import Iterator, Mapping, Sequence

from fatutor.deck.faults import listed, nearest, quoted
from fatutor.deck.functions import (
    BARE,
    CONSTANTS,
    FUNCTIONS,
    MATH,
    OPERATORS,
    ORDERS,
    Budget,
    ExpressionError,
    Function,
    is_collection,
    number,
    too_large,
)
from fatutor.deck.hardware import Hardware
from fatutor.deck.model import Check

MAX_LENGTH = 1000  # characters of an expression
MAX_DEPTH = 100  # of nested parentheses, calls and loops; a sum of n terms is n deep

_SIGNS: Mapping[type[ast.cmpop], str] = {
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
_REFUSED: Mapping[type[ast.AST], str] = {
    ast.Lambda: "a lambda",
    ast.NamedExpr: "an assignment",
    ast.JoinedStr: "an f-string",
    ast.Subscript: "an index in square brackets",
    ast.Dict: "a dictionary",
    ast.DictComp: "a dictionary",
    ast.Starred: "a star before a value",
    ast.Attribute: "a dot",
}
_CURE = "write arithmetic with numbers, math functions and the hardware table"


def evaluate(expression: str, hardware: Hardware) -> object:
    """The value of an expression: a number, a truth value, or a collection of them.

    Raises ExpressionError where it cannot be read, is refused, or would take too long.
    """
    tree = _parse(expression)
    try:
        return _Evaluator(hardware).value(tree, {}, 0)
    except RecursionError:
        raise _too_deep() from None
    except ZeroDivisionError:
        raise ExpressionError("it divides by zero", "keep the divisor away from 0") from None
    except OverflowError:
        raise too_large() from None
    except ValueError:
        raise ExpressionError(
            "a function gets a number that it is not defined for", "check its argument"
        ) from None


def explain(expression: str, hardware: Hardware) -> str | None:
    """None where the expression is exactly True, else why it is not: a failing comparison shows both sides.

    Raises ExpressionError like `evaluate`.
    """
    if evaluate(expression, hardware) is True:
        return None
    return _Evaluator(hardware).reason(_parse(expression))


def holds(check: Check, hardware: Hardware) -> bool:
    """Whether a check can be worked out and gives exactly True (1 is not)."""
    try:
        return evaluate(check.expression, hardware) is True
    except ExpressionError:
        return False


def _parse(expression: str) -> ast.expr:
    if len(expression) > MAX_LENGTH:
        raise ExpressionError(
            f"the expression is longer than {MAX_LENGTH} characters", "split it into several"
        )
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # Python's remarks on style, such as `1if x else 2`
            return ast.parse(expression.strip(), mode="eval").body
    except SyntaxError as error:
        raise ExpressionError(f"{quoted(expression)} is no expression ({error.msg})", _CURE) from None
    except (ValueError, RecursionError, MemoryError):
        raise ExpressionError(f"{quoted(expression)} is no expression", _CURE) from None


def _too_deep() -> ExpressionError:
    return ExpressionError("the expression is nested too deeply", "split it into several")


def _show(value: object) -> str:
    """A value for a message, short however long it is."""
    short = reprlib.Repr()
    short.maxlist = short.maxtuple = short.maxset = 8
    short.maxlevel = 3
    return short.repr(value)


class _Evaluator:
    """One walk over one expression; `names` are the loop variables in force."""

    def __init__(self, hardware: Hardware) -> None:
        self.hardware = hardware
        self.budget = Budget()

    def value(self, node: ast.AST, names: Mapping[str, object], depth: int) -> object:
        self.budget.spend(1)
        if depth > MAX_DEPTH:
            raise _too_deep()
        depth += 1
        match node:
            case ast.Constant(value=bool() | int() | float() as constant):
                return self.budget.bounded(constant)
            case ast.Name(id=name):
                return self._name(name, names)
            case ast.Attribute(value=ast.Name(id=owner), attr=attribute) if owner not in names:
                return self._figure(owner, attribute)
            case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
                pair = self.value(left, names, depth), self.value(right, names, depth)
                return OPERATORS[type(op)](self.budget, *(number(side) for side in pair))
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return not self.value(operand, names, depth)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as op, operand=operand):
                plain = number(self.value(operand, names, depth))
                return -plain if isinstance(op, ast.USub) else +plain
            case ast.BoolOp(op=op, values=operands):
                result: object = None
                for operand in operands:
                    result = self.value(operand, names, depth)
                    if bool(result) is isinstance(op, ast.Or):
                        break
                return result
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.value(body if self.value(test, names, depth) else other, names, depth)
            case ast.Compare():
                return self._failure(node, names, depth) is None
            case ast.Call():
                return self._call(node, names, depth)
            case ast.Tuple(elts=elements):
                return tuple(self.value(element, names, depth) for element in elements)
            case ast.List(elts=elements):
                return [self.value(element, names, depth) for element in elements]
            case ast.Set(elts=elements):
                return {number(self.value(element, names, depth)) for element in elements}
            case (
                ast.ListComp(elt=element, generators=loops) | ast.GeneratorExp(elt=element, generators=loops)
            ):
                return [self.value(element, inner, depth) for inner in self._loop(loops, names, depth)]
            case ast.SetComp(elt=element, generators=loops):
                inners = self._loop(loops, names, depth)
                return {number(self.value(element, inner, depth)) for inner in inners}
            case ast.Constant():
                raise ExpressionError("text and the like cannot be computed with", _CURE)
            case _:
                raise ExpressionError(f"{_REFUSED.get(type(node), 'this')} is not allowed here", _CURE)

    def reason(self, node: ast.expr) -> str:
        """Why an expression that can be worked out is not True."""
        self.budget = Budget()
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
            for operand in node.values:
                if not self.value(operand, {}, 0):
                    return self.reason(operand)
        if isinstance(node, ast.Compare) and (failure := self._failure(node, {}, 0)):
            left, sign, right = failure
            return f"{_show(left)} {sign} {_show(right)} does not hold"
        return f"it gives {_show(self.value(node, {}, 0))}, not True"

    def _failure(
        self, node: ast.Compare, names: Mapping[str, object], depth: int
    ) -> tuple[object, str, object] | None:
        """The first comparison of the chain that does not hold, as left side, sign and right side."""
        left = self.value(node.left, names, depth)
        for op, comparator in zip(node.ops, node.comparators, strict=True):
            if type(op) not in _SIGNS:
                raise ExpressionError("only == != < <= > >= can compare", _CURE)
            right = self.value(comparator, names, depth)
            if not self._compare(type(op), left, right):
                return left, _SIGNS[type(op)], right
            left = right
        return None

    def _compare(self, op: type[ast.cmpop], left: object, right: object) -> bool:
        if op in ORDERS:
            return ORDERS[op](number(left), number(right))
        return self._same(left, right) is (op is ast.Eq)

    def _same(self, left: object, right: object) -> bool:
        """Equality as in Python, but paid for: nested collections may share parts and be huge when walked."""
        self.budget.spend(1)
        if isinstance(left, list | tuple):
            if type(left) is not type(right) or not is_collection(right) or len(left) != len(right):
                return False
            return all(self._same(a, b) for a, b in zip(left, right, strict=True))
        if isinstance(left, set | range):
            self.budget.spend(len(left))
        return left == right

    def _name(self, name: str, names: Mapping[str, object]) -> object:
        if name in names:
            return names[name]
        if name in CONSTANTS:
            return CONSTANTS[name]
        if name in self.hardware:
            raise ExpressionError(
                f"{name} alone is no number",
                f"its figures are {listed(f'{name}.{figure}' for figure in self.hardware[name])}",
            )
        if name in FUNCTIONS or name in BARE:
            raise ExpressionError(f"{name} is a function", f"call it: {name}(…)")
        raise _unknown(name, (*names, *CONSTANTS, *FUNCTIONS, *BARE, *self.hardware))

    def _figure(self, owner: str, attribute: str) -> object:
        """`math.pi` or a figure of the hardware table."""
        if owner == "math":
            if attribute in CONSTANTS:
                return CONSTANTS[attribute]
            raise _unknown(f"math.{attribute}", [f"math.{name}" for name in (*CONSTANTS, *MATH)])
        if owner not in self.hardware:
            raise _unknown(owner, ("math", *self.hardware))
        figures = self.hardware[owner]
        if attribute not in figures:
            raise _unknown(f"{owner}.{attribute}", [f"{owner}.{name}" for name in figures])
        return figures[attribute]

    def _call(self, node: ast.Call, names: Mapping[str, object], depth: int) -> object:
        match node.func:
            case ast.Name(id=name) if name not in names and name in FUNCTIONS:
                function: Function = FUNCTIONS[name]
            case ast.Name(id=name) if name not in names and name in BARE:
                function = MATH[name]
            case ast.Attribute(value=ast.Name(id="math"), attr=name) if "math" not in names and name in MATH:
                function = MATH[name]
            case ast.Name(id=name):
                raise _unknown(f"{name}()", [f"{known}()" for known in (*FUNCTIONS, *BARE)])
            case ast.Attribute(value=ast.Name(id="math"), attr=name):
                raise _unknown(f"math.{name}()", [f"math.{known}()" for known in MATH])
            case _:
                raise ExpressionError("only functions can be called", _CURE)
        keywords = {word.arg: self.value(word.value, names, depth) for word in node.keywords if word.arg}
        if len(keywords) < len(node.keywords) or (keywords and name != "isclose"):
            raise ExpressionError(f"{name}() takes no such keyword", "give plain values in order")
        arguments = [self.value(argument, names, depth) for argument in node.args]
        try:
            return function(self.budget, *arguments, **keywords)
        except TypeError:
            raise ExpressionError(
                f"{name}() cannot take these values", "check how many it needs, and of what kind"
            ) from None

    def _loop(
        self, loops: Sequence[ast.comprehension], names: Mapping[str, object], depth: int
    ) -> Iterator[Mapping[str, object]]:
        """The loop variables of each turn that passes the conditions."""
        if not loops:
            yield names
            return
        loop, *inner = loops
        if loop.is_async:
            raise ExpressionError("an async loop is not allowed here", "write for x in …")
        values = self.value(loop.iter, names, depth)
        if not is_collection(values):
            raise ExpressionError("a loop runs over a number", "loop over range(…) or a list")
        for value in values:
            self.budget.spend(1)
            bound = {**names, **_bind(loop.target, value)}
            if all(self.value(condition, bound, depth) for condition in loop.ifs):
                yield from self._loop(inner, bound, depth)


def _bind(target: ast.expr, value: object) -> dict[str, object]:
    """The variables of `for x in …` or `for x, (y, z) in …`."""
    match target:
        case ast.Name(id=name):
            return {name: value}
        case ast.Tuple(elts=parts) | ast.List(elts=parts) if isinstance(value, list | tuple):
            if len(parts) == len(value):
                return {
                    k: v
                    for part, item in zip(parts, value, strict=True)
                    for k, v in _bind(part, item).items()
                }
            raise ExpressionError("a loop takes apart values of another length", "give each value a name")
    raise ExpressionError("a loop variable is no plain name", "write for x in …")


def _unknown(name: str, known: Sequence[str]) -> ExpressionError:
    meant = nearest(name, known)
    return ExpressionError(f"{quoted(name)} is unknown", f"did you mean {meant}?" if meant else _CURE)
