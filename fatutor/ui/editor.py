"""Opening a file at a line in the learner's own editor."""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

from textual.app import SuspendNotSupported

from fatutor.deck.model import Place
from fatutor.errors import FatutorError

PLUS_LINE = frozenset(
    {"vi", "vim", "nvim", "nano", "emacs", "emacsclient", "micro", "kak", "pico", "joe", "ne", "mg"}
)
COLON_LINE = frozenset({"hx", "helix", "subl", "zed"})


def command(place: Place, environ: Mapping[str, str]) -> list[str]:
    """The editor's command line. Raises FatutorError where no editor is named."""
    try:
        words = shlex.split(environ.get("VISUAL") or environ.get("EDITOR") or "")
    except ValueError as error:
        raise FatutorError(f"EDITOR cannot be read: {error}", "close its quotes") from error
    if not words:
        raise FatutorError("no editor is named", f"set EDITOR, or open {place} yourself")
    name = Path(words[0]).name
    if name in PLUS_LINE:
        return [*words, f"+{place.line}", place.path]
    if name in COLON_LINE:
        return [*words, str(place)]
    if name in ("code", "codium", "cursor"):
        return [*words, "--wait", "--goto", str(place)]
    return [*words, place.path]


def open_editor(
    place: Place, environ: Mapping[str, str], suspend: Callable[[], AbstractContextManager[None]]
) -> int:
    """Hand the terminal to the editor until it ends, and return its exit code.

    Raises FatutorError where it cannot be run.
    """
    words = command(place, environ)
    try:
        with suspend():
            code = _run(words, environ)  # must not raise: the terminal would not come back
    except SuspendNotSupported as error:
        raise FatutorError("this terminal cannot be handed to an editor", f"open {place} yourself") from error
    if code is None:
        raise FatutorError(f"{words[0]} could not be started", "set EDITOR to an editor that is installed")
    return code


def _run(words: Sequence[str], environ: Mapping[str, str]) -> int | None:
    """The editor's exit code; None where it cannot be started."""
    try:
        return subprocess.run(words, check=False, env=dict(environ)).returncode
    except OSError:
        return None
