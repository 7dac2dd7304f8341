"""What counts as a heading, a fence, a comment, and what only looks like one."""

from __future__ import annotations

import pytest

from fatutor.deck.scan import LineKind, scan, unify


def kinds_of(text: str) -> list[str]:
    return [line.kind.name.lower() for line in scan(text).lines]


@pytest.mark.parametrize(
    ("line", "level", "words"),
    [
        ("## Two", 2, "Two"),
        ("   # One  ", 1, "One"),
        ("### Closed ###", 3, "Closed"),
        ("## C# and F#", 2, "C# and F#"),
        ("##\tTab", 2, "Tab"),
        ("##", 2, ""),
        ("## ##", 2, ""),
        ("###### Six", 6, "Six"),
    ],
)
def test_headings_have_a_level_and_words(line: str, level: int, words: str) -> None:
    (found,) = scan(line).lines
    assert (found.kind, found.level, found.value) == (LineKind.HEADING, level, words)


@pytest.mark.parametrize(
    "line", ["    ## code", "##no space", "####### seven", "\\## escaped", "> ## quoted", "\t# tab"]
)
def test_what_only_looks_like_a_heading_is_text(line: str) -> None:
    assert kinds_of(line) == ["text"]


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("```\n## x\n```", ["fence", "code", "fence_end"]),
        ("~~~ c\n```\n~~~", ["fence", "code", "fence_end"]),
        ("`````\n```\n`````\na", ["fence", "code", "fence_end", "text"]),
        ("```\na\n`````", ["fence", "code", "fence_end"]),
        ("   ```\na\n   ```  ", ["fence", "code", "fence_end"]),
        ("```\n    ```\n```", ["fence", "code", "fence_end"]),
        ("```\n``` py\n```", ["fence", "code", "fence_end"]),
        ("    ```\n## x", ["text", "heading"]),
        ("``\n## x", ["text", "heading"]),
        ("``` text ```\n## x", ["text", "heading"]),
        ("~~~ with `ticks`\nx\n~~~", ["fence", "code", "fence_end"]),
        ("```\n<!-- card id=x -->\n```", ["fence", "code", "fence_end"]),
    ],
)
def test_fences_hold_code_until_one_as_long_closes_them(text: str, kinds: list[str]) -> None:
    assert kinds_of(text) == kinds


def test_the_info_string_of_a_fence_is_kept() -> None:
    assert [line.value for line in scan("```  check \n1 == 1\n```").lines] == ["check", "", ""]


def test_an_unclosed_fence_runs_to_the_end_and_names_its_line() -> None:
    found = scan("a\n```\n## x\n\n## y", first=8)
    assert found.open_fence == 9
    assert [line.kind for line in found.lines[2:]] == [LineKind.CODE] * 3


def test_card_comments_and_other_comments() -> None:
    text = "<!-- card id=a kind=recall -->\n<!--card id=b-->\n<!-- cardinal -->\n<!-- card x --> y\n<!-- card"
    assert kinds_of(text) == ["card", "card", "comment", "bad_card", "bad_card"]
    assert [line.value.strip() for line in scan(text).lines[:2]] == ["id=a kind=recall", "id=b"]


def test_a_comment_over_several_lines_hides_headings() -> None:
    found = scan("<!-- later:\n## x\n-->\n## y")
    assert [line.kind.name for line in found.lines] == ["COMMENT", "COMMENT", "COMMENT", "HEADING"]
    assert found.open_comment == 0
    assert scan("a\n<!-- later:\n## x").open_comment == 2


def test_unify_keeps_line_numbers() -> None:
    assert unify("\ufeffa\r\nb\rc\nd\u2028e\x1b[2J") == "a\nb\nc\nd e"
