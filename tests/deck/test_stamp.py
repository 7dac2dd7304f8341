"""Stamping writes ids and changes no other byte."""

from __future__ import annotations

import re
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from fatutor.deck.hardware import Hardware
from fatutor.deck.library import load
from fatutor.deck.stamp import stamp
from fatutor.errors import FatutorError

Write = Callable[..., Path]

BODY = """## Interview: why `vector<int>` & $N^2$?
<!-- card kind=recall -->
x
### Answer
y

```md
## Not a card
<!-- card kind=recall -->
```

## Zwölf Boxkämpfer
  <!--card   level=screen kind=recall -->
### Answer
y

## 日本
<!-- card kind=recall-->
### Answer
y

## Has one
<!-- card id=has-one kind=recall -->
### Answer
y
"""


def unstamped(data: bytes) -> bytes:
    return re.sub(rb" id=[a-z0-9-]+-[0-9a-f]{4}(?=\s)", b"", data)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("last", ["", "\n"])
def test_only_ids_are_written(end: str, mark: bytes, last: str, write: Write) -> None:
    path = write("a.md", "")
    before = mark + (path.read_text() + BODY.rstrip("\n") + last).replace("\n", end).encode("utf-8")
    path.write_bytes(before)
    stamped = stamp(path)
    assert [(s.place.line, re.sub("[0-9a-f]{4}$", "", s.id)) for s in stamped] == [
        (7, "why-vector-int-n-2-"),
        (18, "zwolf-boxkampfer-"),
        (23, "card-"),
    ]
    after = path.read_bytes()
    assert after != before
    assert unstamped(after) == before
    assert after.count(b"id=has-one") == 1
    assert stamp(path) == []
    assert path.read_bytes() == after


def test_a_stamped_deck_has_no_provisional_cards(write: Write, tmp_path: Path, hardware: Hardware) -> None:
    path = write("a.md", BODY)
    assert [card.provisional for card in load([tmp_path], hardware=hardware).cards.values()] == [True] * 3 + [
        False
    ]
    stamped = stamp(path)
    found = load([tmp_path], hardware=hardware)
    assert list(found.cards) == [*(s.id for s in stamped), "has-one"]
    assert not any(card.provisional for card in found.cards.values())
    assert found.faults == ()
    assert str(stamped[0]) == f"{stamped[0].id} (line 7)"


def test_ids_differ_even_where_words_do_not(write: Write) -> None:
    path = write("a.md", "## Same\n<!-- card kind=recall -->\n### Answer\nx\n\n" * 40)
    assert len({s.id for s in stamp(path)}) == 40


def test_taken_ids_are_left_to_their_owners(write: Write) -> None:
    text = "## Same\n<!-- card kind=recall -->\n### Answer\nx\n"
    (first,) = stamp(write("a.md", text))
    (second,) = stamp(write("b.md", text), taken={first.id})
    assert second.id != first.id


def test_a_long_title_makes_an_id_that_can_be_read(write: Write, tmp_path: Path, hardware: Hardware) -> None:
    (stamped,) = stamp(write("a.md", f"## {'long ' * 40}\n<!-- card kind=recall -->\n### Answer\nx\n"))
    assert len(stamped.id) <= 64
    assert list(load([tmp_path], hardware=hardware).cards) == [stamped.id]


def test_the_mode_stays_and_a_link_stays_a_link(write: Write, tmp_path: Path) -> None:
    path = write("a.md", BODY)
    path.chmod(0o640)
    link = tmp_path / "link.md"
    link.symlink_to(path)
    assert len(stamp(link)) == 3
    assert link.is_symlink()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640
    assert sorted(child.name for child in tmp_path.iterdir()) == ["a.md", "link.md"]


@pytest.mark.parametrize(
    "text",
    [
        "# Notes\n\n## T\n<!-- card kind=recall -->\n",
        "---\nfatutor: 2\ntitle: T\n---\n## T\n<!-- card kind=recall -->\n",
        "---\nfatutor: 1\ntitle: T\n---\n## T\n<!-- card id= kind=recall -->\n",
        "---\nfatutor: 1\ntitle: T\n---\n# T\n<!-- card kind=recall -->\n",
        "---\nfatutor: 1\ntitle: T\n---\n## T\n<!-- card kind=recall\n-->\n",
        "---\nfatutor: 1\ntitle: T\n",
        "",
    ],
)
def test_what_is_no_card_is_left_alone(text: str, tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_text(text)
    assert stamp(path) == []
    assert path.read_text() == text


def test_what_cannot_be_read_is_said_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.md"
    path.write_bytes("---\n".encode("utf-16"))
    with pytest.raises(FatutorError, match="cannot be stamped: this file is not in UTF-8; save it as UTF-8"):
        stamp(path)


def test_a_failed_write_leaves_the_old_file(
    write: Write, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = write("a.md", BODY)
    before = path.read_bytes()

    def full_disk(self: Path, target: Path) -> Path:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "replace", full_disk)
    with pytest.raises(FatutorError, match="cannot be written \\(no space left on device\\)"):
        stamp(path)
    assert path.read_bytes() == before
    assert [child.name for child in tmp_path.iterdir()] == ["a.md"]
