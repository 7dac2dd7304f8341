"""The demos that the kernels offer, as they list them themselves."""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from fatutor.deck.model import AnswerForm
from fatutor.demo.events import Fields, Scalar, WireError, member, scalar
from fatutor.demo.launcher import Launcher, local
from fatutor.errors import FatutorError
from fatutor.text.clean import clean_line


@dataclass(frozen=True, slots=True)
class Param:
    """One thing about a demo that can be set, and the values that are worth trying."""

    name: str
    default: Scalar
    values: tuple[Scalar, ...] = ()
    help: str = ""


@dataclass(frozen=True, slots=True)
class Demo:
    """One claim that a machine can settle. `form` is NUMBER (in `unit`) or CHOICE (one of `choices`).

    The claim may answer the question, so it waits for the result; `plan` is one sentence on what a run does.

    `devices` are where it can run, out of "cuda", "interpreter" and "cpu", best first; empty if not told.
    """

    name: str
    claim: str
    question: str
    form: AnswerForm
    unit: str = ""
    choices: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    devices: tuple[str, ...] = ()
    params: tuple[Param, ...] = ()
    seconds: float = 0.0
    plan: str = ""
    explain: str = ""


def catalogue(launcher: Launcher, *, limit_seconds: float = 5.0) -> tuple[Demo, ...]:
    """Asks the kernels for their demos; well under a second, since listing loads no torch.

    Raises FatutorError where they do not answer in time, or with something else.
    """
    with tempfile.TemporaryDirectory(prefix="fatutor-", ignore_cleanup_errors=True) as folder:
        try:
            listed = subprocess.run(
                launcher.listing(),
                env=dict(launcher.env),
                cwd=launcher.cwd or folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=limit_seconds,
                check=False,
            )
        except (OSError, ValueError) as error:
            raise _unlisted(str(error)) from error
        except subprocess.TimeoutExpired as error:
            raise _unlisted(f"no answer within {limit_seconds:g} s") from error
    if listed.returncode:
        last = listed.stderr.decode("utf-8", "replace").strip().rsplit("\n", 1)[-1][:200]
        raise _unlisted(clean_line(last) or f"exit code {listed.returncode}")
    return read_catalogue(listed.stdout)


def known_names(root: Path, environ: Mapping[str, str] = os.environ) -> frozenset[str]:
    """The names of the demos under `root`, for whoever checks that a card's demo exists."""
    return frozenset(demo.name for demo in catalogue(local(root, environ)))


def read_catalogue(printed: bytes) -> tuple[Demo, ...]:
    """The demos in a printed list. Raises FatutorError that names the first thing wrong with it."""
    try:
        listed: object = json.loads(printed)
    except (ValueError, RecursionError) as error:
        raise _unlisted("their list is not JSON") from error
    if not isinstance(listed, list):
        raise _unlisted("their list is not a list")
    demos: list[Demo] = []
    for place, said in enumerate(cast("list[object]", listed), 1):
        try:
            demos.append(_demo(member(said)))
        except WireError as error:
            raise _unlisted(f"entry {place}: {error}") from error
    names = [demo.name for demo in demos]
    if twice := {name for name in names if names.count(name) > 1}:
        raise _unlisted(f"{', '.join(sorted(twice))} is listed twice")
    return tuple(demos)


def _demo(fields: Fields) -> Demo:
    form = fields.word("form")
    if form not in (AnswerForm.NUMBER, AnswerForm.CHOICE):
        raise WireError(f"form “{form}” is neither number nor choice")
    choices = tuple(str(scalar("choices", choice)) for choice in fields.items("choices", ()))
    if form == AnswerForm.CHOICE and len(choices) < 2:
        raise WireError("a choice between fewer than two")
    return Demo(
        name=fields.word("name"),
        claim=fields.line("claim"),
        question=fields.text("question"),
        form=AnswerForm(form),
        unit=fields.line("unit"),
        choices=choices,
        needs=tuple(str(scalar("needs", need)) for need in fields.items("needs", ())),
        devices=tuple(str(scalar("devices", device)) for device in fields.items("devices", ())),
        params=tuple(_param(name, member(said)) for name, said in fields.members("params").items()),
        seconds=fields.maybe_number("seconds") or 0.0,
        plan=fields.line("plan"),
        explain=fields.text("explain"),
    )


def _param(name: str, fields: Fields) -> Param:
    return Param(
        name=name,
        default=scalar("default", fields.said.get("default")),
        values=tuple(scalar("values", value) for value in fields.items("values", ())),
        help=fields.line("help"),
    )


def _unlisted(why: str) -> FatutorError:
    return FatutorError(f"the demos could not be listed: {why}", "run `fatutor doctor`")
