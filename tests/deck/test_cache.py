"""The cache gives back exactly what was put in, or nothing."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
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


def test_an_entry_of_the_wrong_shape_is_passed_over(cache: Cache, deck_file: DeckFile, deck: Deck) -> None:
    cache.put(deck_file, deck)
    entry = entry_of(cache)
    state, row = json.loads(entry.read_bytes())
    for cut in range(len(row)):
        entry.write_text(json.dumps([state, row[:cut]]))
        assert cache.get(deck_file) is None
    row[3][1][2] = "no kind"
    entry.write_text(json.dumps([state, row]))
    assert cache.get(deck_file) is None


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
