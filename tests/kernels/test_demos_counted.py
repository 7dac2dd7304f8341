"""Each demo on the CPU: the figures it is known for, and that a kernel which does otherwise refutes it."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels.demos import modules
from kernels.demos.common import many
from tests.kernels.demo_runs import run

EQUAL: dict[tuple[str, str], tuple[float, dict[str, float]]] = {
    # demo, setting: what it measures, which the formula gives to the last digit, and further rows like it
    ("bytes-backward", "n=64 tile=64"): (99_584, {"dO read": 16_384, "W read": 512, "L read": 256}),
    ("bytes-backward", "n=64 tile=32"): (132_864, {"K read": 24_576}),
    ("causal-skip", "n=256"): (
        62.5,
        {"tiles, full": 16, "tiles, causal": 10, "FLOPs, causal": 10_485_760, "bytes, causal": 230_400},
    ),
    ("causal-skip", "n=128"): (75.0, {"tiles, causal": 3}),
    ("decode-bandwidth", "n=1024"): (
        2_097_152 / 2_099_232,
        {"bytes": 2_099_232, "FLOPs of padded tiles": 33_554_432},
    ),
    ("exp-wall", "d=64"): (
        101.5625,
        {"matrix FLOPs": 16_777_216, "exponentials": 66_560, "d = 256": 25.390625},
    ),
    ("fa2-deferred", "n=256"): (
        4.0,
        {
            "divisions, FA1": 65_536,
            "divisions, FA2": 16_384,
            "bytes, FA1": 475_136,
            "bytes, FA2": 328_704,
            "matrix FLOPs, FA1": 16_777_216,
            "matrix FLOPs, FA2": 16_777_216,
            "exponentials, FA1": 66_560,
            "exponentials, FA2": 66_560,
            "K and V, FA2": 262_144,
        },
    ),
    ("gqa-sharing", "kv_heads=2"): (
        2_097_152 / 526_368,
        {"K and V, no sharing": 2_097_152, "K and V, groups of 4": 524_288, "K and V, groups of 8": 262_144},
    ),
    ("kv-cache-untouched", "tokens=131072"): (16.0, {"read by a step, one layer": 2_097_152}),
    ("kv-cache-untouched", "tokens=8192"): (1.0, {}),
    ("l2-third-level", "n=512"): (
        264_192,
        {
            "tiled, requested": 1_181_696,
            "tiled, footprint": 264_192,
            "tiled, 16 KiB": 1_181_696,
            "tiled, 64 KiB": 1_181_696,
            "tiled, 256 KiB": 264_192,
            "tiled, 4096 KiB": 264_192,
        },
    ),
    ("masked-not-skipped", "n=256"): (
        1.0,
        {"standard": 1_212_416, "standard, masked": 1_212_416, "tiled, window skipped": 181_248},
    ),
    ("memory-and-time", "n=512"): (
        4.0,
        {"matrix FLOPs": 67_108_864, "extra memory, tiled": 2_048, "slope of memory, tiled": 1},
    ),
    ("ridge-and-intensity", "n=256"): (
        16_777_216 / 1_212_416,
        {"tiled, 64 queries": 16_777_216 / 328_704, "tiled, 128 queries": 16_777_216 / 197_632},
    ),
    ("backward-recompute", "n=128"): (
        1.75,
        {"FLOPs, P again": 14 * 128**2 * 64, "kept extra, tiled": 512},
    ),
    ("tile-size", "n=128"): (
        32_768,
        {"16 queries a tile": 262_144, "64 queries a tile": 65_536, "128 queries a tile": 32_768},
    ),
}

ANSWERS = {
    ("backward-recompute", "n=128"): "P computed again: it moves fewer bytes",
    ("bug-hunt", "n=128"): "C: a = exp(m - m_new), l = a·l + Σp, o = a·o + p·V",
    ("fa2-deferred", "n=256"): "divisions, and the trips of O and its statistics",
    ("masked-rows", "blind=16"): "NaN",
    ("merge-order", "n=128"): "equal up to rounding",
    ("split-kv", "n=256"): "rounding in the last bits",
    ("tile-size", "n=128"): "shared memory and registers of a multiprocessor",
}


def settings(written: str) -> dict[str, int]:
    return {name: int(value) for name, _, value in (pair.partition("=") for pair in written.split())}


@pytest.mark.parametrize(("name", "written"), EQUAL, ids=str)
def test_what_is_counted_equals_the_formula(name: str, written: str) -> None:
    expected, rows = EQUAL[name, written]
    said = run(name, **settings(written))
    assert said.result.measured == said.result.formula == pytest.approx(expected, rel=1e-12)
    assert {row: said.rows[row] for row in rows} == {row: (value, value) for row, value in rows.items()}
    assert said.result.verdict == "confirmed"
    assert said.steady
    assert said.result.answer == ANSWERS.get((name, written))


@pytest.mark.parametrize(("name", "written"), [key for key in ANSWERS if key not in EQUAL], ids=str)
def test_answers_that_rest_on_values(name: str, written: str) -> None:
    said = run(name, **settings(written))
    assert said.result.answer == ANSWERS[name, written]
    assert said.result.verdict == "confirmed"
    assert said.steady


def test_one_thing_is_told_in_the_singular() -> None:
    assert [many(count, "part") for count in (0, 1, 2, 4096)] == [
        "0 parts",
        "1 part",
        "2 parts",
        "4,096 parts",
    ]
    tiles = run("tile-size", n=128).notes
    assert tiles["64 queries a tile"] == "K and V, read 2 times"
    assert tiles["128 queries a tile"] == tiles["256 queries a tile"] == "K and V, read 1 time"
    moved = run("bytes-moved", n=128, tile_rows=128)
    assert moved.notes["tiled"] == "K and V are read 1 time"
    assert "K and V for each of 1 tile: 1·32,768 = 32,768." in moved.result.derivation
    assert run("bytes-backward", n=64, tile=64).notes["tiled, backward"] == "1 tile each way"
    assert "so the first sees none: exp(" in run("masked-rows", blind=1).result.derivation
    assert "so the first 16 see none: exp(" in run("masked-rows", blind=16).result.derivation


def test_every_demo_is_tested() -> None:
    elsewhere = {"bytes-moved", "same-answer", "fp8-error", "the-256-gib"}
    assert {name for name, _ in (*EQUAL, *ANSWERS)} | elsewhere == set(modules())


def test_the_256_gib() -> None:
    said = run("the-256-gib")
    assert said.result.formula == 256
    assert said.result.measured == pytest.approx(256, rel=0.02)
    assert said.result.verdict == "confirmed"
    assert said.rows["beyond the output, tiled"] == (16 / 1024, None)
    assert said.steady


@pytest.mark.parametrize(("free", "held"), [(0, 128), (2**30, 256), (2**36, 512), (None, 128)])
def test_the_256_gib_takes_no_more_than_the_machine_can_spare(
    free: int | None, held: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from kernels.demos import the_256_gib

    monkeypatch.setattr(the_256_gib, "free_bytes", lambda device: free)
    monkeypatch.setattr(the_256_gib, "_take", lambda n, device: 2 * n * n * 256 * 2)
    said = run("the-256-gib")
    assert f"S and P at N = {held}" in said.rows
    assert said.notes["S and P"] == "at N = 16,384: not tried: it would not fit"
    assert (said.result.measured, said.result.verdict) == (256, "confirmed")


def test_fp8_error() -> None:
    said = run("fp8-error", n=1024)
    assert said.result.formula == 16
    assert said.result.measured == pytest.approx(17.5, rel=0.2)
    errors = [said.rows[name][1] for name in said.rows]
    assert errors == [pytest.approx(e, rel=0.5) for e in (1.2e-3, 2.1e-2, 1.9e-2, 1.2e-2)]
    assert said.result.verdict == "confirmed"
    assert said.steady


def test_the_replayed_cache_of_standard_attention() -> None:
    sizes, moved = run("l2-third-level", n=512).curves["standard"]
    assert dict(zip(sizes, moved, strict=True)) == {
        16 << 10: 4_784_128,
        64 << 10: 4_325_376,
        256 << 10: 3_407_872,
        1024 << 10: 1_329_152,
        4096 << 10: 1_310_720,
    }


def test_bug_hunt_by_hand() -> None:
    said = run("bug-hunt", n=128)
    by_hand = {name: note.removeprefix("example by hand: ") for name, note in said.notes.items()}
    assert by_hand == {
        "A": "21.11",
        "B": "22.41",
        "C": "36.88",
        "D": "21.11",
        "o left alone": "52.22",
        "l left alone": "20.31",
        "o times 1 / a": "165.59",
        "average of the blocks": "29.17",
    }
    wrong = [error for name, (_, error) in said.rows.items() if name != "C" and error is not None]
    assert len(wrong) == 7
    assert min(wrong) > 0.01


def refuse(name: str, **params: int) -> str:
    said = run(name, **params)
    assert said.result.verdict == "refuted"
    return said.result.why


def test_bug_hunt_is_refuted_if_another_update_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels.demos import bug_hunt

    right = bug_hunt.UPDATES[2].step
    updates = tuple(bug_hunt.Update(update.name, right) for update in bug_hunt.UPDATES[:2])
    monkeypatch.setattr(bug_hunt, "UPDATES", (*updates, *bug_hunt.UPDATES[2:]))
    assert refuse("bug-hunt", n=128).startswith("within rounding of float64: A: ")


def test_merge_order_is_refuted_by_a_merge_that_forgets_to_rescale(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels import online_softmax

    def forgetful(a: Any, b: Any) -> Any:
        return online_softmax.State(a.m.maximum(b.m), a.l + b.l, a.o + b.o)

    monkeypatch.setattr(online_softmax, "merge", forgetful)
    assert "left to right is off by" in refuse("merge-order", n=128)


def test_masked_rows_is_refuted_by_the_mean_of_v(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels import flash

    honest = flash.forward

    def mean_of_v(q: Any, k: Any, v: Any, **rest: Any) -> Any:
        o, L = honest(q, k, v, **rest)
        return o.where((L > -1e30)[..., None], v.mean(2, keepdim=True)), L

    monkeypatch.setattr(flash, "forward", mean_of_v)
    assert refuse("masked-rows", blind=1) == "the tiled kernel does not give 0 and -inf"


def test_causal_skip_is_refuted_by_a_kernel_that_skips_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels import flash

    honest = flash.launch
    monkeypatch.setattr(flash, "launch", lambda *a, causal, **rest: honest(*a, causal=False, **rest))
    why = refuse("causal-skip", n=128)
    assert "FLOPs is 4194304 and not 3145728" in why
    assert "bytes is" in why


def test_decoding_is_refuted_by_a_kernel_that_reads_keys_for_each_query_head(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from kernels import decode

    honest = decode.forward

    def unpacked(q: Any, k: Any, v: Any, **rest: Any) -> Any:
        group = q.shape[1] // k.shape[1]
        outputs = [honest(q[:, head::group], k, v, **rest) for head in range(group)]
        return outputs[0]

    monkeypatch.setattr(decode, "forward", unpacked)
    assert refuse("gqa-sharing") == (
        "with 2 KV heads 2,099,232 B are asked for and not 526,368 B; "
        "with 1 KV head 2,099,232 B are asked for and not 264,224 B"
    )


def test_backward_is_refuted_by_a_formula_that_forgets_a_walk(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels.measure import traffic

    honest = traffic.backward
    monkeypatch.setattr(
        traffic, "backward", lambda problem, **cut: honest(problem, **(cut | {"keys_a_tile": 128}))
    )
    assert refuse("bytes-backward", n=128) == "the count differs from the formula for N = 128"


def test_fp8_error_is_refuted_where_rotating_does_not_help(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from kernels.demos import fp8_error

    monkeypatch.setattr(fp8_error, "_hadamard", lambda device: torch.eye(fp8_error.HEAD_DIM))
    assert refuse("fp8-error", n=512) == "the rotation does not help"


def test_memory_is_refuted_by_a_kernel_that_keeps_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    from kernels import flash

    honest = flash.forward

    def hoarding(q: Any, k: Any, v: Any, **rest: Any) -> Any:
        q.new_empty(q.shape[2], k.shape[2])
        return honest(q, k, v, **rest)

    monkeypatch.setattr(flash, "forward", hoarding)
    assert refuse("memory-and-time", n=512) == "the tiled kernel allocates more than its output and 4 N bytes"


def test_the_list_imports_neither_torch_nor_triton() -> None:
    code = (
        "import sys; from kernels.demos import modules; assert len(modules()) > 18;"
        "print(sorted({'torch', 'triton', 'numpy'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_list_says_what_a_screen_needs() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kernels", "list", "--json"], capture_output=True, text=True, check=True
    )
    listed = {entry["name"]: entry for entry in json.loads(done.stdout)}
    assert set(listed) == set(modules())
    assert listed["the-256-gib"]["unit"] == "GiB"
    assert listed["masked-rows"]["choices"][2] == "NaN"
