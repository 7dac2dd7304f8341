"""Text from outside, made safe to show: nothing in it can move a cursor, set a title or reorder a line.

Deck files, learners' answers and what a demo prints all pass here once, at the border.
"""

from __future__ import annotations

import re

# ECMA-48: a control sequence (CSI), a control string (OSC, DCS, SOS, PM, APC) up to its terminator, and the
# designation of a character set. Each is one unit: without its introducer the rest would stay as junk text.
# A control string must end on its own line; one that does not is text that happens to follow an ESC.
_SEQUENCE = re.compile(
    r"""
      (?: \x1b\[ | \x9b ) [\x30-\x3f]* [\x20-\x2f]* [\x40-\x7e]
    | (?: \x1b[\]PX^_] | [\x90\x98\x9d-\x9f] ) [^\x07\x1b\x90\x98\x9c-\x9f\r\n]* (?: \x07 | \x1b\\ | \x9c )
    | \x1b [\x20-\x2f]+ [\x30-\x7e]
    """,
    re.VERBOSE,
)
_LINE_END = re.compile(r"\r\n?|[\u2028\u2029]")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SUSPECT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_BREAK = re.compile(r"\s*[\n\t]\s*")
_EDGES = re.compile(r"\A[\s\ufeff]+|\s+\Z")


def clean(text: str) -> str:
    """The text without anything that acts on a terminal; idempotent.

    CRLF, CR and the Unicode line and paragraph separators become LF. Escape sequences go as a whole where
    they are well formed. Every other C0 and C1 control except LF and TAB goes, DEL too, and so do the
    characters that override or isolate writing direction, and a byte-order mark at the start. A lone
    surrogate, which no file or database would take, becomes U+FFFD.
    """
    if not _SUSPECT.search(text):
        return text
    text = _SEQUENCE.sub("", text)
    text = _LINE_END.sub("\n", text)
    text = _CONTROL.sub("", text)
    return _SURROGATE.sub("\ufffd", text).lstrip("\ufeff")


def clean_line(text: str) -> str:
    """The same on one line: each run of line ends and tabs becomes one space, and both ends are stripped."""
    return _EDGES.sub("", _BREAK.sub(" ", clean(text)))
