from __future__ import annotations

from pathlib import Path

import pytest

from fatutor.errors import FatutorError
from fatutor.paths import Paths
from fatutor.store.url import Location, locate

PATHS = Paths(data=Path("/data"), config=Path("/config"), cache=Path("/cache"))
DEFAULT = Location(file=Path("/data/fatutor.db"))


def test_the_data_folder_by_default() -> None:
    assert locate(None, {}, PATHS) == DEFAULT
    assert locate("", {"FATUTOR_DB": ""}, PATHS) == DEFAULT


def test_the_option_goes_before_the_environment() -> None:
    assert locate(None, {"FATUTOR_DB": "/env.db"}, PATHS) == Location(file=Path("/env.db"))
    assert locate("/opt.db", {"FATUTOR_DB": "/env.db"}, PATHS) == Location(file=Path("/opt.db"))


@pytest.mark.parametrize(
    ("named", "file"),
    [
        ("/x/y.db", "/x/y.db"),
        ("sqlite:////x/y.db", "/x/y.db"),
        ("sqlite+pysqlite:////x/y.db", "/x/y.db"),
        ("/x/what?.db", "/x/what?.db"),
        ("/x/100%.db", "/x/100%.db"),
    ],
)
def test_a_path_and_its_url_are_one_file(named: str, file: str) -> None:
    assert locate(named, {}, PATHS) == Location(file=Path(file))


def test_relative_paths_are_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", "/home/somebody")
    for named in ("y.db", "sqlite:///y.db"):
        assert locate(named, {}, PATHS) == Location(file=tmp_path / "y.db")
    assert locate("~/y.db", {}, PATHS) == Location(file=Path("/home/somebody/y.db"))


@pytest.mark.parametrize(
    "url",
    ["postgresql+psycopg://me@host/fat", "sqlite://", "sqlite:///:memory:", "sqlite:///y.db?cache=shared"],
)
def test_other_urls_are_left_to_sqlalchemy(url: str) -> None:
    assert locate(url, {}, PATHS) == Location(url=url)


def test_an_unknown_home_is_one_line() -> None:
    with pytest.raises(FatutorError, match="write the whole path"):
        locate("~no-such-user-here/y.db", {}, PATHS)


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("postgresql+psycopg://me:se:c/r@t@host/fat", "postgresql+psycopg://me:***@host/fat"),
        ("postgresql://me@host/fat", "postgresql://me@host/fat"),
        ("postgresql://host:5432/fat", "postgresql://host:5432/fat"),
    ],
)
def test_a_password_is_never_shown(url: str, shown: str) -> None:
    assert str(Location(url=url)) == shown
