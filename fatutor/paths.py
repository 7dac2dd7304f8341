"""Where things are kept. Returns paths and makes nothing: whoever writes makes the folder, late."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fatutor.errors import FatutorError


@dataclass(frozen=True, slots=True)
class Paths:
    """The folders of one installation for one person."""

    data: Path
    config: Path
    cache: Path

    @property
    def database(self) -> Path:
        return self.data / "fatutor.db"

    @property
    def backups(self) -> Path:
        return self.data / "backups"

    @property
    def own_decks(self) -> Path:
        return self.data / "decks"

    @property
    def settings(self) -> Path:
        return self.config / "config.toml"


def paths(environ: Mapping[str, str]) -> Paths:
    """Everything under `FATUTOR_HOME` where that is set, else the platform's own folders.

    Raises FatutorError where the platform cannot name a home folder.
    """
    if home := environ.get("FATUTOR_HOME"):
        try:
            root = Path(home).expanduser().absolute()
        except RuntimeError as error:
            raise FatutorError(
                f"FATUTOR_HOME: {home} starts in no known home", "write the whole path"
            ) from error
        return Paths(data=root, config=root, cache=root / "cache")
    from platformdirs import PlatformDirs

    folders = PlatformDirs("fatutor", appauthor=False)
    try:
        found = Paths(folders.user_data_path, folders.user_config_path, folders.user_cache_path)
    except (RuntimeError, KeyError, OSError):
        found = None
    # Without HOME and without a password entry, the answer is a path that still starts with "~".
    if found is None or any(str(path).startswith("~") for path in (found.data, found.config)):
        raise FatutorError(
            "no home folder is known for this user", "set HOME, or FATUTOR_HOME to a folder of your choice"
        )
    return found


def bundle_root() -> Path:
    """The folder that holds `decks/` and `kernels/`.

    Inside a wheel that is `fatutor/_bundle`, since a top-level package called `kernels` would shadow a
    well-known one; in a checkout it is the repository root.
    """
    package = Path(__file__).resolve().parent
    bundled = package / "_bundle"
    return bundled if bundled.is_dir() else package.parent
