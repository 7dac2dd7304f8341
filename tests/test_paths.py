from __future__ import annotations

import pwd
from pathlib import Path

import pytest

from fatutor.errors import FatutorError
from fatutor.paths import bundle_root, paths


def test_fatutor_home_holds_everything(tmp_path: Path) -> None:
    found = paths({"FATUTOR_HOME": str(tmp_path)})
    assert found.database == tmp_path / "fatutor.db"
    assert found.backups == tmp_path / "backups"
    assert found.own_decks == tmp_path / "decks"
    assert found.settings == tmp_path / "config.toml"
    assert found.cache == tmp_path / "cache"


def test_nothing_is_made(tmp_path: Path) -> None:
    paths({"FATUTOR_HOME": str(tmp_path / "new")})
    assert list(tmp_path.iterdir()) == []


def test_a_relative_home_is_made_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert paths({"FATUTOR_HOME": "trial"}).data == tmp_path / "trial"


def test_an_empty_fatutor_home_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths({"FATUTOR_HOME": ""}) == paths({})


def test_a_tilde_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert paths({"FATUTOR_HOME": "~/fat"}).data == tmp_path / "fat"


def test_an_unknown_home_is_one_line() -> None:
    with pytest.raises(FatutorError, match="starts in no known home; write the whole path"):
        paths({"FATUTOR_HOME": "~no-such-user-here/fat"})


def test_the_platform_decides_otherwise(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    found = paths({})
    assert all(path.is_relative_to(tmp_path) for path in (found.data, found.config, found.cache))
    assert all("fatutor" in str(path) for path in (found.data, found.config, found.cache))


def test_without_any_home_there_is_a_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(uid: int) -> None:
        raise KeyError(uid)

    monkeypatch.setattr(pwd, "getpwuid", nobody)
    with pytest.raises(FatutorError) as caught:
        paths({})
    assert "FATUTOR_HOME" in caught.value.way_out


def test_decks_and_kernels_are_where_the_bundle_is() -> None:
    assert (bundle_root() / "decks").is_dir()
    assert (bundle_root() / "kernels").is_dir()
