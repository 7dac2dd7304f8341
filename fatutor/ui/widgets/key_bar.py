"""The last line of every screen: the keys that work now, clickable."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from fatutor.ui.keys import Action

ALWAYS = ("help", "leave")  # what the bar keeps however narrow it gets


def fitting(actions: Sequence[Action], width: int) -> list[Action]:
    """The actions that fit into `width` cells: `?` and `q` first, then the others in order."""
    kept = [action for action in actions if action.method in ALWAYS]
    used = sum(_cells(action) for action in kept)
    for action in actions:
        if action not in kept and used + _cells(action) <= width:
            used += _cells(action)
            kept.append(action)
    return sorted(kept, key=list(actions).index)


def _cells(action: Action) -> int:
    return cell_len(action.shown) + 1 + cell_len(action.label) + 3


class KeyBar(Widget):
    """One line of `key label` pairs."""

    DEFAULT_CSS = """
    KeyBar {
        height: 1; width: 1fr; padding: 0 1;
        link-style: none; link-color: $foreground; link-background: transparent;
        link-style-hover: none; link-color-hover: $accent; link-background-hover: transparent;
    }
    """

    def __init__(self) -> None:
        super().__init__()
        self._actions: list[Action] = []

    def show(self, actions: Sequence[Action]) -> None:
        self._actions = [action for action in actions if action.label]
        self.refresh()

    def render(self) -> Content:
        parts = [_pair(action) for action in fitting(self._actions, self.content_size.width + 3)]
        return Content.from_markup(" [dim]·[/] ").join(parts)


def _pair(action: Action) -> Content:
    """`key label`, which answers a click. Both are our own words, so markup is safe here."""
    key = action.keys.partition(",")[0]
    click = f"@click=screen.press({key!r})"
    return Content.from_markup(f"[{click}][bold]{action.shown}[/bold] [dim]{action.label}[/][/]")
