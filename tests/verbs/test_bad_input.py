"""What goes wrong outside gets one clear line, and loses nothing."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

CARDS = "\n\n3\n"  # reveal, tick nothing, good


def stored(home: Path) -> int:
    with sqlite3.connect(home / "fatutor.db") as db:
        return db.execute("select count(*) from review where quality is not null").fetchone()[0]


def one_card(decks: Path, *more: str) -> None:
    """Leave one spoken card in the decks, or a few, so that a script of lines can answer them."""
    for file in decks.rglob("*.md"):
        file.unlink()
    cards = ""
    for name in ("one", *more):
        cards += f"## Interview: {name}\n<!-- card id=only-{name} kind=interview -->\nWhy?\n"
        cards += "\n### Answer\nBecause.\n\n### Key points\n- a\n\n"
    (decks / "one.md").write_text(f"---\nfatutor: 1\ntitle: One\n---\n{cards}", encoding="utf-8")


def test_a_home_that_nobody_knows(fatutor, complaint) -> None:
    done = fatutor("due", FATUTOR_HOME="~nobody-of-that-name/x")
    assert "home" in complaint(done)


def test_a_locked_database_is_told_and_the_grade_can_be_given_again(fatutor, home, decks) -> None:
    one_card(decks, "two")
    assert fatutor("drill", "one", typed=CARDS + "q\n").returncode == 0
    with sqlite3.connect(home / "fatutor.db", isolation_level=None) as db:
        db.execute("begin immediate")
        done = fatutor("drill", "one", typed=CARDS + "q\n")
    assert "! another program holds" in done.stdout
    assert "1 more for today" in done.stdout
    assert (done.returncode, done.stderr, stored(home)) == (0, "", 1)
    assert fatutor("drill", "one", typed=CARDS).returncode == 0
    assert stored(home) == 2


@pytest.mark.skipif(shutil.which("prlimit") is None, reason="no way to limit the size of a file")
def test_a_full_disk_is_told_and_what_was_stored_stays(fatutor, home, decks) -> None:
    """No file may grow: for whoever writes, that is what a full disk looks like."""
    one_card(decks, "two")
    assert fatutor("drill", "one", typed=CARDS + "q\n").returncode == 0
    done = fatutor("drill", "one", typed=CARDS + "q\n", largest_file=0)
    assert "! the disk that holds" in done.stdout
    assert "Traceback" not in done.stderr
    assert stored(home) == 1
    assert fatutor("drill", "one", typed=CARDS).returncode == 0
    assert stored(home) == 2


def test_two_at_once_store_each_answer_once(fatutor, home, decks) -> None:
    one_card(decks, "two")
    with ThreadPoolExecutor() as both:
        done = list(both.map(lambda _: fatutor("drill", "one", typed=CARDS + CARDS), range(2)))
    assert {one.returncode for one in done} == {0}
    assert [one.stderr for one in done] == ["", ""]
    assert stored(home) == 2


@pytest.mark.skipif(os.getuid() == 0, reason="root may write everywhere")
def test_a_read_only_folder(fatutor, home, decks) -> None:
    one_card(decks)
    home.mkdir()
    home.chmod(0o500)
    done = fatutor("drill", "one", typed=CARDS + "q\n")
    assert "!" in done.stdout and "FATUTOR_HOME" in done.stdout


def test_a_database_path_that_is_a_folder(fatutor, home, decks) -> None:
    one_card(decks)
    done = fatutor("--db", str(decks), "drill", "one", typed=CARDS + "q\n")
    assert "Traceback" not in done.stderr
    assert "cannot be opened" in done.stdout + done.stderr or "is not a database" in done.stdout + done.stderr


def test_the_beats_need_a_screen(fatutor, complaint) -> None:
    line = complaint(fatutor("learn"))
    assert "beats need a terminal" in line and "fatutor drill" in line


def test_a_name_that_several_decks_have(fatutor, complaint, decks) -> None:
    for folder in ("a", "b"):
        (decks / folder).mkdir()
        (decks / folder / "same.md").write_text(f"{HEAD}x", encoding="utf-8")
    line = complaint(fatutor("drill", "--plain", "same"))
    assert "may be any of several decks" in line and "a/same, b/same" in line


def test_a_file_that_is_no_database(fatutor, complaint, home) -> None:
    home.mkdir()
    (home / "fatutor.db").write_text("hello, I am text and long enough to be read as a header" * 20)
    assert "is not a database" in complaint(fatutor("due"))


def test_a_newer_database(fatutor, complaint, home, decks) -> None:
    one_card(decks)
    fatutor("drill", "one", typed=CARDS)
    with sqlite3.connect(home / "fatutor.db") as db:
        db.execute("insert into schema_version select max(version) + 1, max(applied_at) from schema_version")
    assert "newer fatutor" in complaint(fatutor("due"))


def test_settings_that_cannot_be_meant(fatutor, complaint, home) -> None:
    home.mkdir()
    (home / "config.toml").write_text('new_per_day = "many"\n')
    line = complaint(fatutor("due"))
    assert "config.toml" in line and "new_per_day" in line


def test_decks_that_are_not_there(fatutor, complaint) -> None:
    assert "there are no decks at /nowhere" in complaint(fatutor("--decks", "/nowhere", "due"))


def test_a_deck_that_is_not_there(fatutor, complaint) -> None:
    assert "there is no deck 'nonsense'" in complaint(fatutor("drill", "--plain", "nonsense"))


HEAD = "---\nfatutor: 1\ntitle: D\n---\n"
BROKEN = {
    "duplicate.md": f"{HEAD}## Recall: x\n<!-- card id=ridge kind=recall -->\n### Answer\ny\n",
    "no-answer.md": f"{HEAD}## Recall: x\n<!-- card id=none kind=recall -->\n",
    "unclosed.md": f"{HEAD}```\nopen to the end\n",
    "front.md": "---\nfatutor: [1\n---\n",
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_deck_is_named_with_its_line_and_the_rest_works(fatutor, decks, name) -> None:
    (decks / name).write_text(BROKEN[name], encoding="utf-8")
    checked = fatutor("check", str(decks), own=False)
    assert checked.returncode == 1
    assert f"{name}:" in checked.stdout
    assert ";" in checked.stdout.split(f"{name}:")[1].split("\n")[0]  # what is wrong; what to write
    due = fatutor("due", "--json")
    assert due.returncode == 0
    assert json.loads(due.stdout)["new"] > 0


def test_a_deck_in_utf_16_is_told(fatutor, decks) -> None:
    (decks / "wide.md").write_bytes("---\nfatutor: 1\ntitle: W\n---\n".encode("utf-16"))
    checked = fatutor("check", str(decks), own=False)
    assert "wide.md" in checked.stdout and "UTF-8" in checked.stdout


@pytest.mark.parametrize("ending", ["\r\n", "\r"])
def test_other_line_ends_and_a_byte_order_mark_are_the_same_deck(fatutor, decks, ending) -> None:
    before = json.loads(fatutor("check", str(decks), "--json", own=False).stdout)
    for file in decks.rglob("*.md"):
        text = file.read_text("utf-8")
        file.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", ending).encode())
    assert json.loads(fatutor("check", str(decks), "--json", own=False).stdout) == before


def test_hostile_cards_reach_the_terminal_as_text(fatutor, decks) -> None:
    one_card(decks)
    deck = decks / "one.md"
    nasty = "Why \x1b]52;c;AAAA\x07 [/red] <b>x</b> \x1b[2J 👩‍💻 ?"
    deck.write_text(deck.read_text("utf-8").replace("Why?", nasty), "utf-8")
    shown = fatutor("drill", "one", typed="q\n").stdout
    assert "\x1b" not in shown and "\x07" not in shown
    assert "[/red] <b>x</b>" in shown and "👩‍💻" in shown


def test_a_reader_that_leaves_early_is_no_fault(fatutor, home, decks) -> None:
    import sys

    root = Path(__file__).resolve().parents[2]
    command = f"{sys.executable} -m fatutor --decks {decks} check {decks} | head -c 1"
    env = {"PATH": os.environ["PATH"], "PYTHONPATH": str(root), "FATUTOR_HOME": str(home)}
    done = subprocess.run(["bash", "-c", command], env=env, capture_output=True, text=True, check=False)
    assert done.stderr == ""


def test_demos_without_torch(fatutor, tmp_path) -> None:
    """A Python that finds no torch says which extra to install."""
    hide = """
        from importlib.machinery import PathFinder

        find = PathFinder.find_spec

        def find_spec(name, path=None, target=None):
            return None if name in ("torch", "triton") else find(name, path, target)

        PathFinder.find_spec = find_spec
    """
    (tmp_path / "sitecustomize.py").write_text(textwrap.dedent(hide))
    root = Path(__file__).resolve().parents[2]
    done = fatutor("demo", "bytes-moved", PYTHONPATH=f"{tmp_path}{os.pathsep}{root}")
    assert done.returncode == 1
    assert "fatutor[demos]" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_unknown_demo_and_a_bad_param(fatutor, complaint) -> None:
    assert "there is no demo 'nothing'" in complaint(fatutor("demo", "nothing"))
    assert "--param" in complaint(fatutor("demo", "bytes-moved", "--param", "n"))
    wrong = fatutor("demo", "bytes-moved", "--param", "n=-3")
    assert wrong.returncode != 0
    assert "Traceback" not in wrong.stderr
