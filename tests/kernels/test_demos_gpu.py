"""What demos conclude from times, memory and counters, with clocks that say what they are told.

The kernels run, on small tensors in the interpreter; only the GPU's figures are made up. So both verdicts can
be had.
"""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace
from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels.demos import common, modules
from kernels.measure import counters, exponentials, memory
from kernels.measure.clock import Timing
from kernels.measure.roofline import Roofline
from tests.kernels.demo_runs import Said, run

ROOF = Roofline(peak=800e12, bandwidth=4e12, source="made up")
Gpu = Callable[..., Said]


@pytest.fixture
def gpu(monkeypatch: pytest.MonkeyPatch) -> Gpu:
    """Run a demo as on a GPU: `seconds` by the name of the call, `sizes` in place of its constants."""

    def pretend(name: str, seconds: Mapping[str, float], sizes: Mapping[str, Any], **params: int) -> Said:
        module: Any = modules()[name]

        def timed(calls: Mapping[str, Callable[[], object]], **_: bool) -> dict[str, Timing]:
            for call in calls.values():
                call()
            taken = {call: seconds[call] for call in calls}
            return {call: Timing(t, 0.99 * t, 1.01 * t, 9) for call, t in taken.items()}

        replaced = {
            "on_gpu": lambda *shape, dtype="": torch.randn(shape).half(),
            "timed": timed,
            "ceilings": lambda: ROOF,
            **sizes,
        }
        for attribute, value in replaced.items():
            if hasattr(module, attribute):
                monkeypatch.setattr(module, attribute, value)
        properties = SimpleNamespace(multi_processor_count=132, L2_cache_size=50 << 20)
        monkeypatch.setattr(torch.cuda, "get_device_properties", lambda: properties)
        said = run(name, "cuda", **params)
        assert said.steady
        return said

    return pretend


@pytest.mark.parametrize(("causal", "verdict"), [(0.85, "confirmed"), (1.0, "refuted")])
def test_causal_skip(causal: float, verdict: str, gpu: Gpu) -> None:
    sizes = {"GPU_TIMES": 1, "GPU_HEADS": 1, "GPU_HEAD_DIM": 64}
    said = gpu("causal-skip", {"full": 1.0, "causal": causal}, sizes, n=256)
    assert said.result.formula == 75  # tiles of 128 by 64: 2 + 4 of 8
    assert said.result.measured == 100 * causal
    assert said.result.spread == pytest.approx(2 * causal)
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("masked", "window", "verdict"), [(2.3, 0.1, "confirmed"), (0.5, 0.1, "refuted")])
def test_masked_not_skipped(masked: float, window: float, verdict: str, gpu: Gpu) -> None:
    seconds = {"standard": 1, "standard, masked": masked, "tiled": 0.3, "tiled, window skipped": window}
    said = gpu("masked-not-skipped", seconds, {"GPU_TIMES": 1, "GPU_HEADS": 1}, n=256)
    assert said.result.measured == pytest.approx(1 / masked)
    assert said.rows["saved by skipping"][1] == pytest.approx(3)
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("slope", "verdict"), [(2.0, "confirmed"), (1.0, "refuted")])
def test_memory_and_time(slope: float, verdict: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    peaks = iter([256 * n + 4 * n * n for n in (64, 128)] + [256 * n + 4 * n for n in (64, 128)])
    monkeypatch.setattr(memory, "peak", lambda call: call() and next(peaks))
    sizes = {"GPU_LENGTHS": (64, 128), "GPU_STANDARD": (64, 128), "GPU_HEADS": 1, "GPU_HEAD_DIM": 128}
    said = gpu("memory-and-time", {"64": 1.0, "128": 2**slope}, sizes)
    assert said.rows["slope of memory, tiled"] == (1, pytest.approx(1))
    assert said.result.measured == pytest.approx(2**slope)
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("standard", "verdict"), [(2e-6, "confirmed"), (1e-7, "refuted")])
def test_ridge_and_intensity(standard: float, verdict: str, gpu: Gpu) -> None:
    seconds = {"standard": standard, "tiled": 1e-7}
    said = gpu("ridge-and-intensity", seconds, {"GPU_TIMES": 1, "GPU_HEADS": 1}, n=256)
    assert said.result.formula == pytest.approx(64 / 3)
    assert said.result.measured == pytest.approx(4 * 256**2 * 64 / standard / ROOF.bandwidth)
    assert said.rows["ridge"] == (None, ROOF.ridge)
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("rate", "verdict"), [(2.4, "confirmed"), (1.0, "refuted")])
def test_decode_bandwidth(rate: float, verdict: str, gpu: Gpu) -> None:
    """`rate` in TB/s, where a copy reaches 4."""
    lengths, sizes = (128, 256), {"GPU_BATCH": 1, "GPU_HEADS": 2, "GPU_HEAD_DIM": 64}
    asked = {n: 2 * 2 * n * 64 * 2 for n in lengths}
    seconds = {str(n): asked[n] / (rate * 4 / 3 * 1e12) for n in lengths}
    said = gpu("decode-bandwidth", seconds, {**sizes, "GPU_LENGTHS": lengths})
    assert said.result.formula == pytest.approx(1, rel=0.02)
    assert said.result.measured == pytest.approx(rate / 3, rel=0.001)
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("slower", "verdict"), [(1.0, "confirmed"), (2.0, "refuted")])
def test_gqa_sharing(slower: float, verdict: str, gpu: Gpu) -> None:
    """Groups of four take a quarter of the time, or half of it."""
    full = 2 * 8 * 128 * 64 * 2 / 4e12
    seconds = {"no sharing": full, "groups of 4": slower * full / 4, "groups of 8": full / 8}
    sizes = {"GPU_TIMES": 1, "GPU_BATCH": 1, "GPU_KEYS": 128, "GPU_HEAD_DIM": 64}
    said = gpu("gqa-sharing", seconds, sizes, kv_heads=2)
    assert said.result.measured == pytest.approx(4 / slower)
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("eight", "verdict"), [(0.2, "confirmed"), (0.9, "refuted")])
def test_split_kv(eight: float, verdict: str, gpu: Gpu) -> None:
    sizes = {
        "GPU_HEADS": 2, "GPU_KV_HEADS": 1, "GPU_HEAD_DIM": 64, "GPU_KEYS": 1024, "GPU_SPLITS": (1, 8),
    }  # fmt: skip
    said = gpu("split-kv", {"1": 1.0, "8": eight}, sizes)
    assert said.result.answer == "rounding in the last bits"
    assert said.notes["8 parts"].startswith("8 programs on 132 SMs")
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("tiled", "answer"), [(0.25, "P computed again"), (2.0, "P stored")])
def test_backward_recompute(tiled: float, answer: str, gpu: Gpu) -> None:
    sizes = {"GPU_N": 64, "GPU_HEADS": 1, "GPU_HEAD_DIM": 64}
    said = gpu("backward-recompute", {"tiled": tiled, "standard": 1.0}, sizes)
    assert said.rows["kept extra, tiled"] == (256, 256)
    assert said.result.measured == pytest.approx(1 / tiled)
    assert said.result.answer is not None
    assert said.result.answer.startswith(answer)
    assert said.result.verdict == ("confirmed" if tiled < 1 else "refuted")


@pytest.mark.parametrize(("first", "verdict"), [(8.0, "confirmed"), (4.0, "refuted")])
def test_fa2_deferred(first: float, verdict: str, gpu: Gpu) -> None:
    seconds = {"FlashAttention-1": first, "FlashAttention-2": 1.0}
    said = gpu("fa2-deferred", seconds, {"GPU_N": 256, "GPU_HEADS": 4})
    assert said.result.measured == first
    assert said.notes["time, FlashAttention-2"] == "8 programs, 132 SMs"  # tiles of 128 queries
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("rate", "verdict"), [(4.0e12, "confirmed"), (40e12, "refuted")])
def test_exp_wall(rate: float, verdict: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exponentials, "rate", lambda clock: Timing(rate, 0.9 * rate, 1.1 * rate, 9))
    monkeypatch.setattr("kernels.measure.clock.EventClock", lambda: None)
    monkeypatch.setattr("kernels.tiles.capability", lambda x: (9, 0))
    monkeypatch.setattr("kernels.attention.attention", lambda q, k, v: q)
    said = gpu("exp-wall", {"64": 2.0, "128": 1.0, "256": 1.0}, {"GPU_N": 64, "GPU_WIDTH": 256}, d=128)
    assert said.result.formula == 50
    assert said.result.measured == pytest.approx(100 * 800e12 / rate / 512)
    assert said.result.verdict == verdict


def l2_sizes() -> dict[str, Any]:
    return {"GPU_N": 256, "GPU_HEADS": 1}


@pytest.mark.parametrize(("seconds", "verdict"), [(1e-8, "confirmed"), (1e-6, "refuted")])
def test_l2_without_counters(seconds: float, verdict: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counters, "count", lambda impl, **shape: counters.Counted(why="no profiler here"))
    said = gpu("l2-third-level", {"tiled": seconds}, l2_sizes())
    assert said.result.measured is None
    assert said.result.limits == "No counter: no profiler here."
    assert [call.impl for call in said.result.calls] == ["flash"]  # counters of another day do instead
    assert said.result.verdict == verdict


@pytest.mark.parametrize(("read", "verdict"), [(197_000, "confirmed"), (900_000, "refuted")])
def test_l2_with_counters(read: int, verdict: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    kernel = counters.Kernel("flash", read, 512)
    monkeypatch.setattr(counters, "count", lambda impl, **shape: counters.Counted((kernel,)))
    said = gpu("l2-third-level", {"tiled": 1e-8}, l2_sizes(), n=512)
    assert said.rows["tiled, read from DRAM"] == (196_608, read)
    assert said.result.measured == read + 67_584
    assert said.result.calls == ()
    assert said.result.verdict == verdict


@pytest.mark.parametrize("enough", [True, False])
def test_the_256_gib_on_a_gpu(enough: bool, gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    def take(n: int) -> int:
        if n > 8192 and not enough:
            raise torch.OutOfMemoryError
        return 2 * n * n * 256 * 2

    sizes = {"_take": take, "_tiled": lambda n: (4 * n * 256, "done"), "free_bytes": lambda device: 2**37}
    said = gpu("the-256-gib", {}, sizes)
    assert said.notes["S and P"] == f"at N = 16,384: {'granted' if enough else 'refused'}"
    assert f"S and P at N = {16384 if enough else 8192:,}" in said.rows
    assert (said.result.formula, said.result.measured) == (256, 256)
    assert said.result.verdict == "confirmed"


def test_kv_cache_on_a_gpu(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cache is weighed after whatever libraries keep from their first call."""
    from kernels.demos import kv_cache_untouched

    taken = iter([100, 100 + 2**30, 100 + 2**30 + 2**25, 100 + 2**30 + 2**25])
    monkeypatch.setattr(kv_cache_untouched, "taken_bytes", lambda device: next(taken))
    monkeypatch.setattr(memory, "peak", lambda call: call() is not None and 2**20)
    small = torch.zeros(32, 2, 1, 8, 64, 128)
    sizes = {"first_that_fits": lambda sizes, attempt: (sizes[0], small, [])}
    zeros = torch.zeros
    monkeypatch.setattr(torch, "zeros", lambda *shape, dtype, device: zeros(*shape))
    said = gpu("kv-cache-untouched", {}, sizes, tokens=8192)
    assert (said.result.formula, said.result.measured) == (1, 1)
    assert said.rows["change of the cache"] == (0, 0)
    assert said.result.verdict == "confirmed"


def test_out_of_memory_at_every_size_is_passed_on() -> None:
    def refuse(n: int) -> int:
        raise torch.OutOfMemoryError(str(n))

    with pytest.raises(torch.OutOfMemoryError, match="1"):
        common.first_that_fits([2, 1], refuse)


def test_tile_size(gpu: Gpu, monkeypatch: pytest.MonkeyPatch) -> None:
    from triton.runtime.errors import OutOfResources

    from kernels.demos import tile_size

    refusals = iter([None] * 5 + [OutOfResources(294_912, 232_448, "shared memory")])
    monkeypatch.setattr(tile_size, "_refused", lambda call: next(refusals))
    seconds = {"16": 4.0, "32": 2.0, "64": 1.2, "128": 1.0, "256": 3.0}
    said = gpu("tile-size", seconds, {"GPU_N": 128, "GPU_HEADS": 1})
    assert said.result.formula == said.result.measured == 294_912
    assert said.result.answer == "shared memory and registers of a multiprocessor"
    assert said.result.verdict == "confirmed"
    assert "128 queries a tile are fastest, 4.0 times faster than 16" in said.result.why


@pytest.mark.parametrize(
    ("lowest", "why"),
    [
        (4.0, "64 and 256 queries a tile are fastest, 2.4 times faster than 16; a tile that needs 294,912 B"),
        (1.6667, "no tile is faster than the lowest"),
    ],
)
def test_tile_size_prefers_none_of_two_heights_that_print_the_same_time(
    lowest: float, why: str, gpu: Gpu, monkeypatch: pytest.MonkeyPatch
) -> None:
    from triton.runtime.errors import OutOfResources

    from kernels.demos import tile_size

    refusals = iter([None] * 5 + [OutOfResources(294_912, 232_448, "shared memory")])
    monkeypatch.setattr(tile_size, "_refused", lambda call: next(refusals))
    seconds = {"16": lowest, "32": 2.0, "64": 1.6671, "128": 1.8, "256": 1.6673}
    said = gpu("tile-size", seconds, {"GPU_N": 128, "GPU_HEADS": 1})
    assert said.result.why.startswith(why)
