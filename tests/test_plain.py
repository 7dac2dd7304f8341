"""The drill as lines: the same sitting through two streams."""

from __future__ import annotations

import io
from collections.abc import Callable

import pytest

from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.plain import PlainDrill


def drill(desk: Desk, typed: str, *names: str) -> str:
    out = io.StringIO()
    code = PlainDrill(desk, io.StringIO(typed), out).run(*map(desk.deck_named, names))
    assert code == 0
    return out.getvalue()


def test_the_end_of_the_input_ends_the_sitting_and_nothing_is_lost(desk: Desk) -> None:
    shown = drill(desk, "", "plain")
    assert "0 cards graded." in shown
    assert "4 more for today" in shown
    assert not desk.paths.database.exists()


@pytest.fixture
def ridge_only(make_desk: Callable[..., Desk], decks, tmp_path) -> Desk:
    text = (decks / "plain.md").read_text("utf-8")
    head, _, rest = text.partition("## Interview")
    card = "## Interview" + rest.partition("## Recall")[0]
    folder = tmp_path / "one"
    folder.mkdir()
    (folder / "one.md").write_text(head + card, "utf-8")
    return make_desk(roots=[folder])


def test_reveal_tick_and_grade(ridge_only: Desk) -> None:
    shown = drill(ridge_only, "\n1 3\n3\n")
    order = ["What is the ridge of an A100? Mind the [brackets] and <angles>.", "It is 156 FLOP/B.",
             "✓ 1 check true", "What did you say?", "Not quite", "Then they ask",
             "proposed hard · said 2 of 3", "1 again today   2 hard today   3 good 1 d   4 easy 1 d",
             "1 card graded: 1 good. Each is stored."]  # fmt: skip
    at = [shown.index(text) for text in order]
    assert at == sorted(at)
    entry = next(ridge_only.store.entries())
    assert (entry.quality, entry.ticked) == (4, (0, 2))


def test_a_wrong_key_is_told_and_asked_again(ridge_only: Desk) -> None:
    shown = drill(ridge_only, "\n\n7\nx\n4\n")
    assert shown.count("! type 1 to 4; or u undo, s suspend, b bury, f flag, h hint, t terms, q leave") == 2
    assert next(ridge_only.store.entries()).quality == 5


def test_again_comes_back_and_undo_takes_back(ridge_only: Desk) -> None:
    shown = drill(ridge_only, "\n\n1\nu\n\n\n3\n")
    assert "Taken back: again." in shown
    kinds = [str(entry.kind) for entry in ridge_only.store.entries()]
    assert kinds == ["review", "undo", "review"]


def test_a_flag_leaves_the_card_where_it_is(ridge_only: Desk) -> None:
    shown = drill(ridge_only, "f\n\n\nf\n3\n")
    assert "Flagged." in shown
    assert "Flag cleared." in shown
    assert [str(entry.kind) for entry in ridge_only.store.entries()] == ["flag", "unflag", "review"]


def test_nothing_due_is_said(ridge_only: Desk) -> None:
    drill(ridge_only, "\n\n3\n")
    assert "Nothing is due here today." in drill(ridge_only, "\n")


def test_terms_come_with_the_answer(ridge_only: Desk, tmp_path) -> None:
    glossary = (
        "---\nfatutor: 1\ntitle: T\nglossary: true\n---\n## Dense (dense peak)\nWithout 2:4 sparsity.\n"
    )
    (tmp_path / "one" / "glossary.md").write_text(glossary, "utf-8")
    shown = drill(ridge_only, "t\n\n\nt\n3\n")
    order = ["Terms come with the answer.", "It is 156 FLOP/B.", "Without 2:4 sparsity.", "1 card graded"]
    at = [shown.index(text) for text in order]
    assert at == sorted(at)
    assert shown.count("Without 2:4 sparsity.") == 1


def test_a_card_without_terms_says_so(ridge_only: Desk) -> None:
    assert "No term of the glossary is used here." in drill(ridge_only, "\n\nt\n3\n")


def test_points_that_are_not_there_are_told_and_one_named_twice_is_ticked_once(ridge_only: Desk) -> None:
    shown = drill(ridge_only, "\n1 9\nx\n2, 2 3\n3\n")
    assert "! there is no point '9'; type numbers from 1 to 3" in shown
    assert "! there is no point 'x'; type numbers from 1 to 3" in shown
    assert next(ridge_only.store.entries()).ticked == (1, 2)


def test_the_letters_work_at_the_points_too(ridge_only: Desk) -> None:
    shown = drill(ridge_only, "\nf\n\n1\n\nu\n\nq\n")
    kinds = [str(entry.kind) for entry in ridge_only.store.entries()]
    assert kinds == ["flag", "review", "undo"]
    assert shown.count("What is the ridge of an A100?") == 3
    assert shown.endswith("0 cards graded.\n1 more for today; start again to go on.\n")


def test_a_deck_that_is_not_there_is_told_with_those_that_are(desk: Desk) -> None:
    with pytest.raises(FatutorError, match=r"there is no deck 'x'; decks here: plain, 01, 02$"):
        desk.deck_named("x")
