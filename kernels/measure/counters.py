"""What the hardware says: bytes between the chip and its memory, counted by the chip for each kernel.

Read with Nsight Compute (`ncu`), which runs a child process. It empties the caches before each kernel, so
reads are those of a cold start; what a kernel leaves in L2 at its end is not among its writes, which matters
where everything fits. The clocks are left alone.
"""

from __future__ import annotations

import csv
import re
import shutil
import subprocess
from collections.abc import Callable
from dataclasses import dataclass

from kernels.measure import child

READ, WRITTEN = "dram__bytes_read.sum", "dram__bytes_write.sum"
OPTIONS = (
    "--clock-control", "none", "--cache-control", "all", "--metrics", f"{READ},{WRITTEN}",
    "--csv", "--print-units", "base", "--profile-from-start", "off",
)  # fmt: skip

# What ncu says, and what it comes to.
REASONS = {
    "ERR_NVGPUCTRPERM": "the driver lets only an administrator read the counters (ERR_NVGPUCTRPERM)",
    "LibraryNotLoaded": "the profiler cannot reach the driver here, as in gVisor (LibraryNotLoaded)",
}


@dataclass(frozen=True, slots=True)
class Kernel:
    """One launch: bytes read from device memory and written to it."""

    name: str
    read: int
    written: int


@dataclass(frozen=True, slots=True)
class Counted:
    """The launches of a call in their order; or none, and `why` in one line."""

    kernels: tuple[Kernel, ...] = ()
    why: str = ""


def count(
    impl: str,
    *,
    n: int,
    d: int,
    heads: int = 1,
    dtype: str = "float16",
    causal: bool = False,
    find: Callable[[str], str | None] = shutil.which,
    call: Callable[..., subprocess.CompletedProcess[str]] = child.call,
) -> Counted:
    """Count one call of attention on the current CUDA device; `impl` as in `measure.once`. Never raises."""
    profiler = find("ncu")
    if profiler is None:
        return Counted(why="Nsight Compute (ncu) is not on the PATH")
    arguments = [impl, "--n", str(n), "--d", str(d), "--heads", str(heads), "--dtype", dtype]
    arguments += ["--causal"] * causal
    try:
        done = call("kernels.measure.once", *arguments, before=(profiler, *OPTIONS))
    except (OSError, subprocess.TimeoutExpired) as error:
        return Counted(why=f"ncu did not finish: {' '.join(str(error).split())}")
    kernels = parse(done.stdout)
    if kernels and done.returncode == 0:
        return Counted(kernels)
    return Counted(why=_reason(done.stdout + "\n" + done.stderr))


def parse(output: str) -> tuple[Kernel, ...]:
    """The launches in ncu's comma-separated output, whose table begins where a line begins with "ID"."""
    lines = output.splitlines()
    begin = next((place for place, line in enumerate(lines) if line.startswith('"ID"')), len(lines))
    launches: dict[str, dict[str, int]] = {}
    names: dict[str, str] = {}
    for row in csv.DictReader(lines[begin:]):
        if row.get("Metric Name") in (READ, WRITTEN):
            names[row["ID"]] = _short(row["Kernel Name"])
            value = float(row["Metric Value"].replace(",", ""))
            launches.setdefault(row["ID"], {})[row["Metric Name"]] = round(value)
    return tuple(
        Kernel(names[launch], bytes_[READ], bytes_[WRITTEN])
        for launch, bytes_ in launches.items()
        if len(bytes_) == 2
    )


def _short(name: str) -> str:
    """A C++ kernel's name without its template's and its own arguments, which can take a page."""
    return re.split(r"[<(]", name.removeprefix("void ").replace("<unnamed>", "unnamed"))[0]


def _reason(output: str) -> str:
    for sign, reason in REASONS.items():
        if sign in output:
            return reason
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    errors = [line.removeprefix("==ERROR==").strip() for line in lines if line.startswith("==ERROR==")]
    return (errors or lines or ["ncu said nothing"])[-1]
