"""What becomes of a fault of our own: the traceback goes into a file, one line goes to the learner."""

from __future__ import annotations

import traceback
from pathlib import Path


def told(error: BaseException, folder: Path) -> str:
    """The line to show for `error`, whose traceback is kept in `folder` if that can be written."""
    name = f"{type(error).__name__}: {error}".split("\n")[0]
    log = folder / "crash.log"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        log.write_text(
            "".join(traceback.format_exception(error)), encoding="utf-8", errors="backslashreplace"
        )
    except OSError:
        return f"fatutor: stopped by a fault of its own ({name}); every grade is stored"
    return f"fatutor: stopped by a fault of its own ({name}); every grade is stored, {log} says more"
