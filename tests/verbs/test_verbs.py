"""What the verbs print when all is well."""

from __future__ import annotations

import json
import shutil

import pytest

from fatutor import __version__


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
    assert "4 card states are not what the log says" in ill.stdout
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
