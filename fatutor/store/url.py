"""Which database: a path, a URL, or the file in the data folder. Reads text only and opens nothing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fatutor.errors import FatutorError
from fatutor.paths import Paths

_SQLITE = re.compile(r"sqlite(\+pysqlite)?:///(?!:memory:)(?P<path>[^?]+)")


@dataclass(frozen=True, slots=True)
class Location:
    """A database: an SQLite `file`, or else a `url` that SQLAlchemy understands."""

    file: Path | None = None
    url: str = ""

    def __str__(self) -> str:
        """As shown to people, without a password."""
        if self.file is not None:
            return str(self.file)
        return re.sub(r"(://[^:/@]*):.*@", r"\1:***@", self.url)


def locate(option: str | None, environ: Mapping[str, str], paths: Paths) -> Location:
    """The database that `--db` names, else `FATUTOR_DB`, else the one in the data folder.

    A bare path means an SQLite file. Raises FatutorError for a path that starts in an unknown home.
    """
    named = option or environ.get("FATUTOR_DB")
    if not named:
        return Location(file=paths.database)
    if "://" not in named:
        return Location(file=_absolute(named))
    if match := _SQLITE.fullmatch(named):
        return Location(file=_absolute(match["path"]))
    return Location(url=named)


def _absolute(path: str) -> Path:
    try:
        return Path(path).expanduser().absolute()
    except RuntimeError as error:
        raise FatutorError(f"{path} starts in no known home folder", "write the whole path") from error
