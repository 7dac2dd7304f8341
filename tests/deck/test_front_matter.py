"""The keys at the top of a deck, and what is said about the ones that are wrong."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fatutor.deck.faults import Faults
from fatutor.deck.front_matter import FrontMatter, opens, read, split
from fatutor.deck.model import Beat, Track

LESSON = """fatutor: 1
title: "Why: the bytes"
tags: [io, roofline, io]
module: Tiny
beat: 3
kind: concept
minutes: 5
path: deep-dive
outcome: do one thing
"""


def read_yaml(text: str) -> tuple[FrontMatter, list[str]]:
    faults = Faults("a.md")
    return read(text, faults), [str(fault) for fault in faults.found]


def test_a_lesson_is_read_whole() -> None:
    front, faults = read_yaml(LESSON)
    assert faults == []
    assert front == FrontMatter(
        title="Why: the bytes",
        tags=("io", "roofline"),
        beat=Beat("Tiny", 3, "concept", 5, Track.DEEP_DIVE, "do one thing", gate=""),
        is_lesson=True,
    )


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("---\na: 1\n---\nbody", ("a: 1", "body", 4, True)),
        ("--- \na: 1\n---", ("a: 1", "", 4, True)),
        ("---\n---\n---\n", ("", "---\n", 3, True)),
        ("---\na: 1\nb: 2", ("a: 1\nb: 2", "", 4, False)),
        ("\n---\na: 1\n---\n", None),
        ("# Title\n---\n", None),
        ("", None),
    ],
)
def test_only_a_rule_on_the_first_line_opens_front_matter(
    text: str, parts: tuple[str, str, int, bool] | None
) -> None:
    found = split(text)
    assert (None if found is None else tuple(found)) == parts
    assert opens(text) is (parts is not None)


@pytest.mark.parametrize("text", ["---\r\nfatutor: 1", "\ufeff---\nfatutor: 1", "---\rfatutor: 1", "---"])
def test_front_matter_opens_whatever_the_line_ends(text: str) -> None:
    assert opens(text)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("title: T\n", "a.md:1: the front matter has no fatutor; write fatutor: 1"),
        ("fatutor: 1\n", "a.md:1: the front matter has no title; write title: what the deck is about"),
        ("fatutor: 1\ntitle: 2024\n", 'a.md:3: title is not text; write title: "2024"'),
        ("fatutor: 1\ntitle: yes\n", 'a.md:3: title is not text; write title: "yes"'),
        ("fatutor: 1\ntitle:\n", "a.md:3: title is not text; write title: what the deck is about"),
        ("fatutor: one\ntitle: T\n", "a.md:2: fatutor is not a whole number from 1; write fatutor: 1"),
        ("fatutor: true\ntitle: T\n", "a.md:2: fatutor is not a whole number from 1; write fatutor: 1"),
        (
            "fatutor: 1\ntitle: T\ntags: io\n",
            "a.md:4: tags is not a list of words; write tags: [io, roofline]",
        ),
        (
            "fatutor: 1\ntitle: T\ntags: [1]\n",
            "a.md:4: tags is not a list of words; write tags: [io, roofline]",
        ),
        (
            "fatutor: 1\ntitle: T\ntitle: U\n",
            "a.md:4: title is there twice; keep one; the other is on line 3",
        ),
        (
            "- a\n- b\n",
            "a.md:2: the front matter is no list of keys; write lines such as title: what the deck is about",
        ),
    ],
)
def test_a_wrong_key_is_one_fault_with_its_line_and_cure(text: str, fault: str) -> None:
    assert read_yaml(text)[1] == [fault]


def test_a_colon_in_a_title_is_explained() -> None:
    (fault,) = read_yaml("fatutor: 1\ntitle: Why: the bytes\n")[1]
    assert fault.startswith("a.md:3: the front matter cannot be read (")
    assert 'put a value in quotes if it holds ": "' in fault


@pytest.mark.parametrize(
    "text",
    [
        "fatutor: 1\ntitle: !!int x\n",
        "fatutor: 1\ntitle: 2024-13-45\n",
        "fatutor: 1\ntitle: !!python/object/apply:os.system [ls]\n",
        "fatutor: 1\n<<: 3\n",
        "fatutor: [" + "[" * 5000,
        "fatutor: 1\n\ttitle: x\n",
        "? [a, b]\n: c\n",
        "&a [*a]\n",
    ],
)
def test_whatever_yaml_says_the_reader_only_notes_faults(text: str) -> None:
    front, faults = read_yaml(text)
    assert front.title == ""
    assert faults != []


def test_an_unknown_key_is_a_warning_that_names_the_nearest() -> None:
    front, faults = read_yaml("fatutor: 1\ntitle: T\ntag: [io]\ndeck: x\n")
    assert front.title == "T"
    assert faults[0] == 'a.md:4: warning: unknown key "tag" in the front matter; did you mean tags?'
    assert faults[1].startswith(
        'a.md:5: warning: unknown key "deck" in the front matter; the keys are fatutor, title'
    )


def test_a_lesson_needs_all_of_its_keys() -> None:
    front, faults = read_yaml("fatutor: 1\ntitle: T\nbeat: 0\npath: deep\nkind: concept\nmodule: M\n")
    assert front.beat is None
    assert front.is_lesson
    assert faults == [
        "a.md:4: beat is not a whole number from 1; write beat: 1",
        "a.md:1: the front matter has no minutes; write minutes: 5",
        'a.md:5: path is "deep"; write path: core, or path: deep-dive',
        "a.md:1: the front matter has no outcome; write outcome: what a reader can do afterwards",
    ]


def test_escapes_in_yaml_bring_no_control_characters_back() -> None:
    front, _ = read_yaml('fatutor: 1\ntitle: "a\\e[2Jb\\u202Ec"\ntags: ["x\\ny"]\n')
    assert (front.title, front.tags) == ("abc", ("x y",))


def test_another_version_is_not_read_on(read: Callable) -> None:
    deck = read(
        "---\nfatutor: 2\ntitle: T\n---\n## A\n<!-- card id=aaa kind=recall -->\n### Answer\nx\n", raw=True
    )
    assert deck.blocks == ()
    (fault,) = deck.faults
    assert (fault.place.line, fault.cure) == (2, "install a newer fatutor")
    assert fault.what == "this deck is written in format 2, and only format 1 is known here"
