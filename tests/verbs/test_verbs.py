"""What the verbs print when all is well."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from fatutor import __version__
from fatutor.verbs.doctor import unwritable


def test_due_as_a_document_and_as_lines(fatutor) -> None:
    document = json.loads(fatutor("due", "--json").stdout)
    assert set(document) == {"study_day", "relearning", "due", "new", "minutes", "held", "decks"}
    plain = next(deck for deck in document["decks"] if deck["deck"] == "plain")
    assert set(plain) == {"deck", "relearning", "due", "new", "known", "total"}
    assert plain["total"] == 4
    assert document["new"] == sum(deck["new"] for deck in document["decks"]) == 8
    assert "8 new" in fatutor("due").stdout


def test_due_says_what_is_wrong_with_a_deck_and_with_a_setting(fatutor, decks, home) -> None:
    home.mkdir()
    (home / "config.toml").write_text("colour = 3\n")
    (decks / "broken.md").write_text("---\nfatutor: [1\n---\n")
    lines = fatutor("due").stdout.splitlines()
    assert lines[0].startswith("! config.toml: colour")
    assert lines[1].startswith("! ") and "broken.md:" in lines[1]


def test_due_counts_what_a_drill_then_asks(fatutor, decks) -> None:
    shown = fatutor("drill", "plain", typed="q\n").stdout
    due = json.loads(fatutor("due", "--json").stdout)
    assert f"{due['new']} new" in shown


def test_check_as_a_document(fatutor, decks) -> None:
    done = fatutor("check", str(decks), "--json", own=False)
    assert done.returncode == 0
    document = json.loads(done.stdout)
    assert document["beats"] == 2
    assert document["cards"] == {"prove-it": 2, "interview": 3, "recall": 3, "cloze": 0}
    assert document["checks"] == {"true": 1, "false": 0}
    assert document["minutes"] == {"core": 2, "deep-dive": 0}


def test_check_names_an_id_that_a_bundled_card_has(fatutor, decks) -> None:
    deck = decks / "plain.md"
    deck.write_text(deck.read_text("utf-8").replace("card id=ridge kind", "card id=ridge-a100 kind"), "utf-8")
    done = fatutor("check", str(deck), own=False)
    assert done.returncode == 1
    fault, summary = done.stdout.splitlines()
    place, told = fault.split(": ", 1)
    assert place == f"{deck}:6"
    assert told.startswith("the id ridge-a100 is also that of the card at ")
    assert "decks/interview/1-problem-and-roofline.md:" in told
    assert told.endswith(", so neither is drilled; give one of them another id")
    assert summary == "0 beats, 3 cards, 1 of 1 check true, 1 fault, 0 warnings"


def test_check_of_a_deck_that_is_drilled_already_does_not_find_it_twice(fatutor, decks) -> None:
    for named in (decks, decks / "plain.md"):
        done = fatutor("check", str(named))
        assert done.returncode == 0, done.stdout


def test_one_number_is_no_numbers(fatutor, decks) -> None:
    deck = decks / "one.md"
    deck.write_text("---\nfatutor: 1\ntitle: One\n---\nIt takes 37 bytes.\n", "utf-8")
    assert fatutor("check", "--numbers", str(deck), own=False).stdout.splitlines() == [
        f"{deck}:5: 37, in “It takes 37 bytes.”",
        "1 number that no check covers",
    ]


def test_check_names_a_false_number(fatutor, decks) -> None:
    deck = decks / "plain.md"
    deck.write_text(deck.read_text("utf-8").replace("== 156", "== 157"), "utf-8")
    done = fatutor("check", str(decks), own=False)
    assert done.returncode == 1
    assert "plain.md:" in done.stdout and "156" in done.stdout and "157" in done.stdout


def test_fix_stamps_an_id_once_and_touches_nothing_else(fatutor, decks) -> None:
    deck = decks / "plain.md"
    before = deck.read_text("utf-8")
    deck.write_text(before.replace("card id=ridge kind", "card kind"), "utf-8")
    done = fatutor("check", str(decks), "--fix", own=False)
    assert done.returncode == 0, done.stdout
    after = deck.read_text("utf-8")
    stamped = next(line for line in after.split("\n") if "kind=interview" in line)
    assert "id=the-ridge-" in stamped
    assert [a for a in after.split("\n") if a != stamped] == [
        b for b in before.split("\n") if "id=ridge" not in b
    ]
    fatutor("check", str(decks), "--fix", own=False)
    assert deck.read_text("utf-8") == after


def test_the_bundled_decks_are_without_fault(fatutor) -> None:
    document = json.loads(fatutor("check", "--json", own=False).stdout)
    assert document["faults"] == []
    assert document["checks"]["false"] == 0
    assert document["beats"] == 7
    assert document["minutes"] == {"core": 32, "deep-dive": 24}


def test_doctor_names_what_is_here(fatutor) -> None:
    document = json.loads(fatutor("doctor", "--json").stdout)
    found = {finding["what"]: finding for finding in document["findings"]}
    assert found["fatutor"]["told"].startswith(__version__)
    assert {"textual", "sqlmodel", "torch", "triton", "gpu", "terminal", "locale", "database"} <= set(found)
    assert all(finding["way_out"] for finding in found.values() if finding["state"] != "ok")


def test_doctor_finds_and_mends_a_card_state_that_the_log_does_not_give(fatutor, home) -> None:
    import sqlite3

    fatutor("drill", "plain", typed="s\ns\ns\ns\nq\n")
    with sqlite3.connect(home / "fatutor.db") as db:
        db.execute("update card_state set suspended = 0")
    ill = fatutor("doctor")
    assert ill.returncode == 1
    assert "4 card states not as the log says" in ill.stdout
    assert "4 card states mended from the log" in fatutor("doctor", "--rebuild").stdout
    assert fatutor("doctor").returncode == 0


def test_doctor_looks_and_leaves_everything_as_it_was(fatutor, home) -> None:
    fatutor("drill", "plain", typed="s\ns\nq\n")
    shutil.rmtree(home / "backups")
    before = {path: path.read_bytes() for path in home.glob("*.db*")}
    assert "the log and the card states agree" in fatutor("doctor").stdout
    assert {path: path.read_bytes() for path in home.glob("*.db*")} == before
    assert not (home / "backups").exists()


def test_doctor_says_that_an_older_database_awaits_a_start(fatutor, home) -> None:
    import sqlite3

    fatutor("drill", "plain", typed="s\nq\n")
    with sqlite3.connect(home / "fatutor.db") as db:
        db.execute("delete from schema_version where version > 1")
    [found] = [
        one for one in json.loads(fatutor("doctor", "--json").stdout)["findings"] if one["what"] == "database"
    ]
    assert found["state"] == "note"
    assert found["way_out"] == "run fatutor once to bring it up to date"


def test_doctor_finds_a_database_that_the_first_answer_could_not_make(fatutor, home) -> None:
    home.mkdir()
    (home / "file").touch()
    for below in ("my.db", "a/b/my.db"):
        done = fatutor("doctor", "--db", str(home / "file" / below))
        assert done.returncode == 1
        assert (
            f"✗ database   {home}/file/{below}: no answer can be stored, since {home}/file is no folder; "
            "give yourself write permission, or choose another place with FATUTOR_HOME or --db"
        ) in done.stdout.splitlines()


@pytest.mark.parametrize(
    ("closed", "told"),
    [
        ("home", "the folder {}/home may not be written"),
        ("home/my.db", "this file may not be written"),
        (".", ""),
        ("home/new", ""),
    ],
)
def test_what_may_be_written_is_asked_of_the_file_and_of_the_folder(tmp_path, closed, told) -> None:
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "my.db").touch()
    database = tmp_path / "home" / "my.db"
    assert unwritable(database, lambda path: path != tmp_path / closed) == told.format(tmp_path)


def test_a_folder_that_does_not_exist_yet_is_made_where_its_nearest_parent_may_be_written(tmp_path) -> None:
    asked: list[Path] = []
    database = tmp_path / "a" / "b" / "my.db"
    assert unwritable(database, lambda path: bool(asked.append(path))) == (
        f"the folder {tmp_path} may not be written"
    )
    assert asked == [tmp_path]
    assert unwritable(database) == ""


def test_demos_are_listed_without_loading_them(fatutor) -> None:
    listed = fatutor("demo")
    assert listed.returncode == 0
    assert "bytes-moved" in listed.stdout and "same-answer" in listed.stdout
    assert {"name", "claim", "unit"} <= set(json.loads(fatutor("demo", "--json").stdout)[0])


def test_a_demo_ends_in_a_result_that_equals_its_formula(fatutor) -> None:
    pytest.importorskip("torch")
    pytest.importorskip("triton")
    done = fatutor("demo", "bytes-moved", "--json")
    assert done.returncode == 0, done.stderr
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert {"start", "progress", "row"} <= {event["event"] for event in events}
    assert events[-1]["event"] == "result"
    assert events[-1]["measured"] == events[-1]["formula"] == 1_181_696


def test_decks_and_database_are_taken_before_and_after_the_verb(fatutor, decks, home) -> None:
    more = decks.parent / "more"
    more.mkdir()
    text = (decks / "plain.md").read_text("utf-8").replace("id=", "id=extra-")
    (more / "extra.md").write_text(text, "utf-8")
    due = json.loads(fatutor("due", "--json", "--decks", str(more), "--db", str(home / "other.db")).stdout)
    assert {"plain", "extra"} <= {deck["deck"] for deck in due["decks"]}
    fatutor("drill", "plain", "--db", str(home / "other.db"), typed="s\nq\n")
    assert (home / "other.db").exists()
    assert not (home / "fatutor.db").exists()
