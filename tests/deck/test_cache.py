"""The cache gives back exactly what was put in, or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from fatutor.deck.cache import Cache
from fatutor.deck.files import DeckFile, find
from fatutor.deck.hardware import Hardware
from fatutor.deck.library import load
from fatutor.deck.model import Deck
from fatutor.deck.parse import parse

Write = Callable[..., Path]
HOUR = 3600 * 10**9

BODY = """Prose.

```check
1 == 1  # yes
```

## Cloze: one
<!-- card id=one kind=cloze level=screen tags=a,b -->
{{c1::A}} and {{c2::B}}

## Interview: two
<!-- card id=two kind=interview answer=choice demo=same-answer -->
Which?

### Choices
- [x] a
- [ ] b

### Key points
- says **[critical]**

### Not quite
- that

## Recall: three
<!-- card kind=recall answer=number value=0.1 unit=GiB tolerance=5% -->
### Answer
x

## Prove it: four
<!-- card id=four kind=prove-it -->
### Answer
x
### Check
    2 == 2
### Follow-up
Why?

## Broken
<!-- card id=five -->
"""


@pytest.fixture
def deck_file(write: Write, beat_front: Callable[..., str]) -> DeckFile:
    """A deck with one of everything, last changed an hour ago."""
    path = write("decks/lesson.md", BODY, front=beat_front())
    changed = path.stat().st_mtime_ns - HOUR
    os.utime(path, ns=(changed, changed))
    ((file,), _) = find([path.parent])
    return file


@pytest.fixture
def deck(deck_file: DeckFile, hardware: Hardware) -> Deck:
    text = deck_file.path.read_text(encoding="utf-8")
    return parse(text, name=deck_file.name, path=str(deck_file.path), hardware=hardware)


@pytest.fixture
def cache(tmp_path: Path) -> Cache:
    return Cache(tmp_path / "cache" / "decks", "table")


@pytest.fixture
def parsed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the decks that were parsed, in that order."""
    names: list[str] = []

    def watched(text: str, *, name: str, path: str, hardware: Hardware) -> Deck:
        names.append(name)
        return parse(text, name=name, path=path, hardware=hardware)

    monkeypatch.setattr("fatutor.deck.parse.parse", watched)
    return names


def entry_of(cache: Cache) -> Path:
    (entry,) = cache.folder.iterdir()
    return entry


def test_a_deck_comes_back_whole(cache: Cache, deck_file: DeckFile, deck: Deck) -> None:
    assert len(deck.cards) == 5
    assert deck.beat is not None
    assert deck.faults
    assert cache.get(deck_file) is None
    cache.put(deck_file, deck)
    assert cache.get(deck_file) == deck


def test_a_changed_file_is_read_anew(cache: Cache, deck_file: DeckFile, deck: Deck) -> None:
    cache.put(deck_file, deck)
    for changed in (
        DeckFile(deck_file.path, deck_file.name, deck_file.size + 1, deck_file.mtime_ns),
        DeckFile(deck_file.path, deck_file.name, deck_file.size, deck_file.mtime_ns - 1),
        DeckFile(deck_file.path, "other", deck_file.size, deck_file.mtime_ns),
        DeckFile(deck_file.path.parent / "other.md", deck_file.name, deck_file.size, deck_file.mtime_ns),
    ):
        assert cache.get(changed) is None
    assert Cache(cache.folder, "another table").get(deck_file) is None


def test_a_file_that_changed_while_it_was_put_is_not_trusted(
    cache: Cache, deck_file: DeckFile, deck: Deck
) -> None:
    """Two changes within one tick of the file system's clock leave the same time."""
    cache.put(deck_file, deck)
    os.utime(entry_of(cache), ns=(deck_file.mtime_ns, deck_file.mtime_ns + 10**9))
    assert cache.get(deck_file) is None


@pytest.mark.parametrize("data", [b"", b"{", b"null", b"[1, 2]", b"\xff\xfe", b"[" * 5000, b"[[1],[2]]"])
def test_a_corrupt_entry_is_passed_over(data: bytes, cache: Cache, deck_file: DeckFile, deck: Deck) -> None:
    cache.put(deck_file, deck)
    entry_of(cache).write_bytes(data)
    assert cache.get(deck_file) is None
    cache.put(deck_file, deck)
    assert cache.get(deck_file) == deck


@pytest.mark.parametrize("line", [0, 1, 2])
def test_an_entry_with_one_wrong_byte_is_passed_over(
    line: int, cache: Cache, deck_file: DeckFile, deck: Deck
) -> None:
    cache.put(deck_file, deck)
    entry = entry_of(cache)
    lines = entry.read_bytes().splitlines(keepends=True)
    assert len(lines) == 3
    at = len(lines[line]) // 2
    lines[line] = lines[line][:at] + bytes([lines[line][at] ^ 1]) + lines[line][at + 1 :]
    entry.write_bytes(b"".join(lines))
    assert cache.get(deck_file) is None


def test_an_entry_that_was_cut_short_is_passed_over(cache: Cache, deck_file: DeckFile, deck: Deck) -> None:
    cache.put(deck_file, deck)
    entry = entry_of(cache)
    whole = entry.read_bytes()
    for end in range(len(whole)):
        entry.write_bytes(whole[:end])
        assert cache.get(deck_file) is None


def test_an_entry_of_an_older_format_is_passed_over(cache: Cache, deck_file: DeckFile, deck: Deck) -> None:
    entry = cache._entry(deck_file)
    entry.parent.mkdir(parents=True)
    entry.write_text(json.dumps([[3, "table", deck_file.size, deck_file.mtime_ns], ["lesson"]]))
    assert cache.get(deck_file) is None


def test_no_card_is_made_for_what_a_start_needs(
    cache: Cache, deck_file: DeckFile, deck: Deck, made: list[str]
) -> None:
    cache.put(deck_file, deck)
    kept = cache.get(deck_file)
    assert kept is not None
    assert kept.slips == deck.slips == tuple(card.slip for card in deck.cards)
    assert (kept.title, kept.beat, kept.checks) == (deck.title, deck.beat, deck.checks)
    assert (kept.tags, kept.faults) == (deck.tags, deck.faults)
    assert made == []
    assert [card.id for card in kept.cards] == made
    assert kept.cards == deck.cards
    assert len(made) == 5


@pytest.mark.parametrize("count", range(6))
def test_slips_are_what_they_were_however_much_they_share(
    cache: Cache, deck_file: DeckFile, deck: Deck, count: int
) -> None:
    """Seconds are the same in all five, bases and topics only in the first two."""
    cache.put(deck_file, replace(deck, slips=deck.slips[:count]))
    kept = cache.get(deck_file)
    assert kept is not None
    assert kept.slips == deck.slips[:count]
    assert len(kept.slips) == count
    assert all(slip.deck is kept.slips[0].deck for slip in kept.slips)


def test_an_open_deck_stays_as_it_was_whatever_becomes_of_its_files(
    cache: Cache, deck_file: DeckFile, deck: Deck
) -> None:
    cache.put(deck_file, deck)
    kept = cache.get(deck_file)
    entry_of(cache).write_bytes(b"")
    deck_file.path.unlink()
    assert kept == deck


def test_a_folder_that_cannot_be_made_is_no_trouble(deck_file: DeckFile, deck: Deck, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "decks", "table")
    cache.put(deck_file, deck)
    assert cache.get(deck_file) is None


def test_an_entry_is_never_half_written(cache: Cache, deck_file: DeckFile, deck: Deck) -> None:
    cache.put(deck_file, deck)
    entry = entry_of(cache)
    entry.unlink()
    entry.mkdir()
    cache.put(deck_file, deck)
    assert [path.name for path in cache.folder.iterdir()] == [entry.name]


def test_a_library_is_the_same_with_and_without_cache(
    deck_file: DeckFile, hardware: Hardware, tmp_path: Path
) -> None:
    folder = tmp_path / "cache"
    plain = load([deck_file.path.parent], hardware=hardware)
    first = load([deck_file.path.parent], hardware=hardware, cache=folder)
    second = load([deck_file.path.parent], hardware=hardware, cache=folder)
    assert plain == first == second
    assert len(list(folder.iterdir())) == 1
    deck_file.path.write_text("---\nfatutor: 1\ntitle: New\n---\n", encoding="utf-8")
    assert load([deck_file.path.parent], hardware=hardware, cache=folder).decks[0].title == "New"


@pytest.fixture
def shelf(write: Write, tmp_path: Path) -> Path:
    """Decks a, b and c with the cards a1, a2, b1, …, last changed an hour ago."""
    for name in "abc":
        cards = (f"## {name}{n}\n<!-- card id={name}x{n} kind=recall -->\n### Answer\nx\n" for n in (1, 2))
        age(write(f"shelf/{name}.md", "\n".join(cards)))
    return tmp_path / "shelf"


def age(path: Path) -> None:
    changed = path.stat().st_mtime_ns - HOUR
    os.utime(path, ns=(changed, changed))


def test_a_card_opens_its_own_deck_and_no_other(shelf: Path, tmp_path: Path, made: list[str]) -> None:
    load([shelf], cache=tmp_path / "cache")
    library = load([shelf], cache=tmp_path / "cache")
    assert [slip.id for slip in library.slips] == ["ax1", "ax2", "bx1", "bx2", "cx1", "cx2"]
    assert list(library.cards) == [slip.id for slip in library.slips]
    assert len(library.cards) == 6
    assert "bx1" in library.cards
    assert library.cards.get("none") is None
    assert made == []
    assert library.cards["bx2"].title == "b2"
    assert library.cards["bx1"].title == "b1"
    assert made == ["bx1", "bx2"]


def test_only_a_changed_deck_is_read_anew(shelf: Path, tmp_path: Path, parsed: list[str]) -> None:
    load([shelf], cache=tmp_path / "cache")
    assert parsed == ["a", "b", "c"]
    before = load([shelf], cache=tmp_path / "cache")
    assert parsed == ["a", "b", "c"]
    deck = shelf / "b.md"
    deck.write_text(deck.read_text("utf-8").replace("## b1", "## B1"), "utf-8")
    age(deck)
    after = load([shelf], cache=tmp_path / "cache")
    assert parsed == ["a", "b", "c", "b"]
    assert after.cards["bx1"].title == "B1"
    assert after.cards["bx1"].digest != before.cards["bx1"].digest
    assert before.cards["bx1"].title == "b1"


def test_one_id_in_two_kept_decks_is_told_and_neither_is_drilled(
    shelf: Path, tmp_path: Path, parsed: list[str], made: list[str]
) -> None:
    other = shelf / "c.md"
    other.write_text(other.read_text("utf-8").replace("id=cx2", "id=ax1"), "utf-8")
    age(other)
    first = load([shelf], cache=tmp_path / "cache")
    second = load([shelf], cache=tmp_path / "cache")
    assert parsed == ["a", "b", "c"]
    assert [slip.id for slip in second.slips] == list(second.cards) == ["ax2", "bx1", "bx2", "cx1"]
    assert second.cards.get("ax1") is None
    assert made == ["ax1", "ax2", "cx1", "ax1"]  # to say where they stand
    assert second.cards["ax2"].title == "a2"
    assert second.cards.get("ax1") is None
    assert second.faults == first.faults
    assert [str(fault.place) for fault in second.faults] == [f"{shelf}/a.md:6", f"{shelf}/c.md:11"]


def test_a_deck_that_comes_and_goes_takes_its_cards_along(shelf: Path, tmp_path: Path) -> None:
    load([shelf], cache=tmp_path / "cache")
    aside = (shelf / "a.md").rename(tmp_path / "a.md")
    assert list(load([shelf], cache=tmp_path / "cache").cards) == ["bx1", "bx2", "cx1", "cx2"]
    aside.rename(shelf / "a.md")
    assert list(load([shelf], cache=tmp_path / "cache").cards)[:2] == ["ax1", "ax2"]


def test_a_deck_in_the_place_of_another_shows_its_own_cards(shelf: Path, tmp_path: Path) -> None:
    """Same name, same size, another time."""
    load([shelf], cache=tmp_path / "cache")
    age((shelf / "b.md").replace(shelf / "a.md"))
    library = load([shelf], cache=tmp_path / "cache")
    assert list(library.cards) == ["bx1", "bx2", "cx1", "cx2"]
    assert library.cards["bx1"].deck == "a"
