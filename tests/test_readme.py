"""The README tells the truth about keys, verbs and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fatutor.__main__ import parser
from fatutor.deck.library import load
from fatutor.ui.keys import ACTIONS, SCREENS

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_the_key_table_is_the_table_of_the_app() -> None:
    rows = [
        f"| `{action.shown}` | {action.help} | {', '.join(s for s in SCREENS if s in action.where)} |"
        for action in ACTIONS
    ]
    table = README[README.index("| key |") :].splitlines()[2 : 2 + len(rows)]
    assert table == rows


def test_every_verb_is_described() -> None:
    verbs = next(action for action in parser()._actions if action.choices and "drill" in action.choices)
    for verb in verbs.choices or ():
        assert f"fatutor {verb}" in README


def test_whoever_copies_the_example_deck_has_a_deck_without_fault(tmp_path: Path) -> None:
    example = README.split("````markdown\n")[1].split("````")[0]
    deck = tmp_path / "example.md"
    deck.write_text(example, encoding="utf-8")
    library = load([ROOT / "decks", deck])
    assert library.faults == ()
    assert [card.id for card in library.cards.values() if card.deck == "example"] == ["my-ridge-a100"]


PEERS = ("sdpa-flash", "sdpa-cudnn", "fa3")


@pytest.mark.parametrize(
    ("phase", "header", "impls"),
    [
        ("forward", "| hopper | flash | FA2 | cuDNN | FA3 |", ("hopper", "flash", *PEERS)),
        ("backward", "| hopper | flash | FA2 | cuDNN | hopper", ("hopper", "flash", *PEERS[:2])),
    ],
)
def test_the_kernels_figures_are_those_of_the_recording(
    phase: str, header: str, impls: tuple[str, ...]
) -> None:
    recorded = json.loads((ROOT / "kernels" / "recorded" / "h200.json").read_text(encoding="utf-8"))
    figures = {
        (row["d"], row["causal"], row["n"], row["impl"]): row["tflops"]
        for row in recorded["rows"]
        if row["pass"] == phase and row["heads"] == row["heads_kv"]
    }
    lines = README[README.index(f"| d | causal | N {header}") :].split("\n\n")[0].splitlines()[2:]
    assert len(lines) == 18
    for line in lines:
        d, causal, n, *shown = [cell.strip() for cell in line.strip("|").split("|")]
        found = {impl: figures[int(d), causal == "yes", int(n), impl] for impl in impls}
        ratio = found["hopper"] / max(found[peer] for peer in impls if peer in PEERS)
        assert shown == [f"{found[impl]:.0f}" for impl in impls] + [f"{ratio:.2f}"], line
