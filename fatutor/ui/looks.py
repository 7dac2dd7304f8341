"""Two calm themes with one accent colour; Textual's own are there too, the terminal's palette among them."""

from __future__ import annotations

from collections.abc import Mapping

from textual.theme import Theme

DARK = Theme(
    name="fatutor-dark",
    primary="#7aa2c9",
    secondary="#b9c6a5",
    accent="#e0a458",
    warning="#d9a066",
    error="#d98c7a",
    success="#8fb38a",
    foreground="#d8d6d0",
    background="#14161a",
    surface="#1a1d22",
    panel="#22262d",
    dark=True,
)
LIGHT = Theme(
    name="fatutor-light",
    primary="#2f5d8a",
    secondary="#4d6130",
    accent="#9a5b00",
    warning="#8a5a12",
    error="#a33d2a",
    success="#2f6b3a",
    foreground="#23262b",
    background="#faf9f6",
    surface="#f2f0ea",
    panel="#e8e5dc",
    dark=False,
)
OWN = (DARK, LIGHT)
NICKNAMES = {"dark": DARK.name, "light": LIGHT.name, "terminal": "ansi-dark"}


def theme_name(setting: str | None, environ: Mapping[str, str]) -> str:
    """The theme to start with: Textual's own variable, then the setting, then dark."""
    wanted = environ.get("TEXTUAL_THEME") or setting or "dark"
    return NICKNAMES.get(wanted, wanted)
