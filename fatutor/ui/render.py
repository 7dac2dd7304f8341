"""A laid-out page as Textual content. The one place where deck text meets a widget, and never as markup."""

from __future__ import annotations

from functools import lru_cache

from textual.content import Content, Span
from textual.widget import Widget

from fatutor.text.page import Page, layout
from fatutor.text.spans import Style

# Words and symbols carry the state; these only help the eye. Theme variables resolve when drawn.
LOOKS: dict[Style, str] = {
    Style.HEADING1: "bold $foreground",
    Style.HEADING2: "bold $accent",
    Style.HEADING3: "bold",
    Style.STRONG: "bold",
    Style.EM: "italic",
    Style.CODE: "$secondary",
    Style.MATH: "$foreground",
    Style.QUOTE: "dim",
    Style.DIM: "dim",
    Style.LINK: "underline",
    Style.RULE: "dim",
    Style.TABLE_HEAD: "bold",
    Style.CODE_KEYWORD: "$accent",
    Style.CODE_STRING: "$success",
    Style.CODE_NUMBER: "$warning",
    Style.CODE_COMMENT: "dim italic",
    Style.CODE_FUNCTION: "bold",
}


CRITICAL = " ·\u00a0*critical*"  # after a key point that an answer must not miss; its dot stays with it


def to_content(page: Page) -> Content:
    """The whole page as one `Content`: plain text with spans, so brackets in it stay brackets."""
    pieces: list[str] = []
    spans: list[Span] = []
    at = 0
    for number, line in enumerate(page.lines):
        if number:
            pieces.append("\n")
            at += 1
        for span in line:
            end = at + len(span.text)
            look = LOOKS.get(span.style)
            if look and span.text:
                spans.append(Span(at, end, look))
            pieces.append(span.text)
            at = end
    return Content("".join(pieces), spans)


@lru_cache(maxsize=64)
def laid_out(markdown: str, width: int) -> Page:
    """`layout`, remembered: a screen asks for the same page once for its height and once to draw it."""
    return layout(markdown, width)


class Prose(Widget):
    """Markdown at the width there is. Re-laid when the width changes."""

    DEFAULT_CSS = "Prose { width: 1fr; height: auto; }"
    MEASURE = 76  # cells; longer lines are harder to read than they are worth

    def __init__(self, markdown: str = "", *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002 Textual's own parameter name
        super().__init__(id=id, classes=classes)
        self._markdown = markdown

    @property
    def markdown(self) -> str:
        return self._markdown

    def show(self, markdown: str) -> None:
        if markdown != self._markdown:
            self._markdown = markdown
            self.refresh(layout=True)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return len(laid_out(self._markdown, self._measure(width)).lines)

    def render(self) -> Content:
        return to_content(laid_out(self._markdown, self._measure(self.content_size.width)))

    def _measure(self, width: int) -> int:
        return max(1, min(width, self.MEASURE))
