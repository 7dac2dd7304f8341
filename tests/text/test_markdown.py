"""Dollar math, and what the parser is kept from dropping."""

from __future__ import annotations

import pytest
from markdown_it.token import Token

from fatutor.text.markdown import parse


def formulas(markdown: str) -> list[str]:
    found: list[Token] = []
    for token in parse(markdown):
        found += [token, *(token.children or [])]
    return [token.content for token in found if token.type in ("math_inline", "math_block")]


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("with $x$ and $y_i$.", ["x", "y_i"]),
        ("$a * b * c$ and $a_b_c$", ["a * b * c", "a_b_c"]),
        (r"$\frac{a}{b}$, 2$\times$ and $i$-th, the $n$th", [r"\frac{a}{b}", r"\times", "i", "n"]),
        ("**$x$** and [$y$](u)", ["x", "y"]),
        (r"$a \$ b$", [r"a \$ b"]),
        ("$x$,\nover $a +\nb$ lines", ["x", "a +\nb"]),
        ("inline $$x$$ too", ["x"]),
        # prices, variables, code, and dollars that stand alone
        ("$5 and $6", []),
        ("$5, $6 or ($7)", []),
        ("US$5 is CA$7", []),
        ("$HOME and $PATH", []),
        ("`$a` and `b$`", []),
        ("a $ b $ c", []),
        ("$ x $ and $x $", []),
        (r"\$x\$", []),
        ("$$ $", []),
        ("$x", []),
        # on lines of their own
        ("$$x + y$$", ["x + y"]),
        ("$$\nx\n+ y\n$$", ["x\n+ y"]),
        ("so\n$$x$$\nholds", ["x"]),
        ("> $$\n> x\n> $$", ["x"]),
        ("- a\n\n  $$x$$", ["x"]),
        ("$$\nno end\n\n$$", []),
        ("$$", []),
        ("$$\n$$", []),
        ("    $$x$$", []),
        ("> $$\nx$$", []),
    ],
)
def test_math_is_found_where_it_is_meant(markdown: str, found: list[str]) -> None:
    assert formulas(markdown) == found


def test_a_row_keeps_the_cells_beyond_its_header() -> None:
    tokens = parse("> | a | b |\n> |---|---|\n> | 1 | 2 | 3 \\| x | `4` |\n> | 5 |\n")
    cells = [token.content for token in tokens if token.type == "inline"]
    assert cells == ["a", "b", "1", "2", "3 | x", "`4`", "5", ""]
    code = [token for token in tokens if token.type == "inline"][5].children or []
    assert [token.type for token in code] == ["code_inline"]


def test_addresses_stay_as_typed() -> None:
    link = parse("[a](https://例え.jp/ü%20x)")[1].children or []
    assert link[0].attrs["href"] == "https://例え.jp/ü%20x"


def test_html_and_definitions_are_text() -> None:
    tokens = parse("<div>\n\n[a]: /b 'c'\n\nx <b>y</b>")
    assert {token.type for token in tokens if token.nesting > 0} == {"paragraph_open"}
    kinds = {child.type for token in tokens for child in token.children or []}
    assert kinds == {"text"}
