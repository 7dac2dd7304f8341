"""What was said beforehand, and how it compares."""

import pytest

from fatutor.demo.prediction import Comparison, Prediction, compare, predict
from fatutor.errors import FatutorError

CHOICES = ("about 10 times further", "no further, or nearer", "no distance at all")


def test_a_number_is_kept_as_typed_and_as_meant():
    assert predict(" 1.2 MB ", "B") == Prediction("1.2 MB", value=1.2e6)


@pytest.mark.parametrize("text", ["2", "no further, or nearer", "NO FURTHER", "no f"])
def test_a_choice_by_place_by_words_and_by_beginning(text):
    assert predict(text, "", CHOICES) == Prediction(text, choice="no further, or nearer")


def test_among_numbers_the_words_come_before_the_place():
    assert predict("2", "", ("4", "2", "1")).choice == "2"


@pytest.mark.parametrize("text", ["4", "0", "no", "yes", "²", "1" * 5000])
def test_what_names_no_one_choice_is_refused(text):
    with pytest.raises(FatutorError, match="type 1 to 3, or how the choice begins"):
        predict(text, "", CHOICES)


@pytest.mark.parametrize("choices", [(), CHOICES])
def test_nothing_is_no_prediction(choices):
    with pytest.raises(FatutorError, match="a prediction comes first"):
        predict(" \n", "B", choices)


@pytest.mark.parametrize(
    ("said", "truth", "right", "sentence"),
    [
        (4784128, 4784128, True, "exactly right"),
        (4.8e6, 4784128, True, "within 1 %"),
        (1.02, 1, True, "within 2 %"),
        (0.97, 1, True, "within 3 %"),
        (1.1, 1, True, "within 10 %"),
        (1.11, 1, False, "11 % over"),
        (1.4, 1, False, "40 % over"),
        (0.6, 1, False, "40 % under"),
        (0.5, 1, False, "2× under"),
        (0.5e6, 1181696, False, "2.4× under"),
        (1e9, 1, False, "1\u00a0000\u00a0000\u00a0000× over"),
        (0, 3, False, "it is 3 B"),
        (-3, 3, False, "it is 3 B"),
        (3, 0, False, "it is 0 B"),
        (0, 0, True, "exactly right"),
        (-3, -3, True, "exactly right"),
    ],
)
def test_near_and_far(said, truth, right, sentence):
    found = compare(Prediction("", value=said), None, truth, "B")
    assert (found.right, found.sentence) == (right, sentence)


def test_the_machine_has_the_last_word_and_the_formula_stands_in():
    said = Prediction("2", value=2)
    assert compare(said, 4, 2, "B") == Comparison(True, "exactly right", 1)
    assert compare(said, 4, None, "B") == Comparison(False, "2× under", 0.5)
    assert compare(said, None, None, "B") == Comparison(False, "nothing to compare with")


def test_a_choice_is_right_or_not():
    assert compare(Prediction("2", choice=CHOICES[1]), None, None, "", CHOICES[1]) == Comparison(
        True, "right"
    )
    assert compare(Prediction("1", choice=CHOICES[0]), None, None, "", CHOICES[1]) == Comparison(
        False, "it is no further, or nearer"
    )
