"""The evaluator computes, refuses everything else, and never hangs."""

from __future__ import annotations

import ast
import math
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fatutor.deck.expressions import evaluate, explain, holds
from fatutor.deck.functions import MAX_STEPS, ExpressionError
from fatutor.deck.hardware import Hardware, bundled, read
from fatutor.deck.model import Check

TABLE: Hardware = {"A100": {"bf16": 312e12, "hbm": 2.039e12, "ridge": 312 / 2.039}}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("2 + 3 * 4 - 1", 13),
        ("7 // 2 + 7 % 2 + 2**-1", 4.5),
        ("-(-3) + +2", 5),
        ("1e3 / 8", 125.0),
        ("math.exp(0) + exp(0) + math.pi - pi", 2.0),
        ("log(8, 2) + log2(8) + math.log10(1000) + sqrt(9)", 12.0),
        ("ceil(1.2) + floor(1.8) + int(2.9) + round(2.5) + abs(-3)", 2 + 1 + 2 + 2 + 3),
        ("round(2.34567, 2)", 2.35),
        ("round(1234, -2)", 1200),
        ("comb(5, 2) + factorial(4)", 34),
        ("erf(0)", 0.0),
        ("float(3)", 3.0),
        ("min(3, 1, 2) + max([4, 9]) + sum((1, 2)) + len({1, 1, 2})", 1 + 9 + 3 + 2),
        ("sum(1 / k for k in range(1, 5))", 1 + 1 / 2 + 1 / 3 + 1 / 4),
        ("[x * y for x in (1, 2) for y in range(3) if y != 1]", [0, 2, 0, 4]),
        ("[a + b for a, b in ((1, 2), (3, 4))]", [3, 7]),
        ("[[x for x in r] for r in ((1, 2), [3])]", [[1, 2], [3]]),
        ("[a - c for a, (b, c) in [(1, (2, 3))]]", [-2]),
        ("len({i % 3 for i in range(9)})", 3),
        ("5 if 1 > 2 else 6", 6),
        ("1 if 2 > 1 else 1 / 0", 1),
        ("0 and 1 / 0", 0),
        ("3 or 1 / 0", 3),
        ("not 0", True),
        ("sum(x < 2 for x in range(4))", 2),
        ("1 < 2 < 3 and not 3 > 4 >= 4", True),
        ("1 < 3 < 2", False),
        ("(1, 2) == (1, 2) != [1, 2]", True),
        ("[1, (2, 3)] == [1, (2, 4)]", False),
        ("(1, 2) == (1, 2, 3)", False),
        ("{1, 2} == {2, 1}", True),
        ("range(3) == range(0, 3)", True),
        ("1 == 1.0", True),
        ("isclose(1, 1 + 1e-12) and isclose(1, 1.1, rel_tol=0.2) and not isclose(1, 2, abs_tol=0.5)", True),
        ("A100.bf16 / 2.0e12", 156.0),
        ("round(A100.ridge)", 153),
        ("[A100 + 1 for A100 in (1, 2)]", [2, 3]),
        ("  1 + 1  # two", 2),
        ("math.gcd(12, 18) + math.hypot(3, 4) + math.pow(2, 3)", 19.0),
        ("9**99 > inf or inf > 9**99", True),
    ],
)
def test_values(expression: str, value: object) -> None:
    assert evaluate(expression, TABLE) == value


REFUSED = [
    "().__class__",
    "(1).real",
    "math.__class__",
    "math.os",
    "A100.__class__",
    "A100.bf16.real",
    "__import__('os').system('ls')",
    "__import__",
    "open('/etc/passwd')",
    "eval('1')",
    "exec",
    "globals()",
    "print(1)",
    "lambda: 1",
    "(lambda: 1)()",
    "(x := 3)",
    "[y := 1, y**2]",
    "f'{1}'",
    "f'{().__class__}'",
    "'a' * 3",
    "b'a'",
    "'' == ''",
    "None",
    "...",
    "1j",
    "(yield 1)",
    "await x",
    "[1, 2][0]",
    "(1, 2)[0:1]",
    "{1: 2}",
    "{x: x for x in (1,)}",
    "[*(1, 2)]",
    "max(*[1, 2])",
    "isclose(**{})",
    "isclose(1, 1, strange=2)",
    "sum([1], start=2)",
    "3 in (1, 2)",
    "1 is 1",
    "~3",
    "1 << 3",
    "1 | 2",
    "1 @ 2",
    "[1] * 3",
    "[1] + [2]",
    "(1,) < (2,)",
    "sum((1,), (2,))",
    "{(1, 2)}",
    "max((1, 2), (3, 4))",
    "len(3)",
    "range",
    "exp",
    "math",
    "A100",
    "A100.foo",
    "H300.hbm",
    "unknown",
    "unknown()",
    "math.unknown()",
    "A100.bf16()",
    "int('3')",
    "int(3, 4)",
    "log()",
    "abs(1, 2)",
    "factorial(1.5)",
    "[x for x in 5]",
    "[a for a, b in (1, 2)]",
    "[a for a, b in ((1, 2, 3),)]",
    "[a for a.b in (1, 2)]",
    "[x async for x in (1, 2)]",
    "import os",
    "x = 3",
    "1; 2",
    "1 +",
    "",
    "\0",
    "1\n2",
]


@pytest.mark.parametrize("expression", REFUSED)
def test_what_is_no_arithmetic_is_refused(expression: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, TABLE)
    assert caught.value.what
    assert caught.value.way_out
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "expression",
    [
        "9**9**9",
        "2**100000",
        "10**4000",
        "(-3)**9999999",
        "exp(710)",
        "factorial(10**6)",
        "factorial(2000)",
        "comb(10**9, 5 * 10**8)",
        "math.gamma(200)",
        "round(5, -10**9)",
        "round(5, 10**9)",
        "sum(range(10**9))",
        "len(range(10**30))",
        "[i for i in range(99999)]",
        "[[i for i in range(1000)] for j in range(1000)]",
        "[i for i in range(999) for j in range(999) for k in range(999)]",
        "[0 for a in range(9999) if [0 for b in range(9999)]]",
        "sum(factorial(500) for i in range(9999))",
        "sum(sum(range(9999)) for i in range(9999))",
        "sum(max(range(9999)) for i in range(9999))",
        "math.lcm(2**4000, 3**2000)",
        "-" * 900 + "1",
        "(" * 300 + "1" + ")" * 300,
        "+".join("1" * 150),
        "1" * 1001,
        "9" * 999 + "**9",
        "[" * 150 + "1" + "]" * 150,
        "not " * 200 + "1",
    ],
)
def test_what_would_take_long_is_refused_at_once(expression: str) -> None:
    with pytest.raises(ExpressionError):
        evaluate(expression, TABLE)


def test_equality_of_shared_parts_is_paid_for() -> None:
    """Each level holds the one below ten times; compared element by element that is a million leaves."""
    nested = "(1,)"
    for name in "abcdef":
        nested = f"[[{', '.join(name * 10)}] for {name} in ({nested},)]"
    with pytest.raises(ExpressionError, match="too many steps"):
        evaluate(f"{nested} == {nested}", TABLE)


def test_a_loop_within_the_budget_is_fine() -> None:
    assert evaluate("sum(k for k in range(16384))", TABLE) == 16384 * 16383 // 2
    assert MAX_STEPS == 100_000


@pytest.mark.parametrize(
    ("expression", "message"),
    [
        ("1 / 0", "it divides by zero; keep the divisor away from 0"),
        ("5 % 0", "it divides by zero; keep the divisor away from 0"),
        ("sqrt(-1)", "a function gets a number that it is not defined for; check its argument"),
        ("max([])", "a function gets a number that it is not defined for; check its argument"),
        ("(-8) ** (1 / 3)", "the result is not a real number; keep roots and logarithms to positive numbers"),
        ("A100.hbw", '"A100.hbw" is unknown; did you mean A100.hbm?'),
        ("A10.hbm", '"A10" is unknown; did you mean A100?'),
        ("sqr(2)", '"sqr()" is unknown; did you mean sqrt()?'),
        ("A100", "A100 alone is no number; its figures are A100.bf16, A100.hbm or A100.ridge"),
        ("exp", "exp is a function; call it: exp(…)"),
        ("2**5000", "a number in it gets too large; stay under 1e308, and write powers of ten as 1e30"),
        (
            "lambda: 1",
            "a lambda is not allowed here; "
            "write arithmetic with numbers, math functions and the hardware table",
        ),
    ],
)
def test_errors_say_what_to_write(expression: str, message: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        evaluate(expression, TABLE)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("expression", "reason"),
    [
        ("312e12 / 2.0e12 == 156", None),
        ("True", None),
        ("312e12 / 2.0e12 == 157", "156.0 == 157 does not hold"),
        ("1 == 1 and 2 + 2 == 5", "4 == 5 does not hold"),
        ("1 == 1 and (2 == 2 and 1 < 3 < 2)", "3 < 2 does not hold"),
        ("[1, 2] == [1, 3]", "[1, 2] == [1, 3] does not hold"),
        ("1 == 2 or 2 == 3", "it gives False, not True"),
        ("1", "it gives 1, not True"),
        ("1 and 2", "it gives 2, not True"),
        ("not 1", "it gives False, not True"),
        ("[k for k in range(20)]", "it gives [0, 1, 2, 3, 4, 5, 6, 7, ...], not True"),
        ("sum(k for k in range(19000)) == 1", "180490500 == 1 does not hold"),
    ],
)
def test_an_explanation_shows_both_sides(expression: str, reason: str | None) -> None:
    assert explain(expression, TABLE) == reason
    assert holds(Check(expression, "", 1), TABLE) is (reason is None)


def test_a_check_that_cannot_be_worked_out_does_not_hold() -> None:
    assert not holds(Check("1 / 0 == 1", "", 1), TABLE)
    assert not holds(Check("import os", "", 1), TABLE)


def test_python_remarks_on_style_stay_quiet() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert evaluate("1if 2 else 3", TABLE) == 1


names = st.sampled_from(
    ["x", "A100", "math", "exp", "range", "len", "__import__", "__class__", "open", "eval", "bf16", "real"]
)
atoms = st.one_of(
    names, st.integers(-5, 10**12).map(str), st.sampled_from(["1e9", "'a'", "None", "0.5", "True"])
)


def _grown(parts: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    two = st.tuples(parts, parts)
    signs = st.sampled_from(["+", "**", "//", "%", "==", "<", "and", "|", "in", "@", ":="])
    return st.one_of(
        st.tuples(parts, signs, parts).map(lambda p: f"({p[0]} {p[1]} {p[2]})"),
        two.map(lambda p: f"{p[0]}({p[1]})"),
        two.map(lambda p: f"{p[0]}[{p[1]}]"),
        st.tuples(parts, names).map(lambda p: f"{p[0]}.{p[1]}"),
        two.map(lambda p: f"[{p[0]} for x in {p[1]}]"),
        two.map(lambda p: f"sum({p[0]} for x in range({p[1]}))"),
        parts.map(lambda p: f"(lambda: {p})"),
        parts.map(lambda p: f"f'{{{p}}}'"),
        two.map(lambda p: f"({p[0]}, {p[1]})"),
    )


def outcome(expression: str) -> object:
    try:
        return evaluate(expression, TABLE)
    except ExpressionError as error:
        return error


@given(st.recursive(atoms, _grown, max_leaves=8))
def test_any_expression_gives_a_plain_value_or_one_clear_error(expression: str) -> None:
    for part in _parts(outcome(expression)):
        assert type(part) in (int, float, bool, list, tuple, set, range, ExpressionError)


def _parts(value: object) -> list[object]:
    inner = value if isinstance(value, list | tuple | set) else ()
    return [value, *(part for item in inner for part in _parts(item))]


@given(st.text(max_size=60))
def test_any_text_is_an_expression_or_an_error(text: str) -> None:
    assert "\n" not in str(outcome(text))


numbers = st.one_of(st.integers(0, 999), st.floats(0, 1e6, allow_nan=False)).map(repr)


@given(
    st.recursive(
        numbers,
        lambda parts: st.tuples(parts, st.sampled_from("+-*/"), parts).map(
            lambda p: f"({p[0]} {p[1]} {p[2]})"
        ),
        max_leaves=12,
    )
)
def test_arithmetic_is_that_of_python(expression: str) -> None:
    try:
        expected = ast_value(ast.parse(expression, mode="eval").body)
    except ZeroDivisionError:
        with pytest.raises(ExpressionError, match="divides by zero"):
            evaluate(expression, TABLE)
    else:
        found = evaluate(expression, TABLE)
        assert isinstance(found, int | float)
        assert found == expected or (math.isnan(found) and math.isnan(expected))


def ast_value(node: ast.expr) -> float:
    """The four operations, worked out a second way."""
    if isinstance(node, ast.Constant):
        assert isinstance(node.value, int | float)
        return node.value
    assert isinstance(node, ast.BinOp)
    left, right = ast_value(node.left), ast_value(node.right)
    match node.op:
        case ast.Add():
            return left + right
        case ast.Sub():
            return left - right
        case ast.Mult():
            return left * right
        case _:
            return left / right


def test_the_bundled_table_agrees_with_what_the_course_quotes() -> None:
    table = read(bundled())
    for expression in (
        "A100.bf16 / A100.hbm_rounded == 156 == A100.ridge_rounded",
        "[round(A100.ridge), round(A100_40G.ridge)] == [153, 201]",
        "[round(H100.ridge), round(H200.ridge), round(B200.ridge)] == [295, 206, 281]",
        "round(A100.sms * 2048 * A100.clock / 1e12) == 312",
        "round(H100.sms * 4096 * H100.clock / 1e12) == 989 == H200.bf16 / 1e12",
        "A100.smem == 164 * 1024 and H100.smem == B200.smem == 228 * 1024",
        "A100.l2 == 40 * 2**20 and H100.l2 == 50 * 2**20 and B200.l2 == 126 * 2**20",
        "round(H100.sms * H100.ex2_per_clock * H100.clock / 1e12, 1) == 3.9",
    ):
        assert explain(expression, table) is None
