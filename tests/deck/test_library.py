"""Many decks together: cards by id, clashes, beats in order."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.hardware import Hardware
from fatutor.deck.library import Library, load

Write = Callable[..., Path]
Front = Callable[..., str]


def a_card(identity: str, kind: str = "recall", title: str = "T", text: str = "x") -> str:
    points = "### Key points\n- says\n" if kind == "prove-it" else ""
    mark = f"id={identity} " if identity else ""
    return f"## {title}\n<!-- card {mark}kind={kind} -->\n{text}\n\n### Answer\nx\n{points}\n"


def a_cloze(identity: str) -> str:
    return f"## C\n<!-- card id={identity} kind=cloze -->\n{{{{c1::a}}}} {{{{c2::b}}}}\n\n"


@pytest.fixture
def library(tmp_path: Path, hardware: Hardware) -> Callable[[], Library]:
    return lambda: load([tmp_path], hardware=hardware)


def faults_of(library: Library, folder: Path) -> list[str]:
    return [str(fault).removeprefix(f"{folder}/") for fault in library.faults]


def test_cards_and_decks_can_be_found(write: Write, library: Callable[[], Library]) -> None:
    write("b/two.md", a_card("two"))
    write("one.md", a_card("one") + a_cloze("gaps"))
    found = library()
    assert [deck.name for deck in found.decks] == ["b/two", "one"]
    assert list(found.cards) == ["two", "one", "gaps#c1", "gaps#c2"]
    card = found.cards.get("gaps#c2")
    assert card is not None
    assert (card.base, card.deck) == ("gaps", "one")
    assert "none" not in found.cards
    deck = found.deck("b/two")
    assert deck is not None
    assert deck.title == "Small"
    assert found.deck("none") is None
    assert found.faults == ()


def test_two_cards_with_one_id_are_both_named_and_neither_is_drilled(
    write: Write, library: Callable[[], Library], tmp_path: Path
) -> None:
    write("a.md", a_card("same") + a_card("one"))
    write("b.md", a_card("two") + a_card("same"))
    found = library()
    assert list(found.cards) == ["one", "two"]
    assert len(found.decks[0].cards) == 2
    assert faults_of(found, tmp_path) == [
        f"a.md:6: the id same is also that of the card at {tmp_path}/b.md:13, so neither is drilled; "
        "give one of them another id",
        f"b.md:13: the id same is also that of the card at {tmp_path}/a.md:6, so neither is drilled; "
        "give one of them another id",
    ]


def test_the_base_of_a_cloze_clashes_too(write: Write, library: Callable[[], Library]) -> None:
    write("a.md", a_cloze("same") + a_card("one") + a_card("same") + a_cloze("same"))
    found = library()
    assert list(found.cards) == ["one"]
    assert [fault.place.line for fault in found.faults] == [6, 17, 24]


def test_an_id_of_a_deck_outside_is_named_where_it_is_used_again(
    write: Write, tmp_path: Path, hardware: Hardware
) -> None:
    write("bundled/b.md", a_card("one") + a_cloze("gaps") + a_card("two"))
    write("own/a.md", a_card("mine") + a_card("one") + a_cloze("gaps"))
    bundled = load([tmp_path / "bundled"], hardware=hardware).decks
    found = load([tmp_path / "own"], hardware=hardware, beside=bundled)
    assert list(found.cards) == ["mine"]
    assert faults_of(found, tmp_path) == [
        f"own/a.md:13: the id one is also that of the card at {tmp_path}/bundled/b.md:6, "
        "so neither is drilled; give one of them another id",
        f"own/a.md:20: the id gaps is also that of the card at {tmp_path}/bundled/b.md:13, "
        "so neither is drilled; give one of them another id",
    ]


def test_two_cards_with_the_same_words_and_no_id(
    write: Write, library: Callable[[], Library], tmp_path: Path
) -> None:
    write("a.md", a_card("") + a_card("", text="y") + a_card(""))
    found = library()
    assert [card.prompt for card in found.cards.values()] == ["y"]
    clashes = [message for message in faults_of(found, tmp_path) if "warning" not in message]
    assert clashes == [
        f"a.md:6: this card has the words of the one at {tmp_path}/a.md:20, and neither has an id; "
        "run fatutor check --fix, or change one of them",
        f"a.md:20: this card has the words of the one at {tmp_path}/a.md:6, and neither has an id; "
        "run fatutor check --fix, or change one of them",
    ]


def test_moving_and_renaming_keeps_identity(write: Write, library: Callable[[], Library]) -> None:
    path = write("a.md", a_card("one"))
    before = library().cards["one"]
    path.rename(path.with_name("z.md"))
    after = library().cards["one"]
    assert (after.id, after.digest) == (before.id, before.digest)
    assert after.deck == "z"


def test_beats_come_by_module_and_number(
    write: Write, beat_front: Front, library: Callable[[], Library]
) -> None:
    for name, number in (("a", 10), ("b", 2), ("c", 1)):
        write(f"{name}.md", a_card(f"gate-{name}", "prove-it"), front=beat_front(number))
    other = beat_front(1).replace("module: Tiny", "module: Another")
    write("z.md", a_card("gate-z", "prove-it"), front=other)
    write("plain.md", a_card("plain"))
    found = library()
    assert [deck.name for deck in found.beats] == ["z", "c", "b", "a"]
    assert [deck.name for deck in found.module("Tiny")] == ["c", "b", "a"]
    assert found.module("None") == ()
    assert {card.id: card.gate for card in found.cards.values()} == {
        "gate-a": "gate-a",
        "gate-b": "gate-b",
        "gate-c": "gate-c",
        "plain": None,
        "gate-z": "gate-z",
    }


def test_two_beats_with_one_number(
    write: Write, beat_front: Front, library: Callable[[], Library], tmp_path: Path
) -> None:
    write("a.md", a_card("gate-a", "prove-it"), front=beat_front(2))
    write("b.md", a_card("gate-b", "prove-it"), front=beat_front(2))
    assert faults_of(library(), tmp_path) == [
        f"a.md:1: beat 2 of Tiny is also in {tmp_path}/b.md; give each beat its own number",
        f"b.md:1: beat 2 of Tiny is also in {tmp_path}/a.md; give each beat its own number",
    ]


def test_files_that_are_no_decks(write: Write, library: Callable[[], Library], tmp_path: Path) -> None:
    write("README.md", "", front="# Read me\n")
    write("notes.md", "", front="# Notes\n")
    write("empty.md", "", front="")
    found = library()
    assert found.decks == ()
    assert faults_of(found, tmp_path) == [
        f"{name}.md:1: warning: there is no front matter, so this is no deck; "
        "begin with ---, fatutor: 1, title: …, ---"
        for name in ("empty", "notes")
    ]


def test_a_file_in_another_encoding_costs_no_other(
    write: Write, library: Callable[[], Library], tmp_path: Path
) -> None:
    write("a.md", a_card("one"))
    (tmp_path / "b.md").write_bytes("---\n".encode("utf-16"))
    found = library()
    assert list(found.cards) == ["one"]
    assert faults_of(found, tmp_path) == ["b.md:1: this file is not in UTF-8; save it as UTF-8"]


def test_decks_of_one_name_in_two_roots_are_pointed_out(
    write: Write, tmp_path: Path, hardware: Hardware
) -> None:
    write("x/a.md", a_card("one"))
    write("y/a.md", a_card("two"))
    found = load([tmp_path / "x", tmp_path / "y"], hardware=hardware)
    assert list(found.cards) == ["one", "two"]
    assert faults_of(found, tmp_path) == [
        f"y/a.md:1: warning: this deck has the name of {tmp_path}/x/a.md, "
        "so their counts are shown together; rename one of the files"
    ]


def test_an_empty_folder_is_an_empty_library(library: Callable[[], Library]) -> None:
    assert library() == Library((), {}, (), ())


def test_a_root_that_does_not_exist_is_a_fault(tmp_path: Path, hardware: Hardware) -> None:
    found = load([tmp_path / "none"], hardware=hardware)
    assert [fault.what for fault in found.faults] == ["this cannot be read (no such file or directory)"]


def test_the_table_that_comes_with_fatutor_is_the_default(write: Write, tmp_path: Path) -> None:
    write(
        "a.md",
        "## R\n<!-- card id=ridge kind=recall answer=number value=A100.ridge_rounded -->\n### Answer\nx\n",
    )
    card = load([tmp_path]).cards["ridge"]
    assert card.response.value == 156


def test_the_collector_is_left_as_it_was(library: Callable[[], Library]) -> None:
    library()
    assert gc.isenabled()
    gc.disable()
    try:
        library()
        assert not gc.isenabled()
    finally:
        gc.enable()
