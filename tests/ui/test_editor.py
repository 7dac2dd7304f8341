"""Opening a card in the learner's own editor: the command line, and what comes of an editor that fails."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fatutor.deck.model import Place
from fatutor.errors import FatutorError
from fatutor.ui.editor import command, open_editor

PLACE = Place("/decks/a b.md", 12)


@pytest.mark.parametrize(
    ("editor", "words"),
    [
        ("vim", ["vim", "+12", "/decks/a b.md"]),
        ("/usr/bin/nvim -p", ["/usr/bin/nvim", "-p", "+12", "/decks/a b.md"]),
        ("nano", ["nano", "+12", "/decks/a b.md"]),
        ("hx", ["hx", "/decks/a b.md:12"]),
        ("code", ["code", "--wait", "--goto", "/decks/a b.md:12"]),
        ("ed", ["ed", "/decks/a b.md"]),
    ],
)
def test_the_editor_is_told_the_line_in_its_own_way(editor: str, words: list[str]) -> None:
    assert command(PLACE, {"EDITOR": editor}) == words


def test_visual_comes_before_editor() -> None:
    assert command(PLACE, {"VISUAL": "vim", "EDITOR": "ed"})[0] == "vim"


@pytest.mark.parametrize("environ", [{}, {"EDITOR": ""}, {"EDITOR": "  "}], ids=str)
def test_no_editor_is_told_with_the_place(environ: dict[str, str]) -> None:
    with pytest.raises(FatutorError, match=r"no editor is named; set EDITOR, or open /decks/a b.md:12"):
        command(PLACE, environ)


def test_an_editor_with_an_open_quote_is_told() -> None:
    with pytest.raises(FatutorError, match="EDITOR cannot be read"):
        command(PLACE, {"EDITOR": "vim '"})


class Terminal:
    """Counts how often the terminal was handed over and taken back, as Textual does: not in a finally."""

    def __init__(self) -> None:
        self.given = self.taken_back = 0

    @contextmanager
    def suspend(self) -> Iterator[None]:
        self.given += 1
        yield
        self.taken_back += 1


def test_an_editor_that_is_not_there_gives_the_terminal_back() -> None:
    terminal = Terminal()
    with pytest.raises(FatutorError, match="/no/such/editor could not be started"):
        open_editor(PLACE, {"EDITOR": "/no/such/editor"}, terminal.suspend)
    assert (terminal.given, terminal.taken_back) == (1, 1)


def test_the_exit_code_of_the_editor_comes_back(tmp_path: Path) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys; sys.exit(3)")
    terminal = Terminal()
    assert open_editor(PLACE, {"EDITOR": f"{sys.executable} {script}"}, terminal.suspend) == 3
    assert (terminal.given, terminal.taken_back) == (1, 1)
