"""The app, or plain lines where a screen cannot be drawn."""

from __future__ import annotations

import argparse
import os
import sys

from fatutor.verbs.desk import is_terminal, make_desk


def open_app(arguments: argparse.Namespace) -> int:
    desk = make_desk(arguments)
    try:
        desk.bring_up_to_date()
        dumb = os.environ.get("TERM", "") in ("", "dumb")
        if arguments.plain or dumb or not is_terminal():
            from fatutor.plain import PlainDrill

            return PlainDrill(desk, sys.stdin, sys.stdout).run(*map(desk.deck_named, arguments.deck))
        decks = [desk.deck_named(name) for name in arguments.deck]
        from fatutor.ui.app import FatutorApp

        app = FatutorApp(desk, os.environ, open_on=arguments.open_on, decks=decks)
        app.run()
        return app.return_code or 0
    finally:
        desk.close()
