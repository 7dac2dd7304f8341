"""Whole decks: what becomes a card, what stays prose, and what is said about the rest."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from fatutor.deck.model import (
    AnswerForm,
    Card,
    Check,
    Choice,
    Deck,
    KeyPoint,
    Kind,
    Level,
    Place,
    Prose,
    Response,
    Slip,
)

Read = Callable[..., Deck]

FULL = """# Small

Prose with **bold** text.

## Interview: the ridge
<!-- card id=ridge-a100 kind=interview level=onsite difficulty=3 target=1m30s tags=hw,io demo=bytes-moved -->
What is the ridge of an A100?

It may be long.

### Answer
It is 156.

```check
312 / 2 == 156   # rounded
```

### Key points
- divides peak
  by bandwidth **[critical]**
- says dense

### Not quite
- "312": that is the peak.

  People read the datasheet.

### Follow-up
And on an H100?

### Hint
Two ceilings.

### Source
A datasheet.

### Check
    2 * 156 == 312
    # the next one is a comparison
    1 < 2   # trivial

## A heading without a card
More prose.
"""


def messages(deck: Deck) -> list[str]:
    return [str(fault).removeprefix("folder/small.md:") for fault in deck.faults]


def card_with(
    read: Read, below: str, attributes: str = "id=one kind=recall"
) -> tuple[Card | None, list[str]]:
    """The card, if it lives, and the faults of a deck whose only card has its comment on line 7."""
    deck = read(f"## Recall: one\n<!-- card {attributes} -->\n{below}")
    return (deck.cards[0] if deck.cards else None), messages(deck)


def test_a_full_card_is_read_whole(read: Read) -> None:
    deck = read(FULL)
    assert deck.faults == ()
    prose, card, more = deck.blocks
    assert prose == Prose("Prose with **bold** text.", 8)
    assert more == Prose("## A heading without a card\nMore prose.", 47)
    assert isinstance(card, Card)
    assert card._replace(digest="") == Card(
        id="ridge-a100",
        base="ridge-a100",
        kind=Kind.INTERVIEW,
        title="the ridge",
        prompt="What is the ridge of an A100?\n\nIt may be long.",
        answer="It is 156.\n\n```check\n312 / 2 == 156   # rounded\n```",
        place=Place("folder/small.md", 10),
        deck="folder/small",
        digest="",
        key_points=(KeyPoint("divides peak by bandwidth", critical=True), KeyPoint("says dense")),
        not_quite=('"312": that is the peak.\n\nPeople read the datasheet.',),
        follow_ups=("And on an H100?",),
        checks=(
            Check("312 / 2 == 156", "rounded", 20),
            Check("2 * 156 == 312", "", 43),
            Check("1 < 2", "trivial", 45),
        ),
        hint="Two ceilings.",
        source="A datasheet.",
        level=Level.ONSITE,
        difficulty=3,
        target_seconds=90,
        tags=("hw", "io"),
        demo="bytes-moved",
    )


def test_line_ends_mark_and_last_line_make_no_difference(read: Read, beat_front: Callable[..., str]) -> None:
    text = beat_front() + FULL.replace("kind=interview", "kind=prove-it").replace("# Small", "# Lesson")
    plain = read(text, raw=True)
    assert plain.beat is not None
    for variant in (
        text.replace("\n", "\r\n"),
        text.replace("\n", "\r"),
        "\ufeff" + text,
        "\ufeff" + text.replace("\n", "\r\n"),
        text.rstrip("\n"),
    ):
        assert read(variant, raw=True) == plain


@pytest.mark.parametrize(
    ("heading", "title"),
    [
        ("Interview: why", "why"),
        ("prove it:  why", "why"),
        ("Cloze: a: b", "a: b"),
        ("Recall:why", "why"),
        ("Interviews: why", "Interviews: why"),
        ("`std::vector<int>` [x]", "`std::vector<int>` [x]"),
    ],
)
def test_a_label_is_no_part_of_the_title(read: Read, heading: str, title: str) -> None:
    deck = read(f"## {heading}\n\n<!-- card id=one kind=recall -->\n### Answer\nx\n")
    assert [(card.title, card.prompt) for card in deck.cards] == [(title, title)]


def test_text_survives_as_it_was_written(read: Read) -> None:
    body = "vector<int> [self foo] [/red] a < b && c > d ❤️ 👩‍💻 日本 שלום\n\n    code\n\ttab  "
    card, faults = card_with(read, f"{body}\n### Answer\n{body}\n")
    assert faults == []
    assert card is not None
    assert card.prompt == card.answer == body


def test_control_sequences_do_not_survive(read: Read) -> None:
    card, _ = card_with(read, "a\x1b[2Jb\x1b]52;c;eA==\x07c\n### Answer\nx\u202ey\n")
    assert card is not None
    assert (card.prompt, card.answer) == ("abc", "xy")


def test_headings_and_comments_in_fences_are_code(read: Read) -> None:
    fence = "````md\n## Interview: x\n<!-- card id=x -->\n\n### Answer\n```\n````"
    card, faults = card_with(read, f"### Answer\n{fence}\n")
    assert faults == []
    assert card is not None
    assert card.answer == fence


def test_one_line_backticks_swallow_nothing(read: Read) -> None:
    deck = read("``` text ```\n\n## One\n<!-- card id=one kind=recall -->\n### Answer\n``` x ```\n")
    assert [card.id for card in deck.cards] == ["one"]
    assert deck.faults == ()


def test_an_unclosed_fence_costs_its_own_card_only(read: Read) -> None:
    text = "## {0}\n<!-- card id={0} kind=recall -->\n### Answer\n{1}\n\n"
    deck = read(text.format("one", "x") + text.format("two", "```\nx") + text.format("three", "x"))
    assert [card.id for card in deck.cards] == ["one"]
    assert messages(deck) == ["14: this code fence is never closed; end it with a line of the same signs"]


def test_rules_and_underlined_headings_are_prose(read: Read) -> None:
    deck = read(
        "## One\n<!-- card id=one kind=recall -->\n### Answer\nx\n\n---\n\n"
        "# Prose\n\nTitle\n===\n\n---\n\nEnd\n---\n"
    )
    card, prose = deck.blocks
    assert isinstance(card, Card)
    assert card.answer == "x"
    assert prose == Prose("# Prose\n\nTitle\n===\n\n---\n\nEnd\n---", 13)
    assert deck.faults == ()


def test_a_card_may_follow_the_front_matter_at_once(read: Read) -> None:
    deck = read(
        "---\nfatutor: 1\ntitle: T\n---\n## One\n<!-- card id=one kind=recall -->\n### Answer\nx", raw=True
    )
    assert [card.place.line for card in deck.cards] == [5]


def test_comments_for_authors_are_not_shown(read: Read) -> None:
    deck = read(
        "<!-- lint off -->\nProse\n<!-- hidden\n## Not a card\n-->\n\n## One\n<!-- why -->\n"
        "<!-- card id=one kind=recall -->\n<!-- note -->\n### Answer\nx\n<!-- note -->\n"
    )
    prose, card = deck.blocks
    assert prose == Prose("Prose", 7)
    assert isinstance(card, Card)
    assert (card.prompt, card.answer) == ("One", "x")
    assert deck.faults == ()


def test_the_title_may_stand_as_a_heading_and_is_not_said_twice(read: Read) -> None:
    assert read("#  Small\n\ntext\n").blocks == (Prose("text", 8),)
    deck = read("# Large\n\ntext\n")
    assert deck.blocks == (Prose("# Large\n\ntext", 6),)
    assert messages(deck)[0] == (
        '6: warning: the heading "Large" differs from the title "Small"; '
        "let them say the same, or make it a level-2 heading (##)"
    )


def test_checks_in_prose_belong_to_the_deck(read: Read) -> None:
    deck = read("text\n\n```check\n1 == 1  # yes\n\n2 == 2\n```\n\n```py\n3 == 4\n```\n")
    assert deck.checks == (Check("1 == 1", "yes", 9), Check("2 == 2", "", 11))
    assert "3 == 4" in str(deck.blocks[0])


def test_a_deck_without_cards_says_so(read: Read) -> None:
    for body in ("", "Only prose.\n", "## Heading\n"):
        assert messages(read(body)) == [
            "1: warning: this deck has no cards; "
            "put <!-- card id=… kind=interview --> below a level-2 heading"
        ]


def test_text_without_front_matter_is_no_deck(read: Read) -> None:
    deck = read("# Notes\n", raw=True)
    assert deck.blocks == ()
    assert messages(deck) == [
        "1: warning: there is no front matter, so this is no deck; begin with ---, fatutor: 1, title: …, ---"
    ]


def test_front_matter_that_never_closes(read: Read) -> None:
    deck = read("---\nfatutor: 1\ntitle: T\n", raw=True)
    assert messages(deck)[0] == (
        "1: the front matter is never closed; write --- on a line of its own below its last key"
    )


@pytest.mark.parametrize(
    ("below", "fault"),
    [
        ("Prompt\n", '6: the card "one" has no answer; add ### Answer and the model answer below it'),
        ("### Answer\n\n", "8: the section Answer is empty; write something below it, or take it out"),
        (
            "### Answer\n<!-- x -->\n",
            "8: the section Answer is empty; write something below it, or take it out",
        ),
        ("### Answers\nx\n", '8: a card has no section "Answers"; write ### Answer'),
        (
            "### Answer\nx\n### Key Points\n- x\n",
            '10: a card has no section "Key Points"; write ### Key points',
        ),
        ("### Answer\nx\n### Followups\nx\n", '10: a card has no section "Followups"; write ### Follow-up'),
        (
            "### Answer\nx\n### Answer\ny\n",
            '10: the section "Answer" is there twice; join it with the one on line 8',
        ),
        (
            "### Answer\nx\n### Key points\n- a\n\nlost\n",
            '13: "lost" belongs to no item of the list under Key points; '
            "make it an item with - before it, or indent it below its item",
        ),
        (
            "### Answer\nx\n### Not quite\nfirst:\n- a\n",
            '11: "first:" belongs to no item of the list under Not quite; '
            "make it an item with - before it, or indent it below its item",
        ),
        (
            "### Answer\nx\n### Key points\n- a\n  - b\n",
            "11: a key point is more than one paragraph; write one sentence an item, all on one level",
        ),
        (
            "### Answer\nx\n### Key points\n- **[critical]**\n",
            "11: a key point is empty; write what a good answer says, or take the line out",
        ),
        (
            "### Answer\nx\n### Key points\n- [critical] says it\n",
            "11: [critical] stands within a key point; put **[critical]** at its end",
        ),
        (
            "### Answer\nx\n### Follow-up\nWhy?\n\n- And how?\n",
            "11: a follow-up is both a list and text beside it; "
            "make every follow-up an item, or write paragraphs only",
        ),
        (
            "### Answer\nx\n### Check\n1 == 1\n",
            '11: "1 == 1" stands in a Check section outside of code; '
            "indent it by four spaces, or write it as a # comment there",
        ),
        (
            "### Answer\nx\n<!-- card id=two kind=recall -->\n",
            "10: a card comment stands within a card; "
            "give the card a level-2 heading (## …) right above its comment",
        ),
        (
            "### Answer\nx\n### Choices\n- [x] a\n- [ ] b\n",
            "10: there are choices, but the card does not ask for one; write answer=choice in its comment",
        ),
    ],
)
def test_a_broken_card_is_left_out_with_one_clear_line(read: Read, below: str, fault: str) -> None:
    card, faults = card_with(read, below)
    assert card is None
    assert faults == [fault]


def test_an_unknown_section_without_a_likeness_lists_the_known_ones(read: Read) -> None:
    _, faults = card_with(read, "### Answer\nx\n### Zebra\nx\n")
    assert faults == [
        '10: a card has no section "Zebra"; a card has the sections Answer, Key points, Not quite, '
        "Follow-up, Check, Choices, Hint or Source; use #### within one"
    ]


def test_a_broken_card_takes_no_other_with_it(read: Read) -> None:
    text = "## {0}\n<!-- card id={0} {1} -->\n### Answer\nx\n\n"
    deck = read(
        text.format("one", "kind=recall")
        + text.format("two", "kind=quiz")
        + text.format("three", "kind=recall")
    )
    assert [card.id for card in deck.cards] == ["one", "three"]
    assert len(deck.faults) == 1


def test_a_heading_without_words_is_no_card(read: Read) -> None:
    deck = read("## Recall:\n<!-- card id=one kind=recall -->\n### Answer\nx\n")
    assert messages(deck) == ["6: the heading of a card is empty; write ## and a few words"]


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("text\n<!-- card id=one kind=recall -->\n", "7: this card comment belongs to no card"),
        ("# T\n<!-- card id=one kind=recall -->\n", "7: this card comment belongs to no card"),
        ("## T\ntext\n<!-- card id=one kind=recall -->\n", "8: this card comment belongs to no card"),
        ("## T\n<!-- card id=one\nkind=recall -->\n", "7: this card comment does not end on its line"),
        ("## T\n<!-- card id=one --> text\n", "7: this card comment does not end on its line"),
    ],
)
def test_a_card_comment_in_the_wrong_place_is_a_fault(read: Read, body: str, fault: str) -> None:
    deck = read(body)
    assert deck.cards == ()
    assert any(message.startswith(fault) for message in messages(deck))


def test_an_answer_under_a_heading_without_comment_is_pointed_out(read: Read) -> None:
    deck = read("## Interview: one\n\n### Answer\nx\n")
    assert messages(deck)[0] == (
        '6: warning: "Interview: one" has an answer, but is no card; '
        "put <!-- card id=… kind=interview --> right below it"
    )


def test_text_after_a_rule_in_a_card_is_pointed_out(read: Read) -> None:
    card, faults = card_with(read, "### Answer\nx\n\n---\n\nA lone sentence.\n\n## Two\n")
    assert card is not None
    assert card.answer == "x\n\n---\n\nA lone sentence."
    assert faults == [
        "11: warning: the text below this rule still belongs to the card above; "
        "give text between cards a heading of its own (## …)"
    ]


def test_interview_cards_without_key_points_are_pointed_out(read: Read) -> None:
    card, faults = card_with(read, "### Answer\nx\n", "id=one kind=interview")
    assert card is not None
    assert faults == [
        '6: warning: the card "one" has no key points to tick; '
        "add ### Key points and a list of what a good answer says"
    ]


def test_critical_marks_survive_formatters(read: Read) -> None:
    points = "- a **[critical]**\n* b __[Critical]__\n+ c \\[critical\\]\n1. d [critical].\n"
    points += "- e\n  wrapped\nlazily\n"
    card, faults = card_with(read, f"### Answer\nx\n### Key points\n{points}")
    assert faults == []
    assert card is not None
    assert [(point.text, point.critical) for point in card.key_points] == [
        ("a", True),
        ("b", True),
        ("c", True),
        ("d", True),
        ("e wrapped lazily", False),
    ]


def test_follow_ups_are_items_or_paragraphs(read: Read) -> None:
    for below, expected in (
        ("- one\n- two\n", ("one", "two")),
        ("one\nmore\n\ntwo\n", ("one\nmore", "two")),
    ):
        card, _ = card_with(read, f"### Answer\nx\n### Follow-up\n{below}")
        assert card is not None
        assert card.follow_ups == expected


def test_choices(read: Read) -> None:
    card, faults = card_with(
        read, "### Choices\n- [ ] a\n- [X] b\n  wrapped\n", "id=one kind=recall answer=choice"
    )
    assert faults == []
    assert card is not None
    assert card.response == Response(
        AnswerForm.CHOICE, choices=(Choice("a", False), Choice("b wrapped", True))
    )
    assert card.answer == "b wrapped"


@pytest.mark.parametrize(
    ("below", "fault"),
    [
        (
            "Why\n",
            "6: answer=choice needs choices; add ### Choices with a list of - [x] right and - [ ] wrong",
        ),
        (
            "### Choices\n- [ ] a\n- [ ] b\n",
            "8: of 2 choices 0 are right; write 2 to 6, and mark exactly one with [x]",
        ),
        (
            "### Choices\n- [x] a\n",
            "8: of 1 choices 1 are right; write 2 to 6, and mark exactly one with [x]",
        ),
    ],
)
def test_choices_must_be_a_real_choice(read: Read, below: str, fault: str) -> None:
    card, faults = card_with(read, below, "id=one kind=recall answer=choice")
    assert card is None
    assert faults == [fault]


def test_a_choice_without_box_is_a_fault(read: Read) -> None:
    _, faults = card_with(read, "### Choices\n- [x] a\n- b\n", "id=one kind=recall answer=choice")
    assert faults == ['10: the choice "b" has no box; write - [ ] before it, - [x] if right']


def test_a_card_without_id_gets_one_that_follows_its_words(read: Read) -> None:
    text = "## One\n<!-- card kind=recall -->\n{}\n\n### Answer\n{}\n"
    card = read(text.format("What  is\nm?", "x")).cards[0]
    assert card.provisional
    assert card.id == card.base
    assert card.id.startswith("unstamped-")
    assert read(text.format("What is m?", "another answer")).cards[0].id == card.id
    assert read(text.format("What is M?", "x")).cards[0].id != card.id
    assert messages(read(text.format("What is m?", "x"))) == [
        '7: warning: the card "One" has no id, so its history would be lost with the next edit; '
        "run fatutor check --fix, which writes one into its comment"
    ]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("It is 156", "It is 157"),
        ("may be long", "may be Long"),
        ("the ridge", "The ridge"),
        ("**[critical]**", ""),
        ("says dense", "say dense"),
        ("that is the peak", "this is the peak"),
        ("H100", "H200"),
        ("Two ceilings", "Three ceilings"),
        ("A datasheet", "The datasheet"),
    ],
)
def test_the_digest_changes_with_what_a_learner_sees(read: Read, old: str, new: str) -> None:
    assert old in FULL
    assert read(FULL.replace(old, new, 1)).cards[0].digest != read(FULL).cards[0].digest


def test_the_digest_does_not_change_with_what_a_learner_does_not_see(read: Read) -> None:
    edited = "\n\nMore prose\n" + FULL.replace("target=1m30s", "target=60s").replace(
        "difficulty=3", "difficulty=4"
    )
    assert read(edited).cards[0].digest == read(FULL).cards[0].digest


def test_the_digest_tells_where_one_text_ends_and_the_next_begins(read: Read) -> None:
    one, _ = card_with(read, "ab\n### Answer\nc\n")
    two, _ = card_with(read, "a\n### Answer\nbc\n")
    assert one is not None
    assert two is not None
    assert one.digest != two.digest


def test_slips_hold_what_the_queue_needs_of_each_card(read: Read) -> None:
    body = """## Recall: tagged
<!-- card id=one kind=recall target=2m tags=math,io -->
### Answer
x

## Cloze: two gaps
<!-- card id=two kind=cloze -->
{{c1::A}} and {{c2::B}}
"""
    deck = read(body)
    assert deck.slips == (
        Slip("one", "one", "folder/small", "math", 120, None, 6),
        Slip("two#c1", "two", "folder/small", "io", 60, None, 11),
        Slip("two#c2", "two", "folder/small", "io", 60, None, 11),
    )
    assert deck.slips == tuple(card.slip for card in deck.cards)


def test_the_topic_of_a_card_without_tags_is_its_deck(read: Read) -> None:
    front = "---\nfatutor: 1\ntitle: Small\n---\n"
    deck = read(f"{front}## Recall: one\n<!-- card id=one kind=recall -->\n### Answer\nx\n", raw=True)
    assert [slip.topic for slip in deck.slips] == ["folder/small"]


def test_the_slips_of_a_beat_name_its_gate(read: Read, beat_front: Callable[..., str]) -> None:
    body = "## Prove it: one\n<!-- card id=gate-one kind=prove-it -->\n### Answer\nx\n### Key points\n- y\n"
    deck = read(beat_front() + body, raw=True)
    assert [slip.gate for slip in deck.slips] == ["gate-one"]
