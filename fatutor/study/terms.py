"""The glossary's terms that a card or a beat uses, and how they are shown."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from fatutor.deck.glossary import Glossary
from fatutor.deck.model import Card, Deck, Prose, Term


def of_card(glossary: Glossary, card: Card) -> tuple[Term, ...]:
    """What the card uses anywhere: for after the reveal, since the answer's words are among them."""
    return glossary.occurring("\n".join((*_asked(card), *_answered(card))))


def of_lesson(glossary: Glossary, deck: Deck, revealed: Collection[str]) -> tuple[Term, ...]:
    """What a beat's page uses. `revealed` are the ids of the cards whose answers stand on it."""
    words: list[str] = []
    for block in deck.blocks:
        if isinstance(block, Prose):
            words.append(block.text)
        else:
            words += _asked(block)
            words += _answered(block) if block.id in revealed else ()
    return glossary.occurring("\n".join(words))


def page(terms: Sequence[Term]) -> str:
    """The terms with their explanations, as Markdown."""
    return "\n\n".join(f"### {_heading(term)}\n\n{term.text}" for term in terms)


def _heading(term: Term) -> str:
    return f"{term.name} *({', '.join(term.aliases)})*" if term.aliases else term.name


def _asked(card: Card) -> Iterator[str]:
    yield from (card.title, card.prompt)
    yield from (choice.text for choice in card.response.choices)


def _answered(card: Card) -> Iterator[str]:
    yield from (card.answer, card.hint)
    yield from (point.text for point in card.key_points)
    yield from (*card.not_quite, *card.follow_ups)
