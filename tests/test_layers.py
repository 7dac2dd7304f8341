"""The rules of the house: imports go one way, and heavy packages stay where they belong."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# From the top down. A room may import what stands after it, and itself.
ROOMS = (
    "__main__", "verbs", "ui", "plain", "desk", "study", "demo", "interop", "store", "schedule", "deck",
    "text", "settings", "crash", "paths", "errors",
)  # fmt: skip
# Who alone may import what.
OWNERS = {
    "sqlmodel": {"store"},
    "sqlalchemy": {"store"},
    "textual": {"ui"},
    "torch": set[str](),
    "triton": set[str](),
    "kernels": set[str](),
}


def imports(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which way they go"
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def room(path: Path) -> str:
    return path.relative_to(ROOT / "fatutor").parts[0].removesuffix(".py")


SOURCES = sorted((ROOT / "fatutor").rglob("*.py"))


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_go_one_way(path: Path) -> None:
    here = room(path)
    for name in imports(path):
        top, _, rest = name.partition(".")
        if top == "fatutor" and here != "__init__":
            there = rest.partition(".")[0]
            if there != "__version__":
                assert ROOMS.index(there) >= ROOMS.index(here), f"{here} must not import {there}"
        if top in OWNERS:
            assert here in OWNERS[top], f"{here} must not import {top}"


@pytest.mark.parametrize(
    "path", sorted((ROOT / "kernels").rglob("*.py")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_kernels_know_nothing_of_the_app(path: Path) -> None:
    assert not {
        name for name in imports(path) if name.partition(".")[0] in ("fatutor", "textual", "sqlmodel")
    }


@pytest.mark.parametrize("folder", ["text", "deck", "schedule", "study"])
def test_the_core_has_no_clock_of_its_own(folder: str) -> None:
    for path in (ROOT / "fatutor" / folder).rglob("*.py"):
        source = path.read_text(encoding="utf-8")
        for call in (
            "datetime.now(",
            "date.today(",
            "time.time(",
            "monotonic()",
            "random.random(",
            "os.environ",
        ):
            if call == "monotonic()" and folder == "study":
                continue  # study asks the clock that it was handed
            assert call not in source, f"{path.name} calls {call}"


def loaded(code: str) -> set[str]:
    """The top-level packages in a fresh process after `code`."""
    told = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys, json; print(json.dumps(sorted(sys.modules)))"],
        capture_output=True, text=True, check=True, cwd=ROOT,
    )  # fmt: skip
    return {name.partition(".")[0] for name in json.loads(told.stdout.splitlines()[-1])}


def test_help_loads_nothing_heavy() -> None:
    modules = loaded("import fatutor.__main__ as m\ntry: m.main(['--help'])\nexcept SystemExit: pass")
    assert not modules & {"textual", "sqlmodel", "sqlalchemy", "torch", "triton", "markdown_it", "yaml"}


def test_due_loads_neither_screen_nor_database_layer(tmp_path: Path) -> None:
    modules = loaded(
        f"import os; os.environ['FATUTOR_HOME'] = {str(tmp_path)!r}\n"
        "import fatutor.__main__ as m\nassert m.main(['due', '--json']) == 0"
    )
    assert not modules & {"textual", "sqlmodel", "sqlalchemy", "torch", "triton"}


def test_the_app_never_loads_torch() -> None:
    modules = loaded(
        "import fatutor.ui.app, fatutor.ui.screens.demo, fatutor.ui.screens.drill, fatutor.plain"
    )
    assert "textual" in modules
    assert not modules & {"torch", "triton", "kernels"}
