"""The TeX that cards use, as characters. What is not here is not guessed at."""

from __future__ import annotations

_PLAIN = "0123456789+−=()"
SUPERSCRIPTS = dict(
    zip(
        _PLAIN + "abcdefghijklmnoprstuvwxyz" + "ABDEGHIJKLMNOPRTUVW" + "βγδθφχ⊤",
        "⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾" + "ᵃᵇᶜᵈᵉᶠᵍʰⁱʲᵏˡᵐⁿᵒᵖʳˢᵗᵘᵛʷˣʸᶻ" + "ᴬᴮᴰᴱᴳᴴᴵᴶᴷᴸᴹᴺᴼᴾᴿᵀᵁⱽᵂ" + "ᵝᵞᵟᶿᵠᵡᵀ",
        strict=True,
    )
)
SUBSCRIPTS = dict(
    zip(
        _PLAIN + "aehijklmnoprstuvx" + "βγρφχ",
        "₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎" + "ₐₑₕᵢⱼₖₗₘₙₒₚᵣₛₜᵤᵥₓ" + "ᵦᵧᵨᵩᵪ",
        strict=True,
    )
)
# Scripts that were typed as such, with the mark that TeX would have.
SCRIPTS = (
    dict.fromkeys(SUPERSCRIPTS.values(), "^") | dict.fromkeys(SUBSCRIPTS.values(), "_") | {"°": "", "′": ""}
)

# Raised characters that stand for themselves, and only alone.
RAISED = {"∘": "°", "′": "′", "′′": "′′", "′′′": "′′′", "†": "†"}

SYMBOLS = {
    # Greek
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ",
    "eta": "η", "theta": "θ", "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "varphi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ", "Xi": "Ξ", "Pi": "Π",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
    # letters and signs that act as one
    "ell": "ℓ", "infty": "∞", "partial": "∂", "nabla": "∇", "emptyset": "∅", "top": "⊤", "intercal": "⊤",
    "circ": "∘", "prime": "′", "dagger": "†", "ast": "*",
    # operators
    "cdot": "·", "times": "×", "div": "÷", "odot": "⊙", "otimes": "⊗", "pm": "±", "mp": "∓", "oplus": "⊕",
    "cup": "∪", "cap": "∩", "setminus": "∖", "land": "∧", "lor": "∨", "wedge": "∧", "vee": "∨", "neg": "¬",
    # relations and arrows
    "le": "≤", "leq": "≤", "ge": "≥", "geq": "≥", "ne": "≠", "neq": "≠", "approx": "≈", "equiv": "≡",
    "sim": "∼", "simeq": "≃", "propto": "∝", "ll": "≪", "gg": "≫", "in": "∈", "notin": "∉", "subset": "⊂",
    "subseteq": "⊆", "lt": "<", "gt": ">", "mid": "∣", "to": "→", "rightarrow": "→", "leftarrow": "←",
    "gets": "←", "leftrightarrow": "↔", "mapsto": "↦", "Rightarrow": "⇒", "implies": "⟹", "iff": "⟺",
    "Leftrightarrow": "⇔",
    # big operators
    "sum": "∑", "prod": "∏", "int": "∫", "bigcup": "⋃", "bigcap": "⋂", "bigoplus": "⨁",
    # brackets and marks
    "lceil": "⌈", "rceil": "⌉", "lfloor": "⌊", "rfloor": "⌋", "langle": "⟨", "rangle": "⟩", "lbrace": "{",
    "rbrace": "}", "lbrack": "[", "rbrack": "]", "vert": "|", "lvert": "|", "rvert": "|", "Vert": "‖",
    "lVert": "‖", "rVert": "‖", "|": "‖", "ldots": "…", "dots": "…", "dotsc": "…", "cdots": "⋯", "vdots": "⋮",
    "colon": ":", "forall": "∀", "exists": "∃", "{": "{", "}": "}", "_": "_", "%": "%", "$": "$", "#": "#",
    "&": "&",
}  # fmt: skip

FUNCTIONS = frozenset({
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "det", "dim", "exp",
    "gcd", "hom", "inf", "ker", "lg", "lim", "liminf", "limsup", "ln", "log", "max", "min", "Pr", "sec",
    "sin", "sinh", "sup", "tan", "tanh",
})  # fmt: skip
SPACES = {",": " ", ";": " ", ":": " ", ">": " ", " ": " ", "!": "", "quad": "  ", "qquad": "  "}
ACCENTS = {
    "tilde": "\u0303", "widetilde": "\u0303", "hat": "\u0302", "widehat": "\u0302", "bar": "\u0304",
    "overline": "\u0304", "dot": "\u0307", "ddot": "\u0308", "vec": "\u20d7",
}  # fmt: skip
BLACKBOARD = {"C": "ℂ", "E": "𝔼", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}

UPRIGHT = frozenset({"mathrm", "operatorname", "mathsf", "mathtt"})  # a name of several letters
TEXTS = frozenset({"text", "textrm", "textbf", "textit", "texttt", "textsf", "mbox"})  # words, spaces count
LETTERS = frozenset({"mathbf", "mathit", "mathcal", "mathscr", "mathfrak", "boldsymbol", "bm"})  # only a look
FRACTIONS = frozenset({"frac", "dfrac", "tfrac"})
SIZES = frozenset(
    {"left", "right", "middle"}
    | {big + side for big in ("big", "Big", "bigg", "Bigg") for side in ("", "l", "r", "m")}
)
SILENT = frozenset({"limits", "nolimits", "displaystyle", "textstyle"})

TIGHT = frozenset("·×÷⊙⊗∘*/∖")
SIGNS = frozenset("+−±∓⊕¬")
RELATIONS = frozenset("=<>≤≥≠≈≡∼≃∝≪≫∈∉⊂⊆∣→←↔↦⇒⇔⟹⟺≔∪∩∧∨")
OPENING = frozenset("([{⌈⌊⟨")
CLOSING = frozenset(")]}⌉⌋⟩")
BIG = frozenset("∑∏∫⋃⋂⨁")
LETTER_LIKE = frozenset("∞∂∇∅⊤†′")
