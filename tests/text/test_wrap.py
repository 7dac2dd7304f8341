"""Lines fit, breaks fall where they should, and nothing goes missing in between."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fatutor.text.spans import Line, Span, Style, plain, tidy
from fatutor.text.wrap import beside, cells, cut, wrap

WORDS = ["a", "tile", "softmax", "日本語", "👩‍💻", "❤️", "e\u0301", "🇩🇪", "x" * 30, "\u00a0", " ", "  ", "\n"]
written = st.lists(
    st.builds(Span, st.sampled_from(WORDS), st.sampled_from([Style.TEXT, Style.EM])), max_size=30
)


def wrapped(text: str, width: int) -> list[str]:
    return [plain(line) for line in wrap([Span(text)], width)]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("the quick brown fox", 9, ["the quick", "brown fox"]),
        ("the quick brown fox", 10, ["the quick", "brown fox"]),
        ("one\ntwo\n\nthree", 20, ["one", "two", "", "three"]),
        ("kept  apart", 20, ["kept  apart"]),
        ("  edges  ", 20, ["edges"]),
        ("abcdefghij", 4, ["abcd", "efgh", "ij"]),
        ("see https://example.org", 18, ["see https://exampl", "e.org"]),
        ("read https://example.org", 12, ["read", "https://exam", "ple.org"]),
        ("日本語日本語", 5, ["日本", "語日", "本語"]),
        ("日本", 1, ["日", "本"]),
        ("👩‍💻👩‍💻", 2, ["👩‍💻", "👩‍💻"]),
        ("so a\u00a0+\u00a0b holds", 8, ["so a + b", "holds"]),
        ("thus a\u00a0+\u00a0b holds", 8, ["thus", "a + b", "holds"]),
        ("a\u00a0+\u00a0b", 3, ["a +", "b"]),
        ("", 5, []),
    ],
)
def test_breaks(text: str, width: int, lines: list[str]) -> None:
    assert wrapped(text, width) == lines


@pytest.mark.parametrize(
    ("text", "width"), [("tile", 4), ("日本", 4), ("👩‍💻", 2), ("❤️", 2), ("e\u0301", 1), ("Bᵣ∑√", 4), ("", 0)]
)
def test_cells_are_those_of_a_terminal(text: str, width: int) -> None:
    assert cells(text) == width


def test_cut_takes_whole_graphemes_and_at_least_one() -> None:
    text = "e\u0301👩‍💻x"
    assert text[: cut(text, 0, 1)] == "e\u0301"
    assert text[: cut(text, 0, 2)] == "e\u0301"
    assert text[: cut(text, 0, 3)] == "e\u0301👩‍💻"
    assert text[2 : cut(text, 2, 1)] == "👩‍💻"


def test_styles_survive_a_break() -> None:
    spans = [Span("plain and "), Span("struck by", Style.EM), Span(" it")]
    assert wrap(spans, 16) == [
        (Span("plain and "), Span("struck", Style.EM)),
        (Span("by", Style.EM), Span(" it")),
    ]


@given(written, st.sampled_from([1, 2, 3, 10, 60]))
@settings(deadline=None)
def test_lines_fit_and_keep_all_but_spaces(spans: list[Span], width: int) -> None:
    lines = wrap(spans, width)
    for line in lines:
        text = plain(line)
        assert cells(text) <= width or cut(text, 0, width) == len(text)  # a single wide grapheme
    kept = "".join(map(plain, lines))
    assert "".join(kept.split()) == "".join(plain(spans).split())


@given(written)
@settings(deadline=None)
def test_every_character_keeps_its_style(spans: list[Span]) -> None:
    def styled(line: Line | list[Span]) -> list[tuple[str, str]]:
        return [
            (character, span.style) for span in line for character in span.text if not character.isspace()
        ]

    lines = wrap(spans, 10)
    assert [pair for line in lines for pair in styled(line)] == styled(spans)


def test_beside_hangs_the_body_or_puts_it_under_the_mark() -> None:
    mark, below = Span("12. "), Span("    ")

    def body(width: int) -> list[Line]:
        return wrap([Span("alpha beta gamma")], width)

    assert [plain(line) for line in beside(mark, below, 14, body)] == ["12. alpha beta", "    gamma"]
    assert [plain(line) for line in beside(mark, below, 13, body)] == ["12.", "alpha beta", "gamma"]
    assert [plain(line) for line in beside(mark, below, 20, lambda width: [])] == ["12. "]


def test_tidy_merges_neighbours_and_drops_the_end() -> None:
    line = (Span("a"), Span(""), Span("b"), Span(" ", Style.EM), Span("  "))
    assert tidy(line) == (Span("ab"),)
    assert tidy((Span("  "), Span("a", Style.EM), Span("b ", Style.EM))) == (Span("  "), Span("ab", Style.EM))
    assert tidy((Span("   "),)) == ()
