"""The hardware's counters, from what the profiler prints; and every way in which they cannot be read."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from kernels.measure import child, counters
from kernels.measure.counters import Counted, Kernel

HEADING = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size",'
    '"Device","CC","Section Name","Metric Name","Metric Unit","Metric Value"'
)


def ncu_line(launch: int, name: str, metric: str, value: str) -> str:
    return (
        f'"{launch}","7","python3","127.0.0.1","{name}","1","7","(128, 1, 1)","(4, 1, 1)","0","9.0",'
        f'"Command line profiler metrics","{metric}","byte","{value}"'
    )


SOFTMAX = "void at::<unnamed>::cunn_SoftMaxForwardReg<c10::BFloat16, float, c10::BFloat16, 8>(T3 *, T1 *)"
PRINTED = "\n".join(
    [
        "==PROF== Connected to process 7 (/usr/bin/python3)",
        "something that the program printed, with a comma",
        "==PROF== Disconnected from process 7",
        HEADING,
        ncu_line(0, "_flash_forward", "dram__bytes_read.sum", "233,216"),
        ncu_line(0, "_flash_forward", "dram__bytes_write.sum", "0"),
        ncu_line(1, SOFTMAX, "dram__bytes_read.sum", "2,147,661,312"),
        ncu_line(1, SOFTMAX, "dram__bytes_write.sum", "2,127,513,344.00"),
        ncu_line(2, "_cut_short", "dram__bytes_read.sum", "1"),
    ]
)
KERNELS = (
    Kernel("_flash_forward", 233216, 0),
    Kernel("at::unnamed::cunn_SoftMaxForwardReg", 2147661312, 2127513344),
)


class FakeProfiler:
    """Stands for the child process; keeps how it was called."""

    def __init__(self, output: str = "", errors: str = "", returncode: int = 0) -> None:
        self.done = subprocess.CompletedProcess([], returncode, output, errors)
        self.before: tuple[str, ...] = ()
        self.arguments: tuple[str, ...] = ()

    def __call__(self, *arguments: str, before: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        self.arguments, self.before = arguments, before
        return self.done


def count_with(profiler: Any) -> Counted:
    return counters.count("flash", n=512, d=64, causal=True, find=lambda _: "/opt/ncu", call=profiler)


def test_launches_keep_their_order_and_lose_their_template_arguments() -> None:
    assert counters.parse(PRINTED) == KERNELS


@pytest.mark.parametrize("output", ["", "no table here", HEADING])
def test_without_a_table_there_are_no_launches(output: str) -> None:
    assert counters.parse(output) == ()


def test_the_profiler_watches_one_call_and_leaves_the_clocks_alone() -> None:
    profiler = FakeProfiler(PRINTED)
    assert count_with(profiler) == Counted(KERNELS)
    assert profiler.before[0] == "/opt/ncu"
    options = " ".join(profiler.before)
    assert "--clock-control none" in options
    assert "--metrics dram__bytes_read.sum,dram__bytes_write.sum" in options
    assert "--profile-from-start off" in options
    assert profiler.arguments[:2] == ("kernels.measure.once", "flash")
    assert profiler.arguments[2:] == (
        *("--n", "512", "--d", "64", "--heads", "1", "--dtype", "float16", "--causal"),
    )


@pytest.mark.parametrize(
    ("profiler", "why"),
    [
        (FakeProfiler("==ERROR== ERR_NVGPUCTRPERM - The user…", returncode=1), "the driver lets only"),
        (
            FakeProfiler(errors="Failed to initialize the profiler: LibraryNotLoaded", returncode=1),
            "as in gVisor",
        ),
        (
            FakeProfiler("==PROF== hello\n==ERROR== The application returned an error\nbye"),
            "The application ",
        ),
        (FakeProfiler(errors="Traceback\nValueError: impl is 'x'", returncode=1), "ValueError: impl is 'x'"),
        (FakeProfiler(PRINTED, "it fell over", returncode=1), "it fell over"),
        (FakeProfiler(), "ncu said nothing"),
    ],
)
def test_what_cannot_be_read_is_one_line(profiler: FakeProfiler, why: str) -> None:
    counted = count_with(profiler)
    assert counted.kernels == ()
    assert why in counted.why
    assert "\n" not in counted.why


def test_no_profiler_no_start_and_no_end_are_reasons_too() -> None:
    absent = counters.count("flash", n=512, d=64, find=lambda _: None)
    assert absent == Counted(why="Nsight Compute (ncu) is not on the PATH")

    def never(*_: str, before: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        raise subprocess.TimeoutExpired(before, 180)

    def nothing(*_: str, before: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        raise PermissionError(13, "Permission denied")

    assert "timed out after 180 seconds" in count_with(never).why
    assert "Permission denied" in count_with(nothing).why


def test_a_child_finds_the_package_and_compiles(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    done = child.call("kernels", "list", before=("env", "-u", "HOME"))
    assert (done.returncode, "bytes-moved" in done.stdout) == (0, True)
    (tmp_path / "told.py").write_text("import os; print(os.environ.get('TRITON_INTERPRET'))")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    assert child.call("told").stdout == "None\n"
