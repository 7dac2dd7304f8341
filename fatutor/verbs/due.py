"""`fatutor due`: what today holds, for a prompt, a status line or a script."""

from __future__ import annotations

import argparse
import json

from fatutor.verbs.desk import make_desk


def due(arguments: argparse.Namespace) -> int:
    seen = make_desk(arguments).overview()
    if arguments.json:
        document = {
            "study_day": seen.day.isoformat(),
            "relearning": seen.counts.relearning,
            "due": seen.counts.due,
            "new": seen.counts.new,
            "minutes": seen.minutes,
            "held": seen.held,
            "decks": [
                {
                    "deck": name,
                    "relearning": share.relearning,
                    "due": share.due,
                    "new": share.new,
                    "known": share.known,
                    "total": share.total,
                }
                for name, share in seen.tallies.items()
            ],
        }
        print(json.dumps(document, ensure_ascii=False))
        return 0
    for note in seen.notes:
        print(f"! {note}")
    print(seen.summary)
    for name, share in seen.tallies.items():
        if asked := share.relearning + share.due + share.new:
            print(f"{asked:>5}  {name}")
    return 0
