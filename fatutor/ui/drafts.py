"""What was typed and not committed: it outlasts leaving the screen, quitting and whatever ends the app."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path

from fatutor.text.clean import clean


class Drafts(dict[str, str]):
    """Typed text by card id. A draft that cannot be read or kept is no reason to stop anyone."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self._file = file
        self._changed = False
        with suppress(OSError, ValueError):
            read = json.loads(file.read_text("utf-8"))
            if isinstance(read, dict):
                self.update(
                    {clean(card): clean(typed) for card, typed in read.items() if isinstance(typed, str)}
                )

    def put(self, card: str, typed: str) -> None:
        """Remember what is typed on a card; nothing typed, nothing remembered."""
        if typed == self.get(card, ""):
            return
        self._changed = True
        if typed:
            self[card] = typed
        else:
            del self[card]

    def keep(self) -> None:
        """Write down what has changed; without any drafts, no file is left or made."""
        if not self._changed:
            return
        with suppress(OSError):
            if self:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                half = self._file.with_suffix(".half")
                half.write_text(json.dumps(self, ensure_ascii=False), "utf-8")
                half.replace(self._file)
            else:
                self._file.unlink(missing_ok=True)
            self._changed = False
