"""The built wheel, in an environment of its own, run from a folder of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(build, cwd=ROOT, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def python(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python that has the wheel and, for its dependencies only, sees the packages of this environment."""
    folder = tmp_path_factory.mktemp("clean") / "venv"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    site = next(folder.glob("lib/python*/site-packages"))
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    # A plain path: the .pth files in there, the checkout's own among them, are not followed.
    (site / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    return folder / "bin" / "python"


def run(python: Path, home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": os.environ["PATH"], "FATUTOR_HOME": str(home / "data"), "LANG": "C.UTF-8"}
    return subprocess.run(
        [str(python), "-m", "fatutor", *arguments],
        cwd=home, env=env, capture_output=True, text=True, timeout=120, check=False, stdin=subprocess.DEVNULL,
    )  # fmt: skip


def test_the_wheel_carries_decks_and_kernels_and_no_package_called_kernels(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert "fatutor/_bundle/kernels/__main__.py" in names
    assert "fatutor/_bundle/kernels/measure/hardware.toml" in names
    assert any(name.startswith("fatutor/_bundle/decks/flash-attention/01") for name in names)
    assert "fatutor/ui/app.tcss" in names
    assert {name.partition("/")[0] for name in names if ".dist-info" not in name} == {"fatutor"}


def test_it_runs_from_another_folder_on_its_own_decks(python: Path, tmp_path: Path) -> None:
    where = run(python, tmp_path, "--version")
    assert where.returncode == 0, where.stderr
    checked = run(python, tmp_path, "check", "--json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert json.loads(checked.stdout)["beats"] == 7
    due = run(python, tmp_path, "due", "--json")
    assert json.loads(due.stdout)["new"] == 8


def test_its_demos_are_the_bundled_ones(python: Path, tmp_path: Path) -> None:
    listed = run(python, tmp_path, "demo")
    assert listed.returncode == 0, listed.stderr
    assert "bytes-moved" in listed.stdout


def test_a_drill_without_a_terminal_ends_cleanly(python: Path, tmp_path: Path) -> None:
    drill = run(python, tmp_path)
    assert drill.returncode == 0, drill.stderr
    assert "Answer out loud" in drill.stdout
    assert not drill.stderr
