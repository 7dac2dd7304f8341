"""Formulas as trees: written as TeX, and read back from one line by a reader that accepts no ambiguity."""

from __future__ import annotations

import re

from hypothesis import strategies as st

from fatutor.text.tex_symbols import SUBSCRIPTS, SUPERSCRIPTS

Tree = str | tuple["str | Tree", ...]  # a leaf, or an operation with its operands

LETTERS = "abcdeqxyABQKN"
NUMBERS = ["1", "2", "4", "12", "128"]

leaves = st.one_of(
    st.sampled_from(LETTERS), st.sampled_from(NUMBERS), st.sampled_from(["\\alpha", "\\theta"])
)


def _operations(children: st.SearchStrategy[Tree]) -> st.SearchStrategy[Tree]:
    several = st.lists(children, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        several.map(lambda parts: ("sum", *parts)),
        several.map(lambda parts: ("product", *parts)),
        st.tuples(st.just("fraction"), children, children),
        st.tuples(st.just("power"), children, children),
        st.tuples(st.just("index"), st.sampled_from("xyBQ"), children),
        st.tuples(st.just("root"), children),
    )


trees: st.SearchStrategy[Tree] = st.recursive(leaves, _operations, max_leaves=8)


def tex(tree: Tree, gap: str = "") -> str:
    """The tree as someone would type it, with `gap` around signs and between factors."""
    if isinstance(tree, str):
        return f"{tree} " if tree.startswith("\\") else tree
    kind, *operands = tree
    match kind:
        case "sum":
            return f"{gap}+{gap}".join(tex(operand, gap) for operand in operands)
        case "product":
            line = ""
            for operand in operands:
                factor = tex(operand, gap)
                if operand[0] == "sum":
                    factor = f"({factor})"
                digits = line[-1:].isdigit() and factor[0].isdigit()
                line += (r"\cdot " if digits else gap if line else "") + factor
            return line
        case "fraction":
            return rf"\frac{{{tex(operands[0], gap)}}}{{{tex(operands[1], gap)}}}"
        case "root":
            return rf"\sqrt{{{tex(operands[0], gap)}}}"
        case _:
            base, script = tex(operands[0], gap), tex(operands[1], gap)
            if operands[0][0] in ("sum", "product"):
                base = rf"\left({base}\right)"
            return f"{{{base}}}{'^' if kind == 'power' else '_'}{{{script}}}"


def flat(tree: Tree) -> Tree:
    """The tree with sums in sums and products in products opened up."""
    if isinstance(tree, str):
        return {"\\alpha": "α", "\\theta": "θ"}.get(tree, tree)
    kind, *operands = tree
    parts: list[Tree] = []
    for operand in map(flat, operands):
        same = kind in ("sum", "product") and operand[0] == kind
        parts += operand[1:] if same else [operand]
    return (kind, *parts)


_RAISED = "".join(SUPERSCRIPTS.values())
_LOWERED = "".join(SUBSCRIPTS.values())
_TOKEN = re.compile(rf"[{_RAISED}]+|[{_LOWERED}]+|[_^][A-Za-z0-9α-ω]+|\d+|\w|[-+/√()^_·]")
_BACK = {shown: typed for table in (SUPERSCRIPTS, SUBSCRIPTS) for typed, shown in table.items()}


def read(line: str) -> Tree:
    """The tree that a line stands for. AssertionError where it could stand for more than one."""
    reader = _LineReader(line)
    tree = reader.sum()
    assert reader.peek() == "", f"{reader.peek()!r} left over in {line!r}"
    return flat(tree)


class _LineReader:
    def __init__(self, line: str) -> None:
        self.tokens = _TOKEN.findall(line)
        assert "".join(self.tokens) == line.replace(" ", "")

    def peek(self) -> str:
        return self.tokens[0] if self.tokens else ""

    def take(self) -> str:
        return self.tokens.pop(0)

    def sum(self) -> Tree:
        parts = [self.term()]
        while self.peek() == "+":
            self.take()
            parts.append(self.term())
        return ("sum", *parts) if len(parts) > 1 else parts[0]

    def term(self) -> Tree:
        above = self.product()
        if self.peek() != "/":
            return above
        self.take()
        below = self.scripted()
        assert self.peek() in ("", "+", ")"), "a/bc, a/b/c"
        return ("fraction", above, below)

    def product(self) -> Tree:
        parts = [self.scripted()]
        while self.peek() and self.peek() not in ("+", "/", ")"):
            if self.peek() == "·":
                self.take()
            parts.append(self.scripted())
        return ("product", *parts) if len(parts) > 1 else parts[0]

    def scripted(self) -> Tree:
        rooted = self.peek() == "√"
        base = self.single()
        while (mark := self.peek()) and mark[0] in "^_" + _RAISED + _LOWERED:
            assert not rooted, "√a²"
            self.take()
            if mark in "^_":
                script = self.single()
            elif mark[0] in "^_":
                script = read(mark[1:])
            else:
                script = read("".join(_BACK[character] for character in mark))
            base = ("index" if mark[0] in "_" + _LOWERED else "power", base, script)
        return base

    def single(self) -> Tree:
        token = self.take()
        if token == "(":
            inside = self.sum()
            assert self.take() == ")"
            return inside
        if token == "√":
            assert self.peek() != "√"
            return ("root", self.single())
        assert token.isalnum(), token
        return token
