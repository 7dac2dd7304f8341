"""The drill: a prompt and a clock; then the answer, what you said, and the grade."""

from __future__ import annotations

from collections.abc import Callable

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Container, Vertical, VerticalScroll
from textual.content import Content
from textual.widgets import Input, Static, TextArea

from fatutor.deck.model import AnswerForm, Card
from fatutor.errors import FatutorError
from fatutor.schedule.grades import GRADES
from fatutor.study import sheet, terms
from fatutor.study.drill import Drill, Phase, Turn
from fatutor.ui.keys import DRILL, bindings
from fatutor.ui.render import Prose
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.widgets.grade_keys import GradeKeys
from fatutor.ui.widgets.key_points import KeyPoints
from fatutor.ui.widgets.speaking import Heading, bar, mm_ss

# How each form of answer is asked for, in the line under the prompt.
ASK = {
    AnswerForm.ALOUD: "Answer out loud.",
    AnswerForm.TEXT: "Say it out loud, then write it down.",
    AnswerForm.NUMBER: "Commit a number; enter commits it.",
    AnswerForm.CHOICE: "Say why out loud, then press the number of your choice.",
}


class DrillScreen(BaseScreen):
    WHERE = DRILL
    BINDINGS = [*bindings(DRILL), Binding("enter", "enter", show=False)]

    def __init__(self, drill: Drill, *, taken_back: bool = False) -> None:
        super().__init__()
        self.drill = drill
        self._taken_back = taken_back  # its first card is one that was just undone
        self._dealt: Turn | None = None  # what shows now

    def body(self) -> ComposeResult:
        yield Heading("head")
        with VerticalScroll(id="table", can_focus=False), Container(id="sides"):
            yield Prose(id="prompt")
            with Vertical(id="reply"):
                yield Prose(id="answer")
                yield Static(id="said", markup=False)
                yield KeyPoints()
                yield Prose(id="rest")
        with Vertical(id="ask"):
            yield Static(id="how", markup=False)
            yield Input(id="number", placeholder="a number, with its unit if you like", compact=True)
            yield TextArea(id="text", compact=True, highlight_cursor_line=False)
        with Vertical(id="grades"):
            yield Static(id="proposal", markup=False)
            yield GradeKeys()

    def on_mount(self) -> None:
        self.query_one("#number", Input).cursor_blink = False
        self.query_one("#text", TextArea).cursor_blink = False
        self.set_interval(1.0, self.tell_time)
        self.deal(write=not self._taken_back)

    # -- drawing ------------------------------------------------------------------------------------

    def deal(self, *, write: bool = True) -> None:
        """Show the card on the table, or the summary where there is none.

        write: its box gets the keys. After an undo it does not, so that the next key may take back more.
        """
        turn = self.drill.turn
        if turn is None:
            self.app.show_summary(self.drill)
            return
        form = turn.card.response.form
        revealed = self.drill.phase is Phase.REVEALED
        self.set_class(revealed, "-revealed")
        self.query_one("#prompt", Prose).show(sheet.prompt(turn.card))
        self.query_one("#ask").display = not revealed
        self.query_one("#how", Static).update(ASK[form])
        self.query_one("#number").display = form is AnswerForm.NUMBER
        self.query_one("#text").display = form is AnswerForm.TEXT
        self.query_one("#reply").display = revealed
        self.query_one("#grades").display = revealed
        if revealed:
            self.query_one("#answer", Prose).show(sheet.answer(turn, self.desk.hardware))
            self.query_one("#rest", Prose).show(sheet.rest(turn.card))
            self.query_one(KeyPoints).cursor = 0
            self.show_ticks()
            self.set_focus(None)
            if not self.has_class("-wide"):
                self.call_after_refresh(self.query_one("#reply").scroll_visible, top=True, animate=False)
        else:
            if turn is not self._dealt:  # what was typed outlasts an edit of the deck
                self.take_up_draft(turn)
            self.scroller.scroll_home(animate=False)
            box = {AnswerForm.NUMBER: "#number", AnswerForm.TEXT: "#text"}.get(form)
            self.set_focus(self.query_one(box) if box and write else None)
        self._dealt = turn
        self.hush()
        if turn.changed:
            self.say("this card was changed since your last review")
        self.tell_time()
        self.refresh_keys()

    def take_up_draft(self, turn: Turn) -> None:
        typed = self.app.drafts.get(turn.card.id, "")
        form = turn.card.response.form
        number, text = self.query_one("#number", Input), self.query_one("#text", TextArea)
        number.value = typed if form is AnswerForm.NUMBER else ""
        text.text = typed if form is AnswerForm.TEXT else ""
        text.move_cursor(text.document.end)

    def keep_draft(self) -> None:
        turn = self.drill.turn
        if turn is not None and turn is self._dealt and self.drill.phase is Phase.PROMPT:
            self.app.drafts.put(turn.card.id, self.typed)

    def tell_time(self) -> None:
        turn = self.drill.turn
        if turn is None:
            return
        at, of = self.drill.position
        left = sheet.whereabouts(turn, at, of, self.desk.deck_title(turn.card))
        spoken = self.drill.seconds()
        if self.drill.phase is Phase.REVEALED:
            right = f"spoken {mm_ss(spoken)}"
        else:
            target = turn.card.target_seconds
            right = f"{mm_ss(spoken)} {bar(spoken / target)} {mm_ss(target)}"
        self.query_one("#head", Heading).show(left, right)

    def show_ticks(self) -> None:
        turn = self.drill.turn
        assert turn is not None
        points = turn.card.key_points
        self.query_one(KeyPoints).show(points, frozenset(turn.ticked))
        said = self.query_one("#said", Static)
        said.display = bool(points)
        said.update(
            Content.assemble(("What did you say?", "bold"), f"   {len(turn.ticked)} of {len(points)}")
        )
        self.show_grades()

    def show_grades(self) -> None:
        """The proposal, and the keys with the interval that each would store."""
        proposal = self.drill.proposal()
        if proposal is None:
            hint = "tick what you said; the ticks propose a grade"
            told = Content.styled(hint if self.turn.card.key_points else "you decide", "dim")
        else:
            label = (GRADES[proposal.quality].label, "bold $accent")
            told = Content.assemble(("proposed ", "dim"), label, (f" · {proposal.why}", "dim"))
        self.query_one("#proposal", Static).update(told)
        labels = {
            str(key): f"{key} {grade.label} {sheet.returns(self.drill.preview(grade.quality), self.turn.day)}"
            for key, grade in self.desk.grading_keys.items()
        }
        proposed = {grade.quality: str(key) for key, grade in self.desk.grading_keys.items()}
        self.query_one(GradeKeys).show(labels, proposed.get(proposal.quality, "") if proposal else "")

    def on_grade_keys_picked(self, picked: GradeKeys.Picked) -> None:
        self.action_grade(picked.key)

    # -- keys ---------------------------------------------------------------------------------------

    def allowed(self, method: str) -> bool:
        turn = self.drill.turn
        if turn is None:
            return method in ("help", "leave", "undo")
        revealed = self.drill.phase is Phase.REVEALED
        form = turn.card.response.form
        match method:
            case "reveal":
                return not revealed and form is AnswerForm.ALOUD
            case "to_points":
                return revealed and bool(turn.card.key_points)
            case "hint":
                return not revealed and bool(turn.card.hint)
            case "commit":
                return not revealed and form in (AnswerForm.TEXT, AnswerForm.NUMBER)
            case "write":
                return not revealed and form in (AnswerForm.TEXT, AnswerForm.NUMBER) and not self.typing
            case "choose":
                return not revealed and form is AnswerForm.CHOICE
            case "grade":
                return revealed
            case "terms":  # before the reveal they could hint at the answer
                return revealed
            case "tick":
                return revealed and bool(turn.card.key_points)
            case "demo":
                return turn.card.demo is not None
        return True

    def action_reveal(self) -> None:
        self.commit("")

    def action_to_points(self) -> None:
        """A long answer pushes the checklist below the fold: one key goes there, and back."""
        said, reply = self.query_one("#said"), self.query_one("#reply")
        above = said.region.y > self.scroller.region.y
        target = said if above and self.scroller.scroll_offset.y < self.scroller.max_scroll_y else reply
        target.scroll_visible(top=True, animate=False)

    def action_hint(self) -> None:
        self.say(self.turn.card.hint)

    def action_write(self) -> None:
        form = self.turn.card.response.form
        self.set_focus(self.query_one("#number" if form is AnswerForm.NUMBER else "#text"))

    def action_commit(self) -> None:
        self.commit(self.typed)

    def action_enter(self) -> None:
        """Enter commits a number, as the line above its box says, also while the box has not got the keys."""
        if self.allowed("commit") and self.turn.card.response.form is AnswerForm.NUMBER:
            self.action_commit()

    @property
    def typed(self) -> str:
        if self.turn.card.response.form is AnswerForm.NUMBER:
            return self.query_one("#number", Input).value
        return self.query_one("#text", TextArea).text

    def on_input_submitted(self) -> None:
        self.action_commit()

    def on_input_changed(self) -> None:
        self.keep_draft()

    def on_text_area_changed(self) -> None:
        self.keep_draft()

    def commit(self, typed: str) -> None:
        try:
            self.drill.answer(typed)
        except FatutorError as reason:
            self.say(reason)
            return
        self.app.drafts.put(self.turn.card.id, "")
        self.deal()

    def action_choose(self, key: str) -> None:
        self.commit(key)

    def action_grade(self, key: str) -> None:
        grade = self.desk.grading_keys.get(int(key))
        if grade is None:
            return
        try:
            self.drill.grade(grade.quality, int(key))
        except FatutorError as reason:
            self.refuse(reason)
            return
        self.deal()

    def action_move(self, by: int) -> None:
        if self.drill.phase is Phase.REVEALED and self.turn.card.key_points:
            points = self.query_one(KeyPoints)
            points.move(by)
            self._keep_in_view(points)
        else:
            super().action_move(by)

    def _keep_in_view(self, points: KeyPoints) -> None:
        table = self.scroller
        line = points.region.y - table.region.y + points.line_of(points.cursor)
        if line < 0:
            table.scroll_relative(y=line, animate=False)
        elif line >= table.size.height - 1:
            table.scroll_relative(y=line - table.size.height + 2, animate=False)

    def action_tick(self) -> None:
        points = self.query_one(KeyPoints)
        self.drill.tick(points.cursor)
        self.show_ticks()
        self.action_move(1)

    def on_key_points_picked(self, picked: KeyPoints.Picked) -> None:
        self.query_one(KeyPoints).cursor = picked.point
        self.drill.tick(picked.point)
        self.show_ticks()

    def action_undo(self) -> None:
        try:
            undone = self.drill.undo()
        except FatutorError as reason:
            self.say(reason)
            return
        self.deal(write=False)
        self.say(sheet.taken_back(undone))

    def action_suspend_card(self) -> None:
        self._put_away(self.drill.suspend, "put away; u takes that back")

    def action_bury(self) -> None:
        self._put_away(self.drill.bury, "put off until tomorrow; u takes that back")

    def _put_away(self, how: Callable[[], Card], news: str) -> None:
        try:
            card = how()
        except FatutorError as reason:
            self.refuse(reason)
            return
        self.deal()
        if self.drill.turn is not None:
            self.say(f"{sheet.title(card)}: {news}")

    def refuse(self, reason: FatutorError) -> None:
        """Say why nothing was stored. Where another fatutor had it, the next card is on the table."""
        if self.drill.turn is not self._dealt:
            self.deal()
        self.app.tell(reason)

    def action_flag(self) -> None:
        try:
            raised = self.drill.flag()
        except FatutorError as reason:
            self.refuse(reason)
            return
        self.tell_time()
        self.say("flagged" if raised else "flag cleared")

    def action_terms(self) -> None:
        self.app.show_terms(self, terms.of_card(self.desk.library.glossary, self.turn.card))

    def action_edit(self) -> None:
        self.app.edit(self.turn.card.place, then=self.reread)

    def reread(self) -> None:
        self.drill.reread(self.desk.reload())
        self.deal()

    def action_demo(self) -> None:
        turn = self.turn
        said = turn.committed.text if turn.committed else self.query_one("#number", Input).value
        self.app.show_card_demo(turn.card, kept=lambda run: turn.runs.append(run.id), said=said)

    @property
    def turn(self) -> Turn:
        assert self.drill.turn is not None
        return self.drill.turn
