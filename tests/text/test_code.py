"""Code keeps every character, is coloured by the language that it names, and folds where it shows."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from fatutor.text.code import code_lines
from fatutor.text.spans import Span, Style, plain, tidy


def shown(code: str, info: str, width: int = 60) -> list[str]:
    return [plain(tidy(line)) for line in code_lines(code, info, width)]


def styles(code: str, info: str) -> dict[str, str]:
    return {span.text.strip(): span.style for line in code_lines(code, info, 60) for span in line}


def test_python_has_its_styles() -> None:
    found = styles('@jit\ndef f(x):\n    return x and 2.5 + g("s")  # why\n', "python")
    assert found["def"] == found["return"] == found["and"] == Style.CODE_KEYWORD
    assert found["f"] == found["@jit"] == Style.CODE_FUNCTION
    assert found["2.5"] == Style.CODE_NUMBER
    assert found["s"] == Style.CODE_STRING
    assert found["+"] == Style.CODE_OPERATOR
    assert found["x"] == found["g"] == Style.CODE_NAME
    assert found["# why"] == Style.CODE_COMMENT


def test_an_unknown_language_is_plain_and_named() -> None:
    lines = code_lines("if x:\n", "nosuchlang v2", 60)
    assert lines == [
        (Span("nosuchlang v2", Style.DIM),),
        (Span("  ", Style.DIM), Span("if x:", Style.CODE)),
    ]


def test_no_language_is_never_guessed() -> None:
    assert code_lines("#!/bin/sh\n", "", 60) == [(Span("  ", Style.DIM), Span("#!/bin/sh", Style.CODE))]


def test_more_words_of_the_info_are_shown() -> None:
    assert shown("x\n", 'Python title="a tile"') == ['title="a tile"', "  x"]


def test_claims_have_an_equals_sign() -> None:
    code = "312e12 / 2.0e12 == 156  # FLOP/B\n\n1 + 1 == 2\n"
    assert shown(code, "check") == ["= 312e12 / 2.0e12 == 156  # FLOP/B", "", "= 1 + 1 == 2"]
    assert styles(code, "check")["156"] == Style.CODE_NUMBER


def test_long_lines_fold_with_a_sign() -> None:
    assert shown("abcdef ghi jkl mno\n", "", 14) == ["  abcdef ghi", "↪ jkl mno"]
    assert shown("6 * 16384 == 98304", "check", 18) == ["= 6 * 16384", "↪ == 98304"]
    assert shown("312 / 2 == 156  # FLOP/B", "check", 22) == ["= 312 / 2 == 156", "↪ # FLOP/B"]
    assert shown("abcdefghij kl", "", 12) == ["  abcdefghij", "↪  kl"]
    assert shown("x" * 25, "", 12) == ["  " + "x" * 10, "↪ " + "x" * 10, "↪ " + "x" * 5]
    assert shown("x" * 25, "", 11) == ["x" * 11, "x" * 11, "x" * 3]  # too narrow for an indent


def test_blank_lines_and_indents_stay() -> None:
    assert shown("\n\tif x:\n\n\t\ty\n\n\n", "") == ["", "      if x:", "", "          y"]


@given(
    st.text(st.characters(categories=["L", "N", "P", "S", "Zs"], include_characters="\n")),
    st.sampled_from(["", "python", "c", "console", "diff", "json", "check", "html", "text"]),
    st.sampled_from([1, 5, 12, 40]),
)
@settings(deadline=None)
def test_every_character_is_kept(code: str, info: str, width: int) -> None:
    marks = width >= 12
    rows = ["".join(span.text for span in line[marks:]) for line in code_lines(code, info, width)]
    assert "".join(rows) == code.rstrip("\n").replace("\n", "")
