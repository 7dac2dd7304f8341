"""Finding deck files, and reading what is in them."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.files import find, read_text
from fatutor.deck.model import Fault

Write = Callable[..., Path]


def names(*roots: Path) -> list[str]:
    return [file.name for file in find(roots)[0]]


def test_every_markdown_file_below_a_root_in_a_stable_order(write: Write, tmp_path: Path) -> None:
    for name in ("b.md", "a/2.md", "a/10.md", "a/deep/x.md", "c.MD", ".hidden/x.md", ".h.md", "notes.txt"):
        write(name, "")
    assert names(tmp_path) == ["a/10", "a/2", "a/deep/x", "b", "c"]
    assert names(tmp_path / "b.md", tmp_path / "a") == ["b", "10", "2", "deep/x"]


def test_a_file_that_two_roots_share_counts_once(write: Write, tmp_path: Path) -> None:
    write("a/x.md", "")
    assert names(tmp_path, tmp_path / "a", tmp_path / "a" / "x.md") == ["a/x"]


def test_links_are_followed_but_never_in_circles(write: Write, tmp_path: Path) -> None:
    write("decks/a/x.md", "")
    write("elsewhere/y.md", "")
    (tmp_path / "decks" / "a" / "up").symlink_to(tmp_path / "decks")
    (tmp_path / "decks" / "other").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "decks" / "same.md").symlink_to(tmp_path / "decks" / "a" / "x.md")
    (tmp_path / "decks" / "self").symlink_to(tmp_path / "decks" / "self")
    assert find([tmp_path / "decks"]) == find([tmp_path / "decks"])
    assert names(tmp_path / "decks") == ["a/x", "other/y"]
    assert find([tmp_path / "decks"])[1] == []


def test_what_cannot_be_read_is_one_fault_each(write: Write, tmp_path: Path) -> None:
    write("a.md", "")
    (tmp_path / "folder.md").mkdir()
    (tmp_path / "gone.md").symlink_to(tmp_path / "nowhere")
    os.mkfifo(tmp_path / "pipe.md")
    files, faults = find([tmp_path, tmp_path / "none"])
    assert [file.name for file in files] == ["a"]
    assert [str(fault) for fault in faults] == [
        f"{tmp_path / 'folder.md'}:1: this has the name of a deck, but is no file; rename it without .md",
        f"{tmp_path / 'gone.md'}:1: this cannot be read (no such file or directory); "
        "mend its name or its permissions, or take it away",
        f"{tmp_path / 'pipe.md'}:1: this has the name of a deck, but is no file; rename it without .md",
        f"{tmp_path / 'none'}:1: this cannot be read (no such file or directory); "
        "mend its name or its permissions, or take it away",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is unreadable to the superuser")
def test_a_forbidden_folder_is_one_fault(write: Write, tmp_path: Path) -> None:
    write("open/x.md", "")
    (tmp_path / "shut").mkdir(mode=0)
    files, faults = find([tmp_path])
    assert [file.name for file in files] == ["open/x"]
    assert [fault.what for fault in faults] == ["this cannot be read (permission denied)"]


@pytest.mark.parametrize(
    ("data", "line", "what"),
    [
        ("a\nb\n".encode("utf-16"), 1, "this file is not in UTF-8"),
        ("a\nb\n".encode("utf-16-le"), 1, "this file holds null bytes, as UTF-16 does"),
        ("a\nb\ncaf\u00e9\n".encode("latin-1"), 3, "this file is not in UTF-8"),
    ],
)
def test_another_encoding_is_one_fault(data: bytes, line: int, what: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(data)
    assert str(read_text(path)) == f"{path}:{line}: {what}; save it as UTF-8"


def test_text_keeps_its_line_ends_and_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes(b"\xef\xbb\xbfa\r\nb\rc")
    assert read_text(path) == "\ufeffa\r\nb\rc"


def test_a_file_that_vanished_is_one_fault(tmp_path: Path) -> None:
    found = read_text(tmp_path / "a.md")
    assert isinstance(found, Fault)
    assert found.what == "this cannot be read (no such file or directory)"
    assert isinstance(read_text(tmp_path), Fault)
