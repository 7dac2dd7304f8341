"""The interpreter, made usable."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

import os
import subprocess
import sys

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

import triton.language as tl

from kernels import interpreter


@triton.jit
def _sum_of_squares(X, OUT, N, STEP: tl.constexpr):
    total = 0.0
    for start in range(0, N, STEP):
        x = tl.load(X + start + tl.arange(0, STEP))
        total += tl.sum(x * x, 0)
    tl.store(OUT, total)


def test_this_process_interprets() -> None:
    interpreter.enable()
    assert interpreter.enabled()


def test_a_loop_may_end_at_a_number_known_only_at_run_time() -> None:
    x, out = torch.arange(32.0), torch.zeros(1)
    _sum_of_squares[(1,)](x, out, 24, STEP=8)
    assert out.item() == sum(i * i for i in range(24))


def _python(code: str) -> subprocess.CompletedProcess[str]:
    env = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    return subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, check=False)


def test_too_late_says_so() -> None:
    late = _python("import triton\nfrom kernels import interpreter\ninterpreter.enable()")
    assert "RuntimeError: triton was imported before" in late.stderr


def test_asking_imports_nothing() -> None:
    asked = _python(
        "import sys\nfrom kernels import interpreter\n"
        "assert not interpreter.enabled()\nassert 'triton' not in sys.modules\n"
        "interpreter.enable()\nassert interpreter.enabled()\nassert 'torch' not in sys.modules"
    )
    assert asked.returncode == 0, asked.stderr
