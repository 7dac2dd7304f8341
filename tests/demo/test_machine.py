"""What is asked of the driver's tool, which may be missing, broken, slow or odd."""

from __future__ import annotations

from pathlib import Path

import pytest

from fatutor.demo.machine import gpu_name
from tests.processes import assert_is_gone


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Puts an nvidia-smi on the path that does as told."""

    def put(script: str) -> None:
        path = tmp_path / "nvidia-smi"
        path.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        path.chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")

    return put


@pytest.mark.parametrize(
    ("script", "name"),
    [
        ("printf 'NVIDIA H200\\nNVIDIA A100\\n'", "NVIDIA H200"),
        ("printf 'NVIDIA \\033[2JH200\\n'", "NVIDIA H200"),
        ("printf '\\377\\376\\n'", "\ufffd\ufffd"),
        ("echo 'Failed to initialize NVML: Driver/library version mismatch'; exit 18", None),
        ("true", None),
        ("kill -9 $$", None),
    ],
)
def test_the_name_is_what_it_says_if_it_ends_well(tool, script, name) -> None:
    tool(script)
    assert gpu_name() == name


def test_a_tool_that_cannot_be_started_names_no_gpu(tool, tmp_path) -> None:
    tool("")
    (tmp_path / "nvidia-smi").write_bytes(b"\x7fELF")
    assert gpu_name() is None


def test_a_tool_that_hangs_is_ended_with_all_that_it_started(tool, tmp_path) -> None:
    tool(f"sleep 60 & echo $! > {tmp_path}/pid; wait")
    assert gpu_name() is None
    assert_is_gone(int((tmp_path / "pid").read_text()))


def test_no_tool_no_gpu(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert gpu_name() is None
