"""The drill as lines: for dumb terminals, pipes and screen readers. The same sitting, no screen."""

from __future__ import annotations

from enum import Enum
from typing import TextIO

from fatutor.deck.model import AnswerForm, Card, Deck
from fatutor.desk import Desk
from fatutor.errors import FatutorError
from fatutor.schedule.grades import GRADES
from fatutor.study import sheet, terms
from fatutor.study.drill import Drill, Phase
from fatutor.study.summary import summarise
from fatutor.text.page import layout
from fatutor.text.words import many

WIDTH = 76
HELP = "u undo, s suspend, b bury, f flag, h hint, t terms, q leave"

ASK = {
    AnswerForm.ALOUD: "Answer out loud, then press enter",
    AnswerForm.TEXT: "Say it, then type it on one line",
    AnswerForm.NUMBER: "Type a number",
    AnswerForm.CHOICE: "Type the number of your choice",
}


class Did(Enum):
    """What became of a line that may have been a command."""

    NOTHING = "it was none"
    STAYED = "done, and the card is still on the table"
    MOVED = "done, and the table changed"


class LeaveSitting(Exception):  # noqa: N818 - a wish, not an error
    """The learner, or the end of the input, ends the sitting."""


class PlainDrill:
    """One sitting on two streams. The end of the input ends it like `q` does."""

    def __init__(self, desk: Desk, read: TextIO, write: TextIO) -> None:
        self._desk = desk
        self._read = read
        self._write = write

    def run(self, *decks: Deck) -> int:
        """Drill until the queue or the input ends. Returns an exit code."""
        seen = self._desk.overview()
        for note in seen.notes:
            self._line(f"! {note}")
        drill = self._desk.drill(*decks)
        if drill.turn is None:
            self._line("Nothing is due here today.")
            return 0
        self._line(f"Today: {seen.summary}. At any prompt: {HELP}.")
        try:
            while drill.turn is not None:
                self._turn(drill)
        except LeaveSitting:
            self._line("")
        self._farewell(drill)
        return 0

    # -- one card -----------------------------------------------------------------------------------

    def _turn(self, drill: Drill) -> None:
        turn = drill.turn
        assert turn is not None
        at, of = drill.position
        self._line("")
        self._line(sheet.whereabouts(turn, at, of, self._desk.deck_title(turn.card)))
        if turn.changed:
            self._line("This card was changed since your last review.")
        self._page(sheet.prompt(turn.card))
        if not self._answer(drill, turn.card):
            return
        self._line("")
        self._page(sheet.answer(turn, self._desk.hardware))
        if not self._key_points(drill, turn.card):
            return
        self._page(sheet.rest(turn.card))
        self._grade(drill)

    def _answer(self, drill: Drill, card: Card) -> bool:
        """Whether the answer was committed; False where another card took the table instead."""
        form = card.response.form
        while True:
            typed = self._ask(ASK[form])
            match self._command(drill, typed):
                case Did.MOVED:
                    return False
                case Did.STAYED:
                    continue
            try:
                drill.answer("" if form is AnswerForm.ALOUD else typed)
            except FatutorError as reason:
                self._line(f"! {reason}")
            else:
                return True

    def _key_points(self, drill: Drill, card: Card) -> bool:
        """Whether the points were ticked; False where another card took the table instead."""
        if not card.key_points:
            return True
        self._line("")
        self._line("What did you say?")
        for i, point in enumerate(card.key_points, 1):
            self._page(f"{point.text}{' **(critical)**' if point.critical else ''}", head=f"  {i}  ")
        while True:
            typed = self._ask("Numbers of the points you said, or enter for none")
            match self._command(drill, typed):
                case Did.MOVED:
                    return False
                case Did.STAYED:
                    continue
            said = dict.fromkeys(typed.replace(",", " ").split())
            known = {str(i): i - 1 for i in range(1, len(card.key_points) + 1)}
            if wrong := [word for word in said if word not in known]:
                self._line(f"! there is no point {wrong[0][:20]!r}; type numbers from 1 to {len(known)}")
                continue
            for word in said:
                drill.tick(known[word])
            return True

    def _grade(self, drill: Drill) -> None:
        turn = drill.turn
        assert turn is not None
        proposal = drill.proposal()
        self._line("")
        if proposal is not None:
            self._line(f"proposed {GRADES[proposal.quality].label} · {proposal.why}")
        keys = self._desk.grading_keys
        labels = (
            f"{key} {grade.label} {sheet.returns(drill.preview(grade.quality), turn.day)}"
            for key, grade in keys.items()
        )
        question = "   ".join(labels)
        while True:
            typed = self._ask(question)
            match self._command(drill, typed):
                case Did.MOVED:
                    return
                case Did.STAYED:
                    continue
            grade = keys.get(int(typed)) if typed.isascii() and typed.isdigit() else None
            if grade is None:
                self._line(f"! type {min(keys)} to {max(keys)}; or {HELP}")
                continue
            try:
                drill.grade(grade.quality, int(typed))
            except FatutorError as reason:
                self._line(f"! {reason}")
            if drill.turn is not turn:
                return

    def _command(self, drill: Drill, typed: str) -> Did:
        """Do what a letter asks for."""
        before = drill.turn
        try:
            match typed:
                case "q":
                    raise LeaveSitting
                case "u":
                    self._line(f"{sheet.taken_back(drill.undo()).capitalize()}.")
                case "s":
                    drill.suspend()
                    self._line("Suspended.")
                case "b":
                    drill.bury()
                    self._line("Put off until tomorrow.")
                case "f":
                    self._line("Flagged." if drill.flag() else "Flag cleared.")
                case "h":
                    self._page(
                        drill.turn.card.hint if drill.turn and drill.turn.card.hint else "No hint here."
                    )
                case "t":
                    self._terms(drill)
                case _:
                    return Did.NOTHING
        except FatutorError as reason:
            self._line(f"! {reason}")
        return Did.STAYED if drill.turn is before else Did.MOVED

    def _terms(self, drill: Drill) -> None:
        """Explain the terms of the card; before the reveal they could hint at the answer."""
        if drill.turn is None or drill.phase is not Phase.REVEALED:
            self._line("Terms come with the answer.")
        elif found := terms.of_card(self._desk.library.glossary, drill.turn.card):
            self._page(terms.page(found))
        else:
            self._line("No term of the glossary is used here.")

    # -- streams ------------------------------------------------------------------------------------

    def _farewell(self, drill: Drill) -> None:
        done = summarise(drill.graded)
        left = drill.left
        self._line("")
        counts = ", ".join(f"{count} {label}" for label, count in done.by_grade)
        graded = f"{many(done.cards, 'card')} graded"
        self._line(f"{graded}: {counts}. Each is stored." if counts else f"{graded}.")
        if left and drill.phase is not Phase.DONE:
            self._line(f"{left} more for today; start again to go on.")

    def _ask(self, question: str) -> str:
        self._write.write(f"{question} > ")
        self._write.flush()
        line = self._read.readline()
        if not line:
            raise LeaveSitting
        return line.strip()

    def _page(self, markdown: str, head: str = "") -> None:
        if not markdown:
            return
        for i, line in enumerate(layout(markdown, WIDTH - len(head)).plain.split("\n")):
            self._line((head if not i else " " * len(head)) + line)

    def _line(self, text: str) -> None:
        self._write.write(text.rstrip() + "\n")
