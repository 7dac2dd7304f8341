"""TeX on one line reads as what was meant, or stays as typed."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fatutor.text.tex import to_unicode
from tests.text.formulas import Tree, flat, read, tex, trees

READ = {
    # the formulas of the module
    r"O(N^2 d^2 M^{-1})": "O(N² d² M⁻¹)",
    r"m_{new} = \max(m, \mathrm{rowmax}(S))": "m_new = max(m, rowmax(S))",
    r"e^{m - m'}": "e^(m − m′)",
    r"\frac{QK^\top}{\sqrt{d}}": "QKᵀ/√d",
    r"\ell_i^{new}": "ℓᵢⁿᵉʷ",
    r"\operatorname{softmax}": "softmax",
    r"\log_2 e": "log₂ e",
    r"\frac{M}{4d}": "M/(4d)",
    r"B_c=\lceil M/4d\rceil": "B_c=⌈M/4d⌉",
    r"B_r=\min(\lceil M/4d\rceil,d)": "Bᵣ=min(⌈M/4d⌉,d)",
    r"T_c\approx 4Nd/M": "T_c ≈ 4Nd/M",
    r"\approx 12N^2d^2/M": "≈ 12N²d²/M",
    r"\frac{4B_rB_cd}{2B_cd\cdot 2}=B_r": "4BᵣB_c d/(2B_c d · 2)=Bᵣ",
    r"\mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d}}\right)V": "softmax(QKᵀ/√d)V",
    r"\sum_{j=1}^{N} e^{s_{ij} - m_i} v_j": "∑ⱼ₌₁ᴺ e^(sᵢⱼ − mᵢ) vⱼ",
    r"S = QK^\top \in \mathbb{R}^{N\times N}": "S = QKᵀ ∈ ℝ^(N × N)",
    r"D_i = \sum_j dP_{ij}P_{ij} = dO_i^\top O_i": "Dᵢ = ∑ⱼ dPᵢⱼPᵢⱼ = dOᵢᵀ Oᵢ",
    r"dS = P \circ (dP - D)": "dS = P ∘ (dP − D)",
    r"\alpha = \exp(m - m_{\text{new}})": "α = exp(m − m_new)",
    r"L = m + \ln \ell": "L = m + ln ℓ",
    r"\Theta\left(\frac{N^2d^2}{M}\right)": "Θ(N²d²/M)",
    r"O(N\,d) \quad \text{if } M \ge d^2": "O(N d)  if M ≥ d²",
    r"-\infty \le x < +\infty": "−∞ ≤ x < +∞",
    r"1.5\times 10^{12}\,\mathrm{B/s}": "1.5 × 10¹² B/s",
    r"a \to b \leftarrow c \propto d \ne e \pm f": "a → b ← c ∝ d ≠ e ± f",
    r"\prod_{k=0}^{K-1} x_k \ldots \dots": "∏ₖ₌₀ᴷ⁻¹ xₖ … …",
    r"\lfloor x \rfloor, \{a\_b\}, 50\%": "⌊x⌋, {a_b}, 50%",
    r"\tilde{O}(N) \hat{x}_i \bar{x}": "Õ(N) x̂ᵢ x̄",
    # scripts
    r"x_{t+1} \theta_{t-1}^{(k)} 2^{10} 90^\circ": "xₜ₊₁ θₜ₋₁⁽ᵏ⁾ 2¹⁰ 90°",
    r"x_q x^q x_{i,j} x_{(i,j)} e^{x_i}": "x_q x^q x_(i,j) x_(i,j) e^(xᵢ)",
    r"B_cd B_c d": "B_c d B_c d",
    r"x^12 x^\frac12": "x¹ 2 x^(1/2)",
    r"f'(x) f''": "f′(x) f′′",
    r"{x^2}^3 {ab}^2 \sqrt{x}^2 \frac{a}{b}^2": "(x²)³ (ab)² (√x)² (a/b)²",
    r"x^{q}/2": "x^(q)/2",
    "4N²d ℓᵢⁿᵉʷ 10¹²": "4N²d ℓᵢⁿᵉʷ 10¹²",
    # fractions and roots
    r"\frac{a+b}{c-d}": "(a+b)/(c−d)",
    r"\frac{\frac{a}{b}}{c} + \frac{a}{\frac{b}{c}}": "(a/b)/c + a/(b/c)",
    r"\frac{\log N}{2} + \frac{1}{\exp(x)} + \frac{-x}{2}": "(log N)/2 + 1/exp(x) + −x/2",
    r"\frac{1}{(a)(b)} + \frac{1}{(ab)} + \frac{1}{f(x)}": "1/((a)(b)) + 1/(ab) + 1/(f(x))",
    r"\frac{1}{2} x + \frac{a}{b}c + 2\frac{1}{3}": "(1/2) x + (a/b)c + 2(1/3)",
    r"\frac{a}{b} \cdot c + a \cdot \frac{b}{c}": "(a/b) · c + a · b/c",
    r"\log\frac{a}{b} + \sum\frac{a}{b}": "log(a/b) + ∑ a/b",
    r"\sqrt{2d} + \sqrt{d}N + \sqrt{d}/2 + \sqrt[3]{x}": "√(2d) + √(d)N + √(d)/2 + ³√x",
    # names and signs
    r"N\log N + \arg\max_j s_j": "N log N + arg maxⱼ sⱼ",
    r"\exp{-x} + \log -x": "exp(−x) + log −x",
    r"\text{new} - \text{old}": "new − old",
    r"\mathbf{Q}\mathbf{K}^T \mathcal{L}": "QKᵀ L",
    "a := b->c": "a ≔ b→c",
    r"\left. x \right|_0": "x |₀",
    "": "",
}  # fmt: skip

RAW = [
    r"\unknown{x} + y",
    r"x = \begin{cases} 1 & x > 0 \\ 0 \end{cases}",
    r"\frac{a}",
    "x }",
    "{x",
    "x^",
    "x^^2",
    r"\mathbb{X}",
    r"\tilde{ab}",
    r"\text{a $b$ \alpha}",
    r"\sqrt[q]{x}",
    "a\\",
    "{" * 5000,
    r"\sqrt" * 5000,
]


PARTS = [*"ab12(){}[]^_+-=/,|' ", "\\frac", "\\sqrt", "\\left(", "\\right)", "\\text{a }", "\\log", "\\sum"]


@pytest.mark.parametrize(("formula", "line"), READ.items())
def test_a_formula_reads_as_meant(formula: str, line: str) -> None:
    assert to_unicode(formula) == line


@pytest.mark.parametrize("formula", RAW)
def test_what_is_not_understood_stays_as_typed(formula: str) -> None:
    assert to_unicode(formula) == formula


@given(trees, st.sampled_from(["", " "]))
@settings(deadline=None)
def test_the_line_reads_back_as_the_formula(tree: Tree, gap: str) -> None:
    assert read(to_unicode(tex(tree, gap))) == flat(tree)


@given(trees)
@settings(deadline=None)
def test_no_letter_and_no_digit_is_lost(tree: Tree) -> None:
    typed = tex(tree).replace("\\alpha", "α").replace("\\theta", "θ")
    typed = re.sub(r"\\[a-z]+", "", typed)
    shown = unicodedata.normalize("NFKC", to_unicode(tex(tree)))  # scripts become the letters they raise
    assert Counter(filter(str.isalnum, shown)) == Counter(filter(str.isalnum, typed))


@given(st.lists(st.sampled_from(PARTS), max_size=20).map("".join))
@settings(deadline=None)
def test_anything_typed_gives_one_line_with_balanced_brackets(typed: str) -> None:
    line = unicodedata.normalize("NFKC", to_unicode(typed))  # a raised bracket is a bracket
    if line == typed:
        return
    for opening, closing in ("()", "[]"):
        assert line.count(opening) - line.count(closing) == typed.count(opening) - typed.count(closing)
    assert not set("{}\\\n") & set(line)
