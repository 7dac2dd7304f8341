"""`fatutor doctor`: what is here, what is missing, and a way out for each."""

from __future__ import annotations

import argparse
import json
import locale
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from fatutor import __version__
from fatutor.demo.machine import gpu_name
from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.text.words import many
from fatutor.verbs.desk import is_terminal, make_desk


@dataclass(frozen=True, slots=True)
class Finding:
    """`state` is ok, note (works, but know this) or trouble (something will not work until it is mended)."""

    what: str
    state: str
    told: str
    way_out: str = ""


def doctor(arguments: argparse.Namespace) -> int:
    """Exit code 1 where something is in trouble."""
    findings = list(_findings(arguments))
    if arguments.json:
        print(json.dumps({"findings": [asdict(f) for f in findings]}, ensure_ascii=False))
    else:
        marks = {"ok": "✓", "note": "·", "trouble": "✗"}
        for found in findings:
            way_out = f"; {found.way_out}" if found.way_out else ""
            print(f"{marks[found.state]} {found.what:<10} {found.told}{way_out}")
    return 1 if any(found.state == "trouble" for found in findings) else 0


def _findings(arguments: argparse.Namespace) -> Iterator[Finding]:
    yield Finding(
        "fatutor", "ok", f"{__version__} on Python {platform.python_version()}, {platform.platform()}"
    )
    yield _package("textual", needed=True)
    yield _package("sqlmodel", needed=True)
    yield _package("torch", needed=False)
    yield _package("triton", needed=False)
    gpu = gpu_name()
    yield (
        Finding("gpu", "ok", gpu)
        if gpu
        else Finding(
            "gpu",
            "note",
            "none found: demos count bytes and check values, and measure no times",
            "run them where an NVIDIA driver is, or look at the recorded runs",
        )
    )
    yield _terminal()
    yield _locale()
    try:
        desk = make_desk(arguments)
    except FatutorError as reason:
        yield Finding("settings", "trouble", reason.what, reason.way_out)
        return
    with closing(desk):
        yield _database(desk, arguments)
        yield _decks(desk)


def _package(name: str, *, needed: bool) -> Finding:
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        if needed:
            return Finding(name, "trouble", "not installed", "install fatutor again")
        if name == "triton" and sys.platform != "linux":
            return Finding(name, "note", "has no build for this system", "run demos on a Linux machine")
        return Finding(
            name, "note", "not installed: drills work, demos do not", "pip install 'fatutor[demos]'"
        )


def _terminal() -> Finding:
    term = os.environ.get("TERM", "")
    if not is_terminal():
        return Finding("terminal", "note", "none here: drills come as plain lines", "run it in a terminal")
    if term in ("", "dumb"):
        return Finding(
            "terminal", "note", f"TERM={term!r}: drills come as plain lines", "set TERM, or stay with lines"
        )
    width, height = shutil.get_terminal_size()
    size = f"{term}, {width}x{height}"
    if width < 60 or height < 20:
        return Finding("terminal", "note", f"{size} is tight", "60x20 is the least that reads well")
    return Finding("terminal", "ok", size)


def _locale() -> Finding:
    encoding = sys.stdout.encoding or locale.getpreferredencoding(False)
    if encoding.lower().replace("-", "") in ("utf8", "utf8mb4"):
        return Finding("locale", "ok", encoding)
    return Finding(
        "locale",
        "trouble",
        f"output is {encoding}: formulas come out as escapes",
        "set LANG=C.UTF-8 or PYTHONUTF8=1",
    )


def _database(desk: Desk, arguments: argparse.Namespace) -> Finding:
    where = str(desk.location)
    if desk.location.file is not None:
        if told := unwritable(desk.location.file):
            way_out = "give yourself write permission, or choose another place with FATUTOR_HOME or --db"
            return Finding("database", "trouble", f"{where}: no answer can be stored, since {told}", way_out)
        if not desk.location.file.exists():
            return Finding("database", "ok", f"{where}: made with the first answer")
    from fatutor.store.doctor import damage, differences, rebuild
    from fatutor.store.failures import older_schema
    from fatutor.store.read import is_older
    from fatutor.store.store import open_to_read

    if is_older(desk.location):
        older = older_schema(desk.location)
        return Finding("database", "note", older.what, older.way_out)
    try:
        with open_to_read(desk.location, backups=desk.paths.backups) as store:
            if broken := damage(store):
                copies = f"the copies are in {desk.paths.backups}"
                return Finding("database", "trouble", f"{where}: {broken[0]}", copies)
            apart = differences(store)
        if arguments.rebuild:
            mended = many(len(rebuild(desk.store)), "card state")
            return Finding("database", "ok", f"{where}: {mended} mended from the log")
    except FatutorError as reason:
        return Finding("database", "trouble", reason.what, reason.way_out)
    if apart:
        states = many(len(apart), "card state")
        told = f"{where}: {states} not as the log says, {apart[0].card} among them"
        return Finding("database", "trouble", told, "fatutor doctor --rebuild")
    return Finding("database", "ok", f"{where}: the log and the card states agree")


def _may_write(path: Path) -> bool:
    return os.access(path, os.W_OK | (os.X_OK if path.is_dir() else 0))


def unwritable(file: Path, may_write: Callable[[Path], bool] = _may_write) -> str:
    """Why the first answer could not be stored in the database at `file`; empty where it could be.

    SQLite writes files beside its own, so the folder counts too: one that does not exist yet is made below
    its nearest parent that does.
    """
    if _is_there(file) and not may_write(file):
        return "this file may not be written"
    folder = next(parent for parent in file.parents if _is_there(parent))
    if not folder.is_dir():
        return f"{folder} is no folder"
    return "" if may_write(folder) else f"the folder {folder} may not be written"


def _is_there(path: Path) -> bool:
    """Unlike `Path.exists`, False where a folder on the way may not be looked into."""
    return os.access(path, os.F_OK)


def _decks(desk: Desk) -> Finding:
    faults = [fault for fault in desk.library.faults if not fault.warning]
    told = f"{many(len(desk.library.decks), 'deck')}, {many(len(desk.library.cards), 'card')}"
    if faults:
        return Finding("decks", "note", f"{told}, {many(len(faults), 'fault')}", "fatutor check lists them")
    return Finding("decks", "ok", told)
