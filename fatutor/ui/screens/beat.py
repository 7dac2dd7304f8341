"""A beat: its argument, its interview prompts, and the gate."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widgets import Static, TextArea

from fatutor.deck.model import AnswerForm, Card, Deck, Track
from fatutor.deck.model import Prose as ProseBlock
from fatutor.errors import FatutorError
from fatutor.study import sheet, terms
from fatutor.study.beat import Lesson
from fatutor.ui.keys import BEAT, bindings
from fatutor.ui.render import Prose
from fatutor.ui.screens.base import BaseScreen
from fatutor.ui.widgets.prompt_block import PromptBlock
from fatutor.ui.widgets.speaking import Heading


class BeatScreen(BaseScreen):
    WHERE = BEAT
    BINDINGS = bindings(BEAT)

    def __init__(self, lesson: Lesson) -> None:
        super().__init__()
        self.lesson = lesson
        self.follower: Deck | None = None  # the beat that `n` goes on to, once this one is committed

    def body(self) -> ComposeResult:
        beat = self.lesson.beat
        yield Heading("head")
        with VerticalScroll(id="page", can_focus=False):
            yield Prose(
                f"# {beat.number:02d} {self.lesson.deck.title}\n\n*After this beat you can {beat.outcome}.*"
            )
            for block in self.lesson.deck.blocks:
                if isinstance(block, ProseBlock):
                    yield Prose(without_title(block.text))
                elif block.id == beat.gate:
                    yield PromptBlock(block, hint="")
                else:
                    yield PromptBlock(block)
            with Vertical(id="gate"):
                yield Static(id="how", markup=False)
                yield TextArea(id="text", compact=True, highlight_cursor_line=False)
            yield Prose(id="after")

    def on_mount(self) -> None:
        beat = self.lesson.beat
        text = self.query_one("#text", TextArea)
        text.cursor_blink = False
        text.text = self.app.drafts.get(beat.gate, "")
        text.move_cursor(text.document.end)
        gate = self.lesson.gate
        chosen = gate is not None and gate.response.form is AnswerForm.CHOICE
        wanted = "the number of your choice" if chosen else "it"
        self.query_one("#how", Static).update(
            f"Say it out loud, then write {wanted} here. Right or wrong, committing opens the next beat."
        )
        kind = "core" if beat.track is Track.CORE else "deep dive"
        self.query_one("#head", Heading).show(
            f"{beat.module} · {beat.kind} · {kind}", f"{beat.minutes} min to read"
        )
        self.show_gate()
        self.go_back_to_place()
        if self.lesson.gate is None:
            self.say(f"this beat's gate is broken; run: fatutor check {self.lesson.deck.path}", bad=True)

    def go_back_to_place(self) -> None:
        """Where this beat was left: what was revealed is, and the page stands where it stood."""
        name = self.lesson.deck.name
        for block in self.query(PromptBlock):
            if block.card.id in self.app.revealed:
                block.reveal()
        self.call_after_refresh(self.scroller.scroll_to, y=self.app.places.get(name, 0), animate=False)
        self.watch(self.scroller, "scroll_y", lambda y: self.app.places.update({name: y}), init=False)

    def show_gate(self) -> None:
        """The box before the commitment; afterwards what was committed beside the model answer."""
        done = self.lesson.commitment
        self.query_one("#gate").display = done is None and self.lesson.gate is not None
        if done is not None:
            for block in self.query(PromptBlock):
                if block.card.id == self.lesson.beat.gate:
                    changed = "*The card was changed since.*\n\n" if self.lesson.changed else ""
                    yours = f"*You committed, {done.study_day:%d %b %Y}*\n\n{sheet.quoted(done.text)}"
                    block.reveal(f"{changed}{yours}\n\n*The model answer*")
            self.follower = self.desk.beat_after(self.lesson.deck)
            onward = "That was the last beat that is open."
            if self.follower is not None:
                onward = f"**n** goes on to {self.follower.title}."
            self.query_one("#after", Prose).show(f"---\n\nIts cards have joined the drill. {onward}")
        self.refresh_keys()

    # -- keys ---------------------------------------------------------------------------------------

    def allowed(self, method: str) -> bool:
        committed = self.lesson.commitment is not None
        match method:
            case "commit":
                return self.typing
            case "write":
                return not committed and not self.typing and self.lesson.gate is not None
            case "onward":
                return not self.typing
            case "next_beat":
                return self.follower is not None
            case "demo":
                return self._demo_card is not None
        return True

    @property
    def _demo_card(self) -> Card | None:
        """The card whose demo `d` opens: the gate, else the first one of the beat that has a demo."""
        gate = self.lesson.gate
        if gate is not None and gate.demo is not None:
            return gate
        return next((card for card in self.lesson.deck.cards if card.demo is not None), None)

    def action_onward(self) -> None:
        page = self.query_one("#page", VerticalScroll)
        for block in self.query(PromptBlock):
            if block.asks_in(page.region):
                block.reveal()
                self.app.revealed.add(block.card.id)
                self.call_after_refresh(block.scroll_visible, top=True, animate=False)
                return
        if page.scroll_offset.y >= page.max_scroll_y:
            if self.allowed("write"):
                self.action_write()
            return
        self.action_page(1)

    def action_write(self) -> None:
        text = self.query_one("#text", TextArea)
        self.set_focus(text)
        self.query_one("#gate").scroll_visible(animate=False)

    def action_commit(self) -> None:
        try:
            self.lesson.commit(self.query_one("#text", TextArea).text)
        except FatutorError as reason:
            self.say(reason)
            return
        self.app.drafts.put(self.lesson.beat.gate, "")
        self.set_focus(None)
        self.show_gate()
        self.say("committed; the next beat is open")

    def on_text_area_changed(self, changed: TextArea.Changed) -> None:
        if self.lesson.commitment is None:
            self.app.drafts.put(self.lesson.beat.gate, changed.text_area.text)

    def action_next_beat(self) -> None:
        if self.follower is not None:
            self.app.show_beat(self.follower, instead=True)

    def action_demo(self) -> None:
        card = self._demo_card
        if card is not None:
            self.app.show_card_demo(card, kept=self.lesson.evidence)

    def action_terms(self) -> None:
        revealed = {block.card.id for block in self.query(PromptBlock) if block.revealed}
        self.app.show_terms(self, terms.of_lesson(self.desk.library.glossary, self.lesson.deck, revealed))

    def action_edit(self) -> None:
        gate = self.lesson.gate
        place = gate.place if gate else self.lesson.deck.cards[0].place
        self.app.edit(place, then=self.reread)

    def reread(self) -> None:
        deck = self.desk.reload().deck(self.lesson.deck.name)
        if deck is not None:
            self.app.show_beat(deck, instead=True)


def without_title(markdown: str) -> str:
    """The prose without a level-1 heading at its top: the page has one already."""
    first, _, others = markdown.lstrip("\n").partition("\n")
    return others if first.startswith("# ") else markdown
