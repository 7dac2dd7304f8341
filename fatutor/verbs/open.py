"""The app, or plain lines where a screen cannot be drawn."""

from __future__ import annotations

import argparse
import os
import sys

from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.verbs.desk import is_terminal, make_desk


def open_app(arguments: argparse.Namespace) -> int:
    desk = make_desk(arguments)
    try:
        desk.bring_up_to_date()
        return _run(desk, arguments)
    finally:
        if warning := desk.close():
            print(f"fatutor: {warning}", file=sys.stderr)


def _run(desk: Desk, arguments: argparse.Namespace) -> int:
    decks = [desk.deck_named(name) for name in arguments.deck]
    dumb = os.environ.get("TERM", "") in ("", "dumb")
    if arguments.plain or dumb or not is_terminal():
        if arguments.open_on == "learn":
            raise FatutorError("beats need a terminal that can draw", "fatutor drill works without one")
        from fatutor.plain import PlainDrill

        return PlainDrill(desk, sys.stdin, sys.stdout).run(*decks)
    from fatutor.ui.app import FatutorApp

    app = FatutorApp(desk, os.environ, open_on=arguments.open_on, decks=decks)
    app.run()
    return app.return_code or 0
