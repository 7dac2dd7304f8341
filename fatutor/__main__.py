"""The verbs. Checks the terminal before anything draws, and imports late so that `--help` is instant."""

from __future__ import annotations

import argparse
import gc
import os
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from fatutor import __version__
from fatutor.errors import FatutorError


def main(argv: Sequence[str] | None = None) -> int:
    """Run one verb and return its exit code: 0 done, 1 it could not be done, 2 it was asked wrongly."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # In an ASCII locale an escape is better than an end; `fatutor doctor` says how to mend it.
            stream.reconfigure(errors="backslashreplace")
    arguments = parser().parse_args(argv)
    arguments.db = getattr(arguments, "db_after", None) or arguments.db
    arguments.decks = [*arguments.decks, *getattr(arguments, "decks_after", [])]
    # A start makes a hundred thousand values that stay; looking for garbage among them costs 60 ms.
    gc.set_threshold(200_000, 20, 20)
    try:
        code = arguments.verb(arguments)
        sys.stdout.flush()  # here, where a reader that has gone is no fault
        return code
    except FatutorError as reason:
        print(f"fatutor: {reason}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        # Whoever read us has gone (`fatutor due | head -1`): no complaint, and none at exit either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 141
    except Exception as error:
        return _crashed(error)


def _crashed(error: Exception) -> int:
    from fatutor.crash import told
    from fatutor.paths import paths

    try:
        folder = paths(os.environ).data
    except FatutorError:
        folder = Path.cwd()
    print(told(error, folder), file=sys.stderr)
    return 1


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="fatutor",
        description="Interview prep in the terminal: answer out loud, reveal, grade; kernels confirm it.",
    )
    top.add_argument("--version", action="version", version=f"fatutor {__version__}")
    _add_where(top, db="db", decks="decks")
    anywhere = argparse.ArgumentParser(add_help=False)
    _add_where(anywhere, db="db_after", decks="decks_after")
    top.set_defaults(verb=_app, open_on="today", plain=False, deck=[])
    verbs = top.add_subparsers(title="verbs", metavar="VERB")

    learn = verbs.add_parser("learn", help="open the app on the beats", parents=[anywhere])
    learn.set_defaults(verb=_app, open_on="learn", plain=False, deck=[])

    drill = verbs.add_parser("drill", help="open the app on today's cards", parents=[anywhere])
    drill.add_argument("deck", nargs="*", metavar="DECK", help="only these decks, by name")
    drill.add_argument("--plain", action="store_true", help="plain lines instead of a screen")
    drill.set_defaults(verb=_app, open_on="drill")

    due = verbs.add_parser("due", help="what is due today", parents=[anywhere])
    due.add_argument("--json", action="store_true", help="one JSON document")
    due.set_defaults(verb=_due)

    check = verbs.add_parser("check", help="prove decks: structure, ids and every number", parents=[anywhere])
    check.add_argument(
        "path", nargs="*", type=Path, metavar="PATH", help="files or folders; all decks if none"
    )
    check.add_argument(
        "--numbers", action="store_true", help="only list the numbers that no check covers, to look through"
    )
    check.add_argument("--fix", action="store_true", help="write an id into each card that lacks one")
    check.add_argument("--json", action="store_true", help="one JSON document")
    check.set_defaults(verb=_check)

    demo = verbs.add_parser("demo", help="run a kernel demo", parents=[anywhere])
    demo.add_argument("name", nargs="?", metavar="NAME", help="which; without a name they are listed")
    demo.add_argument("--param", action="append", default=[], metavar="KEY=VALUE", help="another size, say")
    demo.add_argument(
        "--device", choices=("auto", "cpu", "cuda"), default="auto", help="auto: the GPU, else the CPU"
    )
    instead = demo.add_mutually_exclusive_group()
    instead.add_argument("--on", metavar="REMOTE", help="on a far side that config.toml names")
    instead.add_argument("--recorded", action="store_true", help="show the run recorded on a GPU")
    instead.add_argument("--history", action="store_true", help="the runs that the app kept, of one or all")
    instead.add_argument("--check-remote", metavar="REMOTE", help="say what is missing on a far side")
    demo.add_argument("--json", action="store_true", help="events, one JSON object a line; else a document")
    demo.set_defaults(verb=_demo)

    doctor = verbs.add_parser(
        "doctor", help="what this machine has, and whether the log is whole", parents=[anywhere]
    )
    doctor.add_argument("--json", action="store_true", help="one JSON document")
    doctor.add_argument("--rebuild", action="store_true", help="rebuild the card states from the log")
    doctor.set_defaults(verb=_doctor)
    return top


def _add_where(parser: argparse.ArgumentParser, *, db: str, decks: str) -> None:
    """The two options that stand before or after the verb; a subparser would overwrite a shared name."""
    parser.add_argument("--db", dest=db, metavar="URL", help="the database: a path or an SQLAlchemy URL")
    more = "more decks: a file or folder"
    parser.add_argument(
        "--decks", dest=decks, metavar="PATH", action="append", type=Path, default=[], help=more
    )


def _app(arguments: argparse.Namespace) -> int:
    from fatutor.verbs.open import open_app

    return open_app(arguments)


def _due(arguments: argparse.Namespace) -> int:
    from fatutor.verbs.due import due

    return due(arguments)


def _check(arguments: argparse.Namespace) -> int:
    from fatutor.verbs.check import check

    return check(arguments)


def _demo(arguments: argparse.Namespace) -> int:
    from fatutor.verbs.demo import demo

    return demo(arguments)


def _doctor(arguments: argparse.Namespace) -> int:
    from fatutor.verbs.doctor import doctor

    return doctor(arguments)


if __name__ == "__main__":
    sys.exit(main())
