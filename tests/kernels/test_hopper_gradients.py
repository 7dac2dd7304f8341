"""What can be known of the Hopper backward pass without such a chip: it compiles well; when it is taken."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch")
triton = pytest.importorskip("triton")

from kernels import attention as front_door  # noqa: E402 - only where torch is
from kernels import flash_backward, hopper  # noqa: E402
from kernels.attention import compute_gradients  # noqa: E402

ROOT = Path(__file__).parents[2]
SHARED_MEMORY = 227 * 1024  # bytes that one program may take on sm_90


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    if obstacle := hopper.gluon_obstacle():
        pytest.skip(obstacle)
    clean = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    env = clean | {"PYTHONPATH": str(ROOT), "TRITON_CACHE_DIR": str(tmp_path_factory.mktemp("triton"))}
    script = ROOT / "tests" / "kernels" / "hopper_backward_report.py"
    told = subprocess.run([sys.executable, script], env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return [json.loads(line) for line in told.stdout.splitlines()]


@pytest.mark.slow
def test_every_walk_fits_and_runs_its_products_side_by_side(reports: list[dict[str, Any]]) -> None:
    assert {kernel["head_dim"] for kernel in reports} == set(hopper.HEAD_DIMS)
    for kernel in reports:
        assert kernel["products"] > 0, kernel
        assert kernel["shared"] <= SHARED_MEMORY, kernel
        # The assembler of Triton 3.8 alone runs one of them in turn: slower, not wrong.
        assert not kernel["serialised"] or triton.__version__.startswith("3.8."), kernel


@pytest.mark.slow
def test_what_spills_is_a_few_addresses_and_not_a_tile(reports: list[dict[str, Any]]) -> None:
    """Bytes a thread, over both consumers; of the smallest tile, S at d = 128, a thread has 128."""
    most = {"one_walk": {64: 96, 128: 64}, "keys_walk": {256: 0}, "queries_walk": {256: 64}}
    for kernel in reports:
        assert kernel["spilled"] <= most[kernel["kernel"]][kernel["head_dim"]], kernel


@pytest.mark.slow
def test_no_left_operand_is_overwritten_in_flight(reports: list[dict[str, Any]]) -> None:
    for kernel in reports:
        assert kernel["overwritten"] == [], kernel


@pytest.mark.slow
def test_dq_is_added_to_memory_four_numbers_at_a_time(reports: list[dict[str, Any]]) -> None:
    for kernel in reports:
        added = [name.split(".FTZ")[0] for name in kernel["additions"]]
        assert added == (["REDG.E.ADD.F32x4"] if kernel["kernel"] == "one_walk" else []), kernel


def answers(monkeypatch: pytest.MonkeyPatch, head_dim: int, impl: str, supported: str | None = None) -> str:
    """Which backward pass `compute_gradients` takes; the Hopper one is here by name only."""
    called: list[str] = []

    def backward(name: str) -> Any:
        return lambda do, q, k, v, *_, **__: called.append(name) or (q, k, v)

    monkeypatch.setattr(hopper, "backward", backward("hopper"))
    monkeypatch.setattr(flash_backward, "backward", backward("flash"))
    monkeypatch.setattr(hopper, "gradients_supported", lambda *_: supported)
    q, k, v, do = (torch.zeros(1, 1, 4, head_dim) for _ in range(4))
    lse = torch.zeros(1, 1, 4)
    compute_gradients(impl, do, q, k, v, q, lse, dlse=None, causal=True, scale=1.0, window=None)
    (name,) = called
    return name


def test_each_implementation_has_its_backward_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    assert answers(monkeypatch, 128, "hopper") == "hopper"
    assert answers(monkeypatch, 128, "hopper", supported="q is too long") == "flash"
    assert answers(monkeypatch, 128, "flash") == "flash"
    assert answers(monkeypatch, 128, "decode") == "flash"


def test_where_pytorch_is_to_be_deterministic_so_are_gradients(monkeypatch: pytest.MonkeyPatch) -> None:
    torch.use_deterministic_algorithms(True)
    try:
        assert answers(monkeypatch, 64, "hopper") == "flash"
        assert answers(monkeypatch, 128, "hopper") == "flash"
        assert answers(monkeypatch, 256, "hopper") == "hopper"
    finally:
        torch.use_deterministic_algorithms(False)


def test_gradients_are_refused_where_sums_would_be_padding_or_places_would_not_fit() -> None:
    def shaped(*shape: int) -> Any:
        return type("Shaped", (), {"shape": shape})

    many, few = shaped(2, 2**13, 2**16, 64), shaped(2, 2, 63, 64)
    assert "2³⁰ queries" in (hopper.gradients_supported(many, many, many) or "")
    assert "q has 63 queries" in (hopper.gradients_supported(few, few, few) or "")


def test_while_tracing_nobody_asks_how_the_data_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    def supported(*_: Any) -> str:
        raise AssertionError("data_ptr() was asked for")

    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda _: (9, 0))
    monkeypatch.setattr(hopper, "supported", supported)
    monkeypatch.setattr(hopper, "gluon_obstacle", lambda: None)
    monkeypatch.setattr(front_door, "_traced", lambda: True)
    q: Any = type("OnGpu", (), {"is_cuda": True, "device": torch.device("cuda", 0)})
    assert front_door._hopper_obstacle(q, q, q, None) == ""
    assert "window" in front_door._hopper_obstacle(q, q, q, 3)
