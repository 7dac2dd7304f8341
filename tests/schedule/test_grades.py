from fatutor.schedule.grades import GRADES, PASS, SETTLED, grading_keys


def test_four_keys_give_qualities_two_to_five() -> None:
    keys = grading_keys()
    assert {key: (grade.quality, grade.label) for key, grade in keys.items()} == {
        1: (2, "again"),
        2: (3, "hard"),
        3: (4, "good"),
        4: (5, "easy"),
    }


def test_six_keys_give_the_whole_scale() -> None:
    keys = grading_keys(six_grades=True)
    assert [(key, grade.quality) for key, grade in keys.items()] == [(n, n) for n in range(6)]


def test_the_table_is_in_the_order_of_quality_and_each_label_is_its_own() -> None:
    assert [grade.quality for grade in GRADES] == [0, 1, 2, 3, 4, 5]
    assert len({grade.label for grade in GRADES}) == 6
    assert all(" " not in grade.label for grade in GRADES)


def test_hard_is_a_pass_that_does_not_settle_the_day() -> None:
    hard = grading_keys()[2].quality
    assert PASS <= hard < SETTLED
