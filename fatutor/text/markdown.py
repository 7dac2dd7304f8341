"""Markdown to tokens, with nothing lost on the way.

CommonMark with tables, struck text and dollar math. Where the parser would drop what an author wrote, it is
told otherwise: raw HTML and reference definitions are text, addresses stay as typed, and a table's row
keeps the cells for which its header has no column.
"""

from __future__ import annotations

import re
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, table
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

DEEPEST = 60
"""Containers at this level and deeper come back empty; their lines of the source are in `Token.map`."""

# As Pandoc has it: no space inside the dollars, no digit after them, so that $5 and $6 are prices. The first
# dollar that could close decides. A backtick belongs to code, and a letter before it to a name like US$.
_INLINE_MATH = re.compile(r"(?<![A-Za-z$])(\$\$?)(?![\s$])((?:\\.|[^\\$`])+?)(?<!\s)\1(?![0-9$])", re.DOTALL)
_CELL_BORDER = re.compile(r"(?<!\\)\|")


def parse(markdown: str) -> list[Token]:
    """The block tokens of a text without control characters.

    Beyond markdown-it's own types there are `math_inline` and `math_block`, with the TeX as content.
    """
    return _parser().parse(markdown)


class _Markdown(MarkdownIt):
    def normalizeLink(self, url: str) -> str:  # noqa: N802 - markdown-it names it
        return url

    def normalizeLinkText(self, link: str) -> str:  # noqa: N802 - markdown-it names it
        return link


@lru_cache(maxsize=1)
def _parser() -> MarkdownIt:
    parser = _Markdown("commonmark", {"html": False, "maxNesting": DEEPEST})
    parser.enable(["table", "strikethrough"]).disable("reference")
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.before(
        "fence", "math_block", _math_block, {"alt": ["paragraph", "reference", "blockquote", "list"]}
    )
    parser.inline.ruler.before("escape", "math_inline", _math_inline)
    return parser


def _math_inline(state: StateInline, silent: bool) -> bool:
    match = _INLINE_MATH.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        token = state.push("math_inline", "math", 0)
        token.markup, token.content = match.groups()
    state.pos = match.end()
    return True


def _math_block(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """Two dollars at the start of a line, two at the end of it or of a later one, no blank line between."""
    if state.is_code_block(first) or not _source(state, first).startswith("$$"):
        return False
    lines: list[str] = []
    for line in range(first, end):
        text = _source(state, line).strip()
        if not text or state.sCount[line] < state.blkIndent:
            return False
        lines.append(text[2:] if line == first else text)
        if lines[-1].endswith("$$"):
            break
    formula = "\n".join(lines).strip()
    if not formula.endswith("$$") or "$$" in formula[:-2] or not formula[:-2].strip():
        return False
    if not silent:
        token = state.push("math_block", "math", 0)
        token.block = True
        token.markup, token.content = "$$", formula[:-2].strip()
        token.map = [first, first + len(lines)]
        state.line = first + len(lines)
    return True


def _table(state: StateBlock, first: int, end: int, silent: bool) -> bool:
    """markdown-it's table, with the cells that it would drop from rows longer than the header."""
    start = len(state.tokens)
    if not table(state, first, end, silent):
        return False
    line = cells = 0
    for token in state.tokens[start:]:
        if token.type == "tr_open" and token.map:
            line, cells = token.map[0], 0
        elif token.type in ("th_open", "td_open"):
            cells += 1
        elif token.type == "tr_close":
            for content in _row(state, line)[cells:]:
                extra = Token("inline", "", 0, map=[line, line + 1], content=content, children=[])
                state.tokens[start:start] = [Token("td_open", "td", 1), extra, Token("td_close", "td", -1)]
                start += 3
        start += 1
    return True


def _row(state: StateBlock, line: int) -> list[str]:
    cells = _CELL_BORDER.split(_source(state, line).strip())
    if cells and not cells[0]:
        del cells[0]
    if cells and not cells[-1]:
        del cells[-1]
    return [cell.strip().replace("\\|", "|") for cell in cells]


def _source(state: StateBlock, line: int) -> str:
    """A line without what its containers put before it."""
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]
