"""A page shows all that was written, fits its width, and looks the way it was meant to."""

from __future__ import annotations

import re
import subprocess
import sys
from collections import Counter
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fatutor.text.page import Page, Span, Style, layout
from fatutor.text.wrap import cells, cut

WIDTHS = (1, 2, 10, 20, 60, 76, 140)
UNBOUNDED = 10_000  # wide enough that nothing is broken


def rows(markdown: str, width: int = 60) -> list[str]:
    return layout(markdown, width).plain.split("\n")


def look(markdown: str, text: str) -> str:
    """The style of the span that holds the text."""
    return next(span.style for line in layout(markdown, 60).lines for span in line if text in span.text)


SAMPLE = """\
# Count the *bytes*

The forward pass writes an **N × N** matrix: with $d = 128$ that is
$6N^2 + 4Nd$ elements. See [the paper](https://a.example/x) or <https://b.example>.

## The ledger

1. write down the passes, each of them, one by one and in order
2. multiply
   - by two bytes
   - and by `h`
     heads

### Check
```check
312e12 / 2.0e12 == 156
```

> A learner says "linear".
>
> - ask which

$$
O = \\frac{QK^\\top}{\\sqrt{d}}
$$

- [x] right
- [ ] wrong

***
    indented
"""

AT_48 = """\
Count the bytes
───────────────

The forward pass writes an N × N matrix: with
d = 128 that is 6N² + 4Nd elements. See the
paper (https://a.example/x) or
https://b.example.

The ledger

1. write down the passes, each of them, one by
   one and in order
2. multiply
   • by two bytes
   • and by h heads

Check
= 312e12 / 2.0e12 == 156

▎ A learner says "linear".
▎
▎ • ask which

    O = QKᵀ/√d

[x] right
[ ] wrong

────────────────────────────────────────────────

  indented"""


def test_a_page_looks_as_designed() -> None:
    assert layout(SAMPLE, 48).plain == AT_48


@pytest.mark.parametrize(
    ("markdown", "text", "style"),
    [
        ("# One", "One", Style.HEADING1),
        ("Two\n---", "Two", Style.HEADING2),
        ("### Three", "Three", Style.HEADING3),
        ("###### Six", "Six", Style.HEADING3),
        ("a **b** c", "b", Style.STRONG),
        ("a *b* c", "b", Style.EM),
        ("***b***", "b", Style.STRONG),
        ("a `b` c", "b", Style.CODE),
        ("a $b$ c", "b", Style.MATH),
        ("$$b$$", "b", Style.MATH),
        ("> b", "b", Style.QUOTE),
        ("> **b**", "b", Style.STRONG),
        ("[b](u)", "b", Style.LINK),
        ("[b](u)", "u", Style.DIM),
        ("~~b~~", "b", Style.DIM),
        ("---", "─", Style.RULE),
        ("# b", "─", Style.RULE),
        ("plain", "plain", Style.TEXT),
    ],
)
def test_styles(markdown: str, text: str, style: Style) -> None:
    assert look(markdown, text) == style


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        # nothing of this is markup to us
        ("Tensor<T> and vector<int>", ["Tensor<T> and vector<int>"]),
        ("<div>\n*hi*\n</div>", ["<div> hi </div>"]),
        ("if m_old<m_new and l>0 <!-- why -->", ["if m_old<m_new and l>0 <!-- why -->"]),
        ("[self foo] [/red] [/] m[i]", ["[self foo] [/red] [/] m[i]"]),
        ("{{c1::gap::hint}}", ["{{c1::gap::hint}}"]),
        ("$5 and $6", ["$5 and $6"]),
        ("see[^1]\n\n[^1]: a note", ["see[^1]", "", "[^1]: a note"]),
        ("[a][1] b\n\n[1]: /u 't'\n[2]: /v", ["[a][1] b", "", "[1]: /u 't'", "[2]: /v"]),
        (r"$\unknown{x} + y$", [r"\unknown{x} + y"]),
        # links and images
        ("[a](u)", ["a (u)"]),
        ('[a](u "why so")', ['a (u "why so")']),
        ("[u](u)", ["u"]),
        ("<me@a.example>", ["me@a.example"]),
        ("[](u)", ["(u)"]),
        ("![alt *text*](p.png)", ["[image: alt text] (p.png)"]),
        ("![](p.png 'title')", ['[image] (p.png "title")']),
        ("[a](<two words>)", ["a (two words)"]),
        ("[x](javascript:alert)", ["[x](javascript:alert)"]),
        # breaks and blanks
        ("one\ntwo", ["one two"]),
        ("one  \ntwo\\\nthree", ["one", "two", "three"]),
        ("a\t b  c `d  e`", ["a b c d  e"]),
        ("", [""]),
        ("\n\n", [""]),
        # lists
        ("* a\n* b", ["• a", "• b"]),
        ("- a\n\n- b", ["• a", "", "• b"]),
        ("- a\n\n  b\n- c", ["• a", "", "  b", "", "• c"]),
        ("9) a\n9) b", [" 9) a", "10) b"]),
        ("- - a", ["• • a"]),
        ("-\n- b", ["•", "• b"]),
        ("- ```\n  x\n  ```", ["•   x"]),
        ("- [X] a\n- [ ] b\n- [y] c\n- [x](u)", ["[x] a", "[ ] b", "• [y] c", "• x (u)"]),
        ("1. [x] a", ["1. [x] a"]),
        # blocks
        ("> a\n> > b\nc", ["▎ a", "▎", "▎ ▎ b c"]),
        ("> ```\n> x\n> ```", ["▎   x"]),
        ("> # a\n> b", ["▎ a", "▎ ─", "▎", "▎ b"]),
        ("# a\n## b\n### c\nd", ["a", "─", "", "b", "", "c", "d"]),
        ("```\nno end\n\n# code", ["  no end", "", "  # code"]),
        ("a\n\n\n\nb", ["a", "", "b"]),
        ("$$\\unknown\n  a$$", ["    \\unknown", "    a"]),
        ("    <!-- code -->\n\n    ## code", ["  <!-- code -->", "", "  ## code"]),
    ],
)
def test_blocks_and_inlines(markdown: str, shown: list[str]) -> None:
    assert rows(markdown) == shown


def test_short_formulas_are_not_broken() -> None:
    assert rows("the ledger says $6N^2 + 4Nd$", 24) == ["the ledger says", "6N² + 4Nd"]


def test_narrow_pages_give_up_indents_and_not_text() -> None:
    assert rows("1. tile of rows", 12) == ["1.", "tile of rows"]
    assert rows("> tile of rows", 11) == ["▎", "tile of", "rows"]


def test_controls_do_not_come_back_as_entities() -> None:
    page = layout("&#x202e;b&#9;c&#10;d\x1b[2J [e](f&#x202e; 'g&#9;h')", 60)
    assert page.plain == 'b c d e (f "g h")'


def test_nesting_beyond_all_reason_shows_the_source() -> None:
    quotes = layout("> " * 200 + "deep\n\nafter", 60).plain
    assert "deep" in quotes
    assert "after" in quotes
    items = layout("\n".join("  " * depth + f"- item{depth}" for depth in range(120)) + "\n\nafter", 60).plain
    assert [f"item{depth}" for depth in range(120)] == re.findall(r"item\d+", items)
    assert "after" in items


def test_a_line_of_100_000_characters() -> None:
    assert Counter(layout("x" * 100_000, 60).plain) == {"x": 100_000, "\n": 1666}
    assert layout("word " * 20_000, 60).plain.split() == ["word"] * 20_000


def test_a_page_is_a_value() -> None:
    page = layout("a *b*", 60)
    assert page == Page(((Span("a ", Style.TEXT), Span("b", Style.EM)),))
    assert hash(page) == hash(layout("a *b*", 60))


# Words that occur nowhere else, among everything that means something in Markdown. Each word stands apart, so
# that only a width can break it. Formulas, which may part the letters of a word, come on top later.
word = st.from_regex(r"w[a-z]{3,5}q", fullmatch=True).map(lambda text: f" {text} ")
MARKS = [
    "\n", "\n", "\n\n", "    ", "\t", "- ", "* ", "+ ", "1. ", "23) ", "> ", ">", "# ", "### ", "---", "===",
    "```", "~~~", "```python\n", "`", "``", "*", "**", "_", "__", "~~", "[", "]", "(", ")", "](", "![", "<",
    "|", "|\n", "\n| a | b |\n|---|:-:|\n", "\\", "\\|", "&amp;", "&#27;", "&#x202e;", "[x]: ", "[^1]: ",
    "{{c1::", "}}", "<div>", "</b>", "<!--", "-->", "https://a.b/c", "- [x] ", "  \n", '"', "'", "$5 ",
    "日本語", "👩‍💻", "❤️", "🇩🇪", "e\u0301", "\ufe0f", "\u200d", "\u00a0", "\ufeff", "\u2028",
    "\x1b[31m", "\r\n",
]  # fmt: skip
MATH = [
    "$",
    "$x_q^{2}$",
    "$e^{m - m'}$",
    "$\\frac{a}{b}$",
    "$\\odd{x}$",
    "\n$$\n",
    "$$O(N^2 d^2)$$",
    "\\frac",
]
written = st.lists(st.one_of(word, st.sampled_from(MARKS)), max_size=40).map("".join)
mathematical = st.lists(st.one_of(word, st.sampled_from(MARKS + MATH)), max_size=40).map("".join)
WORD = re.compile(r"w[a-z]{3,5}q")


@given(written)
@settings(deadline=None)
def test_every_word_is_on_the_page(markdown: str) -> None:
    shown = Counter(WORD.findall(layout(markdown, UNBOUNDED).plain))
    assert not Counter(WORD.findall(markdown)) - shown


@given(mathematical, st.sampled_from(WIDTHS))
@settings(deadline=None)
def test_no_width_loses_a_letter(markdown: str, width: int) -> None:
    wide = Counter(filter(str.isalnum, layout(markdown, UNBOUNDED).plain))
    assert not wide - Counter(filter(str.isalnum, layout(markdown, width).plain))


@given(st.one_of(mathematical, st.text()), st.sampled_from(WIDTHS))
@settings(deadline=None)
def test_every_line_fits(markdown: str, width: int) -> None:
    for line in layout(markdown, width).lines:
        text = "".join(span.text for span in line)
        assert cells(text) <= width or cut(text, 0, width) == len(text)  # a single wide grapheme
        assert text == text.rstrip(" ")
        assert not re.search(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]", text)
        assert all(left.style != right.style for left, right in pairwise(line))


def test_importing_the_page_loads_neither_pygments_nor_a_screen() -> None:
    script = (
        "import sys; from fatutor.text.page import layout; layout('# a\\n\\n    b', 60);"
        "print(sorted({'pygments', 'textual', 'sqlmodel', 'torch'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
