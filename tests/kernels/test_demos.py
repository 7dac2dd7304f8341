"""Each demo: what it declares, what it says, and that a wrong kernel refutes it."""

from __future__ import annotations

from dataclasses import asdict
from importlib.util import find_spec
from typing import Any

import pytest

from kernels.demos import Demo, modules
from tests.kernels.demo_runs import run

DEMOS = modules()
needs_kernels = pytest.mark.skipif(
    not (find_spec("torch") and find_spec("triton")), reason="torch and triton are not installed"
)


@pytest.mark.parametrize("name", DEMOS)
def test_what_a_demo_declares(name: str) -> None:
    demo: Demo = DEMOS[name].DEMO
    assert demo.claim.endswith(".")
    assert "?" in demo.question
    assert (demo.form == "choice") == (len(demo.choices) > 1)
    assert len(set(demo.choices)) == len(demo.choices)
    assert demo.devices
    assert set(demo.devices) <= {"cuda", "interpreter", "cpu"}
    assert "triton" in demo.needs or "interpreter" not in demo.devices
    assert all(param.default in param.values for param in demo.params)
    assert 0 < demo.seconds <= 10
    assert len(demo.explain) > 300
    lines = demo.explain.splitlines()
    assert max(map(len, lines)) <= 110
    assert (
        max((len(line) for line in lines if line.startswith("    ")), default=0) <= 76
    )  # as is, on 80 columns
    assert demo.name == name
    assert demo.form == "number" or not demo.unit or demo.unit == "×"
    assert demo.plan.endswith(".")


@needs_kernels
def test_bytes_moved_at_its_defaults() -> None:
    said = run("bytes-moved")
    result = said.result
    assert said.rows == {
        "standard": (4_784_128, 4_784_128),
        "tiled": (1_181_696, 1_181_696),
        "floor": (264_192, None),
    }
    assert (result.quantity, result.formula, result.measured, result.unit) == (
        "tiled",
        1_181_696,
        1_181_696,
        "B",
    )
    assert result.verdict == "confirmed"
    assert "1,181,696" in result.derivation
    assert said.curves == {
        "standard": ([128, 256, 512], [311_296, 1_212_416, 4_784_128]),
        "tiled": ([128, 256, 512], [98_816, 328_704, 1_181_696]),
    }
    assert said.steady


@needs_kernels
def test_the_recorder_reads_counters_for_the_calls_that_the_demos_are_about() -> None:
    from kernels.recorded.make import WATCHED

    watched = [{"impl": impl, **shape} for impls, shape in WATCHED for impl in impls]
    for name, names in (
        ("bytes-moved", ["standard", "tiled", "standard in PyTorch", "tiled"]),
        ("l2-third-level", ["tiled"]),
    ):
        calls = [asdict(call) for call in run(name).result.calls]
        assert [call.pop("name") for call in calls] == names
        assert [call for call in calls if call not in watched] == []


@needs_kernels
def test_bytes_moved_with_taller_tiles() -> None:
    result = run("bytes-moved", n=128, tile_rows=128).result
    assert result.measured == result.formula == 4 * 128 * 64 * 2 + 4 * 128
    assert result.verdict == "confirmed"


@needs_kernels
def test_bytes_moved_is_refuted_by_a_count_that_differs(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels.measure import traffic

    honest = traffic.standard
    monkeypatch.setattr(
        traffic, "standard", lambda problem, **tile: honest(problem, **(tile | {"tile_columns": 32}))
    )
    result = run("bytes-moved", n=128).result
    assert result.verdict == "refuted"
    assert result.why == "the count differs from the formula for standard at N = 128"


@needs_kernels
def test_same_answer() -> None:
    said = run("same-answer", n=128)
    result = said.result
    assert result.verdict == "confirmed"
    assert result.answer in DEMOS["same-answer"].DEMO.choices
    assert result.answer == "no further, or nearer"
    assert result.formula == pytest.approx(2.93e-4, rel=0.01)  # √2 · 0.425 · 2⁻¹¹
    assert result.measured == pytest.approx(result.formula, rel=0.2)
    # Each figure follows from what stands before it: 2.0752e-4, times √2 2.9348e-4, times √7 5.4904e-4.
    assert "each by 0.425·2⁻¹¹ = 2.08e-4; together √2·0.425·2⁻¹¹ = 2.93e-4." in result.derivation
    assert "√7·0.425·2⁻¹¹ = 5.49e-4, and is off by" in result.derivation
    assert set(said.rows) == {
        "fp16",
        "fp32",
        "fp16, ragged N = 200",
        "fp16, causal",
        "fp32, scores × 10⁴",
        "queries without a key",
    }
    fp32 = said.rows["fp32"][1]
    assert fp32 is not None
    assert 0 < fp32 < 1e-6
    assert said.rows["queries without a key"] == (0, 0)
    assert said.steady


@needs_kernels
@pytest.mark.parametrize(
    ("mistake", "answer"),
    [(1 + 1e-2, "about 1000 times further"), (1 + 2e-5, "about 10 times further")],
)
def test_same_answer_is_refuted_by_a_kernel_with_another_scale(
    mistake: float, answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernels import flash

    honest = flash.forward
    monkeypatch.setattr(
        flash, "forward", lambda *qkv, causal, scale: honest(*qkv, causal=causal, scale=scale * mistake)
    )
    result = run("same-answer", n=128).result
    assert result.verdict == "refuted"
    assert result.answer == answer
    assert "fp32 is off by" in result.why


@needs_kernels
def test_same_answer_is_refuted_by_a_query_that_sees_nothing_and_gets_something(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kernels import flash

    honest = flash.forward

    def mean_of_v(q: Any, k: Any, v: Any, *, causal: bool, scale: float) -> tuple[Any, Any]:
        o, L = honest(q, k, v, causal=causal, scale=scale)
        return o.where((L > -1e30)[..., None], v.mean(2, keepdim=True)), L

    monkeypatch.setattr(flash, "forward", mean_of_v)
    result = run("same-answer", n=128).result
    assert result.verdict == "refuted"
    assert result.why == "a query without a key does not get 0 and -inf"
