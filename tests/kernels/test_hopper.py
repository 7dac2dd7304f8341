"""What can be known of the Hopper kernel without such a chip: it compiles well, and what it refuses."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels import hopper  # noqa: E402 - only where torch is

if TYPE_CHECKING:
    from torch import Tensor

ROOT = Path(__file__).parents[2]
SHARED_MEMORY = 227 * 1024  # bytes that one program may take on sm_90


def child(*arguments: str | Path, **environment: str) -> str:
    """What a Python process prints in which kernels are compiled, not interpreted."""
    clean = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    env = clean | {"PYTHONPATH": str(ROOT)} | environment
    told = subprocess.run([sys.executable, *arguments], env=env, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stderr
    return told.stdout


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    obstacle = child("-c", "from kernels import hopper; print(hopper.gluon_obstacle() or '')").strip()
    if obstacle:
        pytest.skip(obstacle)
    cache = str(tmp_path_factory.mktemp("triton"))
    out = child(ROOT / "tests" / "kernels" / "hopper_report.py", TRITON_CACHE_DIR=cache)
    return [json.loads(line) for line in out.splitlines()]


@pytest.mark.slow
def test_every_plan_fits_and_runs_its_products_side_by_side(reports: list[dict[str, Any]]) -> None:
    assert {kernel["head_dim"] for kernel in reports} == set(hopper.HEAD_DIMS)
    for kernel in reports:
        assert kernel["products"] > 0, kernel
        # Some releases park two numbers of a tile there, outside the loop.
        assert kernel["stack"] <= 8, f"registers spill: {kernel}"
        assert kernel["shared"] <= SHARED_MEMORY, kernel
        assert not kernel["serialised"], kernel


@pytest.mark.slow
def test_no_left_operand_is_overwritten_in_flight(reports: list[dict[str, Any]]) -> None:
    """P is a left operand in registers. Assemblers are reported to reuse such registers too early."""
    for kernel in reports:
        assert kernel["overwritten"] == [], kernel


def test_the_scan_sees_an_overwritten_operand() -> None:
    names = "from tests.kernels.hopper_report import instructions, overwritten"
    sass = (
        "/*0010*/ HGMMA.64x128x16.F32.BF16 R24, R88, gdesc[UR8], R24, gsb0 ;\n"
        "/*0020*/ @P0 MUFU.EX2 R{register}, R5 ;\n"
        "/*0030*/ WARPGROUP.DEPBAR.LE gsb0, 0x0 ;\n"
        "/*0040*/ MUFU.EX2 R88, R5 ;\n"
    )
    for register, found in ((91, ["MUFU.EX2 R91, R5"]), (92, [])):
        text = sass.format(register=register)
        code = f"{names}\nimport json; print(json.dumps(overwritten(instructions({text!r}))))"
        assert json.loads(child("-c", code)) == found


def test_an_import_needs_neither_torch_nor_triton() -> None:
    code = "import sys\nimport kernels.hopper\nprint(bool({'torch', 'triton'} & set(sys.modules)))"
    assert child("-c", code).strip() == "False"


def test_without_gluon_it_says_so() -> None:
    code = (
        "import sys\nsys.modules['triton.experimental'] = None\n"
        "from kernels import hopper\nprint(hopper.gluon_obstacle())"
    )
    assert "Gluon" in child("-c", code)


def like_cuda(x: Tensor) -> Any:
    """x, as far as `supported` looks, on a GPU."""

    class OnGpu:
        is_cuda, device, dtype, shape = True, x.device, x.dtype, x.shape
        stride, numel, data_ptr = x.stride, x.numel, x.data_ptr

    return OnGpu()


def reason(
    q: Tensor, k: Tensor, monkeypatch: pytest.MonkeyPatch, capability: tuple[int, int] = (9, 0)
) -> str:
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
    monkeypatch.setattr(hopper, "gluon_obstacle", lambda: None)
    q_gpu, k_gpu = like_cuda(q), like_cuda(k)
    return hopper.supported(q_gpu, k_gpu, k_gpu) or ""


def half(*shape: int) -> Tensor:
    return torch.zeros(shape, dtype=torch.float16)


def test_it_refuses_what_the_chip_or_the_kernel_cannot_take(monkeypatch: pytest.MonkeyPatch) -> None:
    good = half(2, 4, 100, 64)
    assert "no Hopper GPU" in (hopper.supported(good, good, good) or "")
    assert "no Hopper GPU" in reason(good, good, monkeypatch, capability=(8, 0))
    assert reason(good, good, monkeypatch) == ""
    assert "torch.float32" in reason(good.float(), good.float(), monkeypatch)
    assert "head dimension 80" in reason(half(1, 1, 8, 80), half(1, 1, 8, 80), monkeypatch)
    assert "2¹⁶ heads" in reason(half(1, 2**16, 1, 64), good, monkeypatch)
    assert "2¹⁵ batch entries" in reason(half(2**15 + 1, 1, 1, 64), good, monkeypatch)
    assert reason(half(2**15, 1, 1, 64), good, monkeypatch) == ""
    assert reason(good, half(2, 4, 0, 64), monkeypatch) == "k has no elements"


def test_it_takes_tensors_as_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    rows_first = half(2, 100, 4, 64).transpose(1, 2)
    packed = half(2, 100, 12, 64)[:, :, 4:8].transpose(1, 2)
    assert reason(rows_first, packed, monkeypatch) == ""
    odd = half(2, 4, 100, 68)[..., :64]
    strided = half(2, 4, 64, 100).transpose(2, 3)
    expanded = half(2, 1, 100, 64).expand(2, 4, 100, 64)
    shifted = half(2 * 4 * 100 * 64 + 4)[4:].view(2, 4, 100, 64)
    for name, x in (("odd", odd), ("strided", strided), ("expanded", expanded), ("shifted", shifted)):
        assert reason(rows_first, x, monkeypatch).startswith("k "), name


def test_passes_share_the_cache_and_are_even() -> None:
    """16384 tokens of 16 heads have 128 MiB of K and V at d = 128. No pass has more than 128 heads."""
    told = child(
        "-c",
        "from kernels.hopper.launch import heads_together as t\n"
        "print([t(16 * 16384 // N, 4 * N * 128, 1, 16) for N in (128, 512, 2048, 8192, 16384)])\n"
        "print(t(1, 1 << 30, 1, 32), t(6, 4096, 3, 32), t(64, 8 << 20, 4, 32), t(129, 4096, 1, 32))",
    )
    assert told.split("\n")[:2] == ["[128, 64, 16, 4, 2]", "1 6 16 65"]


def test_graphs_keep_their_counters_when_all_have_been_given_out() -> None:
    told = child(
        "-c",
        "import gc, torch, weakref\n"
        "from kernels.hopper import launch\n"
        "capturing = False\n"
        "torch.cuda.is_current_stream_capturing = lambda: capturing\n"
        "torch.cuda.current_stream = lambda _: type('Stream', (), {'cuda_stream': 7})\n"
        "here = torch.device('cpu')\n"
        "shared = launch._counters(here)\n"
        "block = weakref.ref(launch._spare_counters(here)[0][0]._base)\n"
        "capturing = True\n"
        "places = {launch._counters(here).data_ptr() for _ in range(1024)}\n"
        "gc.collect()\n"
        "print(len(places), block() is not None, shared.data_ptr() in places)\n"
        "print(launch._counters(here).tolist(), launch._counters(here).data_ptr() in places)\n"
        "capturing = False\n"
        "print(launch._counters(here) is shared, len(launch._spare_counters(here)[0]))",
    )
    assert told.splitlines() == ["1024 True False", "[0, 0] False", "True 1024"]


def test_every_plan_fits_into_shared_memory() -> None:
    told = child(
        "-c",
        "from kernels.hopper.launch import ROWS, plan_for\n"
        "for d in (64, 128, 256):\n"
        "    for N in (1, 2048):\n"
        "        for causal in (False, True):\n"
        "            p = plan_for(d, N, N, causal=causal)\n"
        "            print((ROWS * p.consumers * p.q_sets + (p.k_slots + p.v_slots) * p.block) * d * 2)",
    )
    sizes = [int(line) for line in told.split()]
    assert len(sizes) == 12 and max(sizes) == 224 * 1024 < SHARED_MEMORY
