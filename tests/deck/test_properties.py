"""Laws that hold for any text, however strange."""

from __future__ import annotations

import re

from hypothesis import example, given
from hypothesis import strategies as st

from fatutor.deck.model import Card, Deck, Prose
from fatutor.deck.parse import parse
from fatutor.deck.scan import scan
from fatutor.text.clean import clean

FRONT = "---\nfatutor: 1\ntitle: T\n---\n"


def read_any(text: str) -> Deck:
    return parse(text, name="d", path="d.md", hardware={"A100": {"hbm": 2.0e12}})


# Lines that mean something to the parser, mixed with any others.
meaningful = st.sampled_from(
    [
        *("", "---", "***", "# T", "## Interview: a", "##", "### Answer", "### Key points", "### Check"),
        *("### Choices", "### Follow-up", "### Not quite", "### Nothing", "#### deep", "Title", "==="),
        *("<!-- card id=abc kind=recall -->", "<!-- card kind=cloze -->", "<!-- card kind=interview"),
        *(
            "<!-- card id=one kind=recall answer=choice -->",
            "<!-- note",
            "-->",
            "<!-- card id=gate kind=prove-it -->",
        ),
        *("<!-- card id=num kind=recall answer=number value=2**9 unit='G B' tolerance=5% -->", "```", "~~~~"),
        *("```check", "    1 == 1 # yes", "1 / 0", "- [x] right", "- [ ] wrong", "- point **[critical]**"),
        *("  more", "10. ten", "{{c1::a}}", "{{c2::$x$::h}}", "{{c1::", "}}", "`{{c1::x}}`", "$", "$$", "\\"),
        *(
            "``` text ```",
            "\tcode",
            "fatutor: 1",
            "title: T",
            "beat: 1",
            "module: M",
            "minutes: 2",
            "path: core",
        ),
        *("outcome: o", "kind: k", "tags: [a]", "tags: [", "\u2028", "\x1b[2J", "\ufeff"),
    ]
)
line_texts = st.one_of(meaningful, st.text(st.characters(exclude_characters="\r\n"), max_size=12))
texts = st.lists(line_texts, max_size=4).map("\n".join)
cards = st.builds(
    "## C\n<!-- card {}-->\n{}\n### Answer\nx {}\n### Key points\n- {}\n{}\n".format,
    st.sampled_from(
        ["kind=recall ", "id=abc kind=interview ", "id=def kind=prove-it answer=text ", "kind=cloze "]
    ),
    texts,
    texts,
    line_texts,
    st.sampled_from(
        ["", "### Follow-up\nword", "### Not quite\n- word\n  more", "### Check\n    1 < 2 # word"]
    ),
)
documents = st.lists(st.one_of(line_texts, cards), max_size=12).map("\n".join)
bodies = st.one_of(documents, documents.map(lambda body: FRONT + body))


@given(st.one_of(bodies, st.text()))
@example("---")
@example(FRONT + "## a\n<!-- card kind=cloze -->\n\\")
@example(FRONT + "## a\n<!-- card kind=cloze -->\n{{c1::$")
@example("---\n\ud800\n---\n\ud800")
def test_parsing_never_raises_and_every_fault_has_a_place_and_a_cure(text: str) -> None:
    deck = read_any(text)
    last = len(re.split("\r\n|\r|\n", text))
    for fault in deck.faults:
        assert 1 <= fault.place.line <= last
        assert fault.what
        assert fault.cure
        assert "\n" not in str(fault)


@given(bodies)
def test_line_ends_make_no_difference(text: str) -> None:
    assert read_any(text.replace("\n", "\r\n")) == read_any(text)
    assert read_any(text.replace("\n", "\r")) == read_any(text)


@given(bodies)
def test_parsing_is_repeatable_and_a_mark_makes_no_difference(text: str) -> None:
    text = text.lstrip("\ufeff")
    assert read_any("\ufeff" + text) == read_any(text) == read_any(text)


@given(bodies)
def test_ids_are_unique_within_their_base_and_places_ascend(text: str) -> None:
    deck = read_any(text)
    cards = [(card.id, card.place) for card in deck.cards]
    assert len(cards) == len(set(cards))
    assert [card.place for card in deck.cards] == sorted(card.place for card in deck.cards)


def shown_of(block: Prose | Card) -> str:
    """Everything that a learner can get to see of a block."""
    if isinstance(block, Prose):
        return block.text
    return "\n".join(
        [
            *(block.title, block.prompt, block.answer, block.hint, block.source),
            *(point.text for point in block.key_points),
            *(choice.text for choice in block.response.choices),
            *(block.not_quite + block.follow_ups),
            *(f"{check.expression} {check.comment}" for check in block.checks),
        ]
    )


@given(bodies)
def test_what_is_shown_is_clean(text: str) -> None:
    for block in read_any(text).blocks:
        assert clean(shown_of(block)) == shown_of(block)


@given(documents)
def test_nothing_is_lost_in_silence(body: str) -> None:
    """Each word of a deck without faults is shown, unless it names a heading or is a note for authors."""
    deck = read_any(FRONT + body)
    if any(not fault.warning for fault in deck.faults):
        return
    shown = " ".join(" ".join(shown_of(block) for block in deck.blocks).split())
    for line in scan(clean(body.replace("\u2028", " ").replace("\u2029", " "))).lines:
        if line.kind.name not in ("TEXT", "CODE"):
            continue
        for word in line.text.split():
            if word.isalnum():
                assert word in shown


words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=8)
lines = st.lists(words, min_size=1, max_size=5).map(" ".join)


@given(prompt=lines, answer=lines, points=st.lists(lines, min_size=1, max_size=4), odd=lines)
def test_the_text_of_a_card_survives(prompt: str, answer: str, points: list[str], odd: str) -> None:
    listed = "".join(f"- {point}\n" for point in points)
    deck = read_any(
        f"{FRONT}## Interview: t\n<!-- card id=abc kind=interview -->\n{prompt}\n\n### Answer\n{answer}\n\n"
        f"### Key points\n{listed}\n### Not quite\n- {odd}\n### Follow-up\n{odd}\n"
    )
    assert deck.faults == ()
    (card,) = deck.cards
    assert (card.prompt, card.answer) == (prompt, answer)
    assert [point.text for point in card.key_points] == points
    assert card.not_quite == card.follow_ups == (odd,)


@given(before=lines, gap=lines, hint=words, after=lines)
def test_a_gap_hides_its_text_and_nothing_else(before: str, gap: str, hint: str, after: str) -> None:
    body = f"{before} {{{{c1::{gap}::{hint}}}}} {after}"
    (card,) = read_any(f"{FRONT}## C\n<!-- card id=abc kind=cloze -->\n{body}\n").cards
    assert card.prompt == f"{before} [{hint}] {after}"
    assert card.answer == f"{before} {gap} {after}"
