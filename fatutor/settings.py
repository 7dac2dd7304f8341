"""`config.toml`: a few values that a learner may want otherwise. Each has a default, and no file is fine."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from pathlib import Path
from typing import Any, Literal, get_args

from fatutor.errors import FatutorError

Profile = Literal["sm2", "sm2-text"]


@dataclass(frozen=True, slots=True)
class Settings:
    """What `config.toml` says.

    `minutes` is the length of a sitting (None: no cap), `ceiling` the longest interval in days, `rollover`
    the hour at which the study day begins, `decks` further files and folders of decks, `theme` a name that
    the screen knows. `remotes` holds, by name, the command that starts the kernels on another machine.
    """

    new_per_day: int = 8
    minutes: int | None = None
    ceiling: int = 365
    profile: Profile = "sm2"
    rollover: int = 4
    six_grades: bool = False
    interview_on: date | None = None
    decks: tuple[Path, ...] = ()
    theme: str | None = None
    remotes: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def read_settings(path: Path) -> tuple[Settings, tuple[str, ...]]:
    """The settings in the file at `path`, and one line for each key in it that means nothing here.

    A missing file gives the defaults; a relative path in `decks` starts at the file's folder. Raises
    FatutorError for a file that cannot be read and for a value of the wrong kind, with what to write.
    """
    table = _load(path)
    values = {key: _checked(path, key, table[key], _RULES[key]) for key in _RULES if key in table}
    if "decks" in values:
        values["decks"] = tuple(_deck_path(path, name) for name in values["decks"])
    remotes, strangers = _remotes(path, table.get("demo", {}))
    strangers = [*(key for key in table if key not in _RULES and key != "demo"), *strangers]
    warnings = tuple(f"{path.name}: {_shown(key)}: no such setting" for key in strangers)
    return Settings(**values, remotes=remotes), warnings


def _load(path: Path) -> dict[str, object]:
    try:
        with path.open("rb") as file:
            return tomllib.load(file)
    except FileNotFoundError:
        return {}
    except OSError as error:
        why = error.strerror or type(error).__name__
        raise FatutorError(f"{path} cannot be read: {why}", "mend it or move it away") from error
    except UnicodeDecodeError as error:
        raise FatutorError(f"{path.name} is not UTF-8 text", "save it as UTF-8") from error
    except tomllib.TOMLDecodeError as error:
        example = "write lines such as new_per_day = 8"
        raise FatutorError(f"{path.name} is not TOML: {error}", example) from error


@dataclass(frozen=True, slots=True)
class _Rule:
    """What a setting must be, in words and as a test, and a value to show."""

    wants: str
    example: str
    accepts: Callable[[object], bool]


def _whole(low: int, high: int, example: int) -> _Rule:
    def accepts(value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high

    return _Rule(f"a whole number from {low} to {high}", str(example), accepts)


def _is_day(value: object) -> bool:
    return isinstance(value, date) and not isinstance(value, datetime)


def _is_text(value: object) -> bool:
    return isinstance(value, str) and value != ""


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_text, value))


_RULES: Mapping[str, _Rule] = {
    "new_per_day": _whole(0, 1000, 8),
    "minutes": _whole(1, 1000, 15),
    "ceiling": _whole(1, 36_500, 365),
    "profile": _Rule(" or ".join(get_args(Profile)), '"sm2"', lambda value: value in get_args(Profile)),
    "rollover": _whole(0, 12, 4),
    "six_grades": _Rule("true or false", "true", lambda value: isinstance(value, bool)),
    "interview_on": _Rule("a date", "2027-01-31", _is_day),
    "decks": _Rule("a list of paths", '["~/decks"]', _is_texts),
    "theme": _Rule("the name of a theme", '"textual-light"', _is_text),
}
_LAUNCH = _Rule(
    "a list of words", '["ssh", "box", "python3 -m kernels"]', lambda value: value != [] and _is_texts(value)
)
_TABLE = _Rule("a table", "{ }", lambda value: isinstance(value, dict))


def _checked(path: Path, key: str, value: Any, rule: _Rule) -> Any:
    if rule.accepts(value):
        return value
    name = _shown(key)
    raise FatutorError(f"{path.name}: {name}: must be {rule.wants}", f"write {name} = {rule.example}")


def _shown(key: str) -> str:
    """A key as written, with control characters made harmless for a terminal."""
    return repr(key)[1:-1]


def _deck_path(path: Path, name: str) -> Path:
    try:
        return path.parent / Path(name).expanduser()
    except RuntimeError as error:
        raise FatutorError(
            f"{path.name}: decks: {name!r} names no known home", "write the whole path"
        ) from error


def _remotes(path: Path, demo: object) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """The launch commands under `[demo.remotes.NAME]`, and the keys there that mean nothing."""
    table = _checked(path, "demo", demo, _TABLE)
    strangers = [f"demo.{key}" for key in table if key != "remotes"]
    remotes: dict[str, tuple[str, ...]] = {}
    for name, remote in _checked(path, "demo.remotes", table.get("remotes", {}), _TABLE).items():
        where = f"demo.remotes.{name}"
        remote = _checked(path, where, remote, _TABLE)
        remotes[name] = tuple(_checked(path, f"{where}.launch", remote.get("launch"), _LAUNCH))
        strangers += [f"{where}.{key}" for key in remote if key != "launch"]
    return remotes, strangers
