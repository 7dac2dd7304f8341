from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import get_args

import pytest

from fatutor import settings
from fatutor.errors import FatutorError
from fatutor.schedule import sm2
from fatutor.settings import Settings, read_settings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "config.toml"


def test_no_file_gives_the_defaults(config: Path) -> None:
    assert read_settings(config) == (Settings(), ())
    assert not config.exists()


def test_an_empty_file_gives_the_defaults(config: Path) -> None:
    config.write_text("")
    assert read_settings(config) == (Settings(), ())


def test_every_setting(config: Path) -> None:
    config.write_text(
        """
        new_per_day = 3
        minutes = 15
        ceiling = 180
        profile = "sm2-text"
        rollover = 2
        six_grades = true
        interview_on = 2026-12-22
        decks = ["mine", "/srv/decks/io.md"]
        theme = "textual-light"
        [demo.remotes.box]
        launch = ["ssh", "box", "python3"]
        """
    )
    assert read_settings(config) == (
        Settings(
            new_per_day=3,
            minutes=15,
            ceiling=180,
            profile="sm2-text",
            rollover=2,
            six_grades=True,
            interview_on=date(2026, 12, 22),
            decks=(config.parent / "mine", Path("/srv/decks/io.md")),
            theme="textual-light",
            remotes={"box": ("ssh", "box", "python3")},
        ),
        (),
    )


def test_a_tilde_is_the_home_folder(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/somebody")
    config.write_text('decks = ["~/decks"]')
    assert read_settings(config)[0].decks == (Path("/home/somebody/decks"),)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        ('new_per_day = "8"', "new_per_day: must be a whole number from 0 to 1000; write new_per_day = 8"),
        ("new_per_day = 8.5", "new_per_day: must be a whole number from 0 to 1000; write new_per_day = 8"),
        ("new_per_day = true", "new_per_day: must be a whole number from 0 to 1000; write new_per_day = 8"),
        ("new_per_day = -1", "new_per_day: must be a whole number from 0 to 1000; write new_per_day = 8"),
        ("minutes = 0", "minutes: must be a whole number from 1 to 1000; write minutes = 15"),
        ("ceiling = 0", "ceiling: must be a whole number from 1 to 36500; write ceiling = 365"),
        ("ceiling = 99999999999999", "ceiling: must be a whole number from 1 to 36500; write ceiling = 365"),
        ('profile = "sm3"', 'profile: must be sm2 or sm2-text; write profile = "sm2"'),
        ("profile = []", 'profile: must be sm2 or sm2-text; write profile = "sm2"'),
        ("rollover = 24", "rollover: must be a whole number from 0 to 12; write rollover = 4"),
        ("six_grades = 1", "six_grades: must be true or false; write six_grades = true"),
        ('interview_on = "soon"', "interview_on: must be a date; write interview_on = 2027-01-31"),
        ("interview_on = 10:00:00", "interview_on: must be a date; write interview_on = 2027-01-31"),
        ('decks = "mine"', 'decks: must be a list of paths; write decks = ["~/decks"]'),
        ("decks = [1]", 'decks: must be a list of paths; write decks = ["~/decks"]'),
        ('theme = ""', 'theme: must be the name of a theme; write theme = "textual-light"'),
        ("demo = 3", "demo: must be a table; write demo = { }"),
        ("[demo]\nremotes = 3", "demo.remotes: must be a table; write demo.remotes = { }"),
        (
            "[demo.remotes.box]",
            'demo.remotes.box.launch: must be a list of words; '
            'write demo.remotes.box.launch = ["ssh", "box", "python3 -m kernels"]',
        ),
        (
            "[demo.remotes.box]\nlaunch = []",
            'demo.remotes.box.launch: must be a list of words; '
            'write demo.remotes.box.launch = ["ssh", "box", "python3 -m kernels"]',
        ),
    ],
)  # fmt: skip
def test_a_wrong_value_is_one_line_with_what_to_write(config: Path, line: str, fault: str) -> None:
    config.write_text(line)
    with pytest.raises(FatutorError) as caught:
        read_settings(config)
    assert str(caught.value) == f"config.toml: {fault}"


def test_a_date_with_a_time_is_no_date(config: Path) -> None:
    config.write_text("interview_on = 2026-12-22T10:00:00")
    with pytest.raises(FatutorError, match="interview_on: must be a date"):
        read_settings(config)


def test_what_a_fault_tells_to_write_can_be_read(config: Path) -> None:
    for line in (
        'new_per_day = ""',
        "minutes = 0",
        "ceiling = 0",
        "profile = 1",
        "rollover = 99",
        "theme = 1",
    ):
        config.write_text(line)
        with pytest.raises(FatutorError) as caught:
            read_settings(config)
        config.write_text(caught.value.way_out.removeprefix("write "))
        assert read_settings(config)[1] == ()


def test_unknown_keys_are_named_and_nothing_else(config: Path) -> None:
    config.write_text(
        'colour = "red"\nminutes = 5\n[demo]\nfast = true\n[demo.remotes.b]\nlaunch = ["x"]\nport = 1'
    )
    found, warnings = read_settings(config)
    assert (found.minutes, found.remotes) == (5, {"b": ("x",)})
    assert warnings == (
        "config.toml: colour: no such setting",
        "config.toml: demo.fast: no such setting",
        "config.toml: demo.remotes.b.port: no such setting",
    )


def test_a_key_cannot_speak_to_the_terminal(config: Path) -> None:
    config.write_text(r'"\u001b[2Jx" = 1')
    assert read_settings(config)[1] == (r"config.toml: \x1b[2Jx: no such setting",)


def test_broken_toml_says_where(config: Path) -> None:
    config.write_text("minutes = 5\nminutes 6\n")
    with pytest.raises(FatutorError, match=r"config\.toml is not TOML: .*line 2"):
        read_settings(config)


def test_other_encodings_are_refused(config: Path) -> None:
    config.write_bytes("theme = 'é'".encode("latin-1"))
    with pytest.raises(FatutorError, match=r"config\.toml is not UTF-8 text; save it as UTF-8"):
        read_settings(config)


def test_a_folder_in_its_place_is_one_line(config: Path) -> None:
    config.mkdir()
    with pytest.raises(FatutorError, match=r"config\.toml cannot be read: Is a directory"):
        read_settings(config)


def test_an_unknown_home_is_one_line(config: Path) -> None:
    config.write_text('decks = ["~no-such-user-here/decks"]')
    with pytest.raises(FatutorError, match="names no known home; write the whole path"):
        read_settings(config)


def test_profiles_are_those_of_the_scheduler() -> None:
    assert get_args(settings.Profile) == get_args(sm2.Profile)
