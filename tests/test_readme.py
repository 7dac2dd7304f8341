"""The README tells the truth about keys, verbs and files."""

from __future__ import annotations

from pathlib import Path

from fatutor.__main__ import parser
from fatutor.ui.keys import ACTIONS, SCREENS

README = (Path(__file__).resolve().parent.parent / "README.md").read_text(encoding="utf-8")


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
