"""`fatutor due`: what today holds, for a prompt, a status line or a script."""

from __future__ import annotations

import argparse
import json

from fatutor.schedule.queue import today_queue
from fatutor.schedule.tally import tally
from fatutor.verbs.desk import make_desk


def due(arguments: argparse.Namespace) -> int:
    desk = make_desk(arguments)
    facts = desk.facts()
    day, note = desk.today(facts)
    cards = tuple(desk.library.cards.values())
    queue = today_queue(cards, facts, day, desk.limits)
    tallies = tally(queue, cards, facts)
    counts = queue.counts
    if arguments.json:
        document = {
            "study_day": day.isoformat(),
            "relearning": counts.relearning,
            "due": counts.due,
            "new": counts.new,
            "minutes": queue.minutes,
            "held": queue.held.total,
            "decks": [
                {
                    "deck": name,
                    "relearning": share.relearning,
                    "due": share.due,
                    "new": share.new,
                    "known": share.known,
                    "total": share.total,
                }
                for name, share in tallies.items()
            ],
        }
        print(json.dumps(document, ensure_ascii=False))
        return 0
    if note:
        print(f"! {note}")
    print(f"{counts.relearning} again · {counts.due} due · {counts.new} new · about {queue.minutes} min")
    for name, share in tallies.items():
        if asked := share.relearning + share.due + share.new:
            print(f"{asked:>5}  {name}")
    return 0
