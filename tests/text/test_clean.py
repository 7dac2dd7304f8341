"""What reaches a terminal can do nothing but stand there."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fatutor.text.clean import clean, clean_line

ALLOWED = {"\n", "\t"}
BIDI = {chr(code) for code in (*range(0x202A, 0x202F), *range(0x2066, 0x206A))}

# Any character, with the ones that matter here often.
hostile = st.text(
    st.one_of(
        st.sampled_from(
            "\x1b\x9b\x9d\x90\x9c\x07\r\n\t \x00\x7f\x85\u202e\u2066\u2028\ufeff\ud800\udc00[]0;1mPX\\(B"
        ),
        st.characters(),
        st.characters(categories=["Cs"]),
    )
)


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("one\r\ntwo\rthree\n", "one\ntwo\nthree\n"),
        ("one\u2028two\u2029three", "one\ntwo\nthree"),
        ("a\tb\nc", "a\tb\nc"),
        ("a\x00b\x08c\x0bd\x0ce\x7ff\x85g", "abcdefg"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x9b2Jgone", "gone"),
        ("\x1b]0;title\x07text", "text"),
        ("\x1b]8;;https://a.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x9d0;title\x9ctext", "text"),
        ("\x1bP1$r0m\x1b\\text", "text"),
        ("\x1b(Bplain", "plain"),
        ("a\x1bb", "ab"),
        ("\x1b]0;no end\nnext\x07", "]0;no end\nnext"),
        ("ends with \x1b[", "ends with ["),
        ("\x1b\x1b[31m[31mx", "[31mx"),
        ("gnp.\u202egpj\u202c", "gnp.gpj"),
        ("\u2066left\u2069", "left"),
        ("\ufefftext", "text"),
        ("\x00\ufeff\ufefftext", "text"),
        ("a\ufeffb", "a\ufeffb"),
        ("half \ud83d pair", "half \ufffd pair"),
        ("vector<int> [/red] {{c1::x}} 日本 👩‍💻 Ω", "vector<int> [/red] {{c1::x}} 日本 👩‍💻 Ω"),
    ],
)
def test_clean_drops_what_acts_and_keeps_what_reads(raw: str, shown: str) -> None:
    assert clean(raw) == shown


@pytest.mark.parametrize(
    ("raw", "shown"),
    [
        ("  a\r\n\r\n\tb  c \n", "a b  c"),
        ("\n\ufeff x", "x"),
        ("\x1b[2Jdeck.md", "deck.md"),
        (" \t\n", ""),
    ],
)
def test_clean_line_is_one_stripped_line(raw: str, shown: str) -> None:
    assert clean_line(raw) == shown


@given(hostile)
@settings(deadline=None)
def test_nothing_left_acts_on_a_terminal(raw: str) -> None:
    shown = clean(raw)
    controls = {character for character in shown if unicodedata.category(character) in ("Cc", "Cs")}
    assert controls <= ALLOWED
    assert not BIDI & set(shown)
    shown.encode("utf-8")  # a surrogate would raise
    assert "".join(shown.splitlines()) == shown.replace("\n", "")


@given(hostile)
@settings(deadline=None)
def test_cleaning_twice_is_cleaning_once(raw: str) -> None:
    assert clean(clean(raw)) == clean(raw)
    assert clean_line(clean_line(raw)) == clean_line(raw)


@given(st.text(st.characters(exclude_categories=["Cc", "Cs", "Cf", "Zl", "Zp"])))
@settings(deadline=None)
def test_text_without_controls_is_left_alone(text: str) -> None:
    assert clean(text) == text


@given(hostile)
@settings(deadline=None)
def test_a_line_has_no_line_end(raw: str) -> None:
    line = clean_line(raw)
    assert line == line.strip()
    assert not set(line) & {"\n", "\t"}
