"""Split-KV decoding in the interpreter: equal to attention for any number of splits, paged or not."""

# ruff: noqa: E402 - torch and triton may be missing
from __future__ import annotations

from typing import Any

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("triton")

from kernels import decode, standard
from kernels.measure.bytes import ELSEWHERE, counting

TOLERANCE = {"float32": 1e-6, "float16": 4e-4}

CASES: dict[str, dict[str, Any]] = {
    "one query": {"queries": 1, "keys": 100},
    "grouped heads": {"queries": 1, "keys": 130, "batch": 2, "heads": 4, "kv_heads": 2},
    "one shared head, three queries": {"queries": 3, "keys": 90, "heads": 8, "causal": True},
    "d = 40": {"queries": 2, "keys": 77, "head_dim": 40, "heads": 2, "kv_heads": 2, "causal": True},
    "d = 128": {"queries": 1, "keys": 65, "head_dim": 128},
    "queries without a key": {"queries": 5, "keys": 2, "causal": True},
    "a full tile of rows": {"queries": 8, "keys": 40, "heads": 8, "causal": True},
}


def relative_error(found: Any, truth: Any) -> float:
    return float((found.double() - truth).norm() / truth.norm())


@pytest.mark.parametrize("splits", range(1, 9))
@pytest.mark.parametrize("name", CASES)
def test_it_equals_attention_for_any_number_of_splits(name: str, splits: int, shape: Any) -> None:
    case = shape(**CASES[name])
    q, k, v = case.inputs()
    truth, lse = standard.attention(q.double(), k.double(), v.double(), causal=case.causal, scale=0.3)
    o, L = decode.forward(q, k, v, causal=case.causal, scale=0.3, splits=splits)
    assert relative_error(o, truth) <= TOLERANCE["float32"]
    torch.testing.assert_close(L.double(), lse, rtol=0, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_half_precision(dtype: str, shape: Any) -> None:
    q, k, v = shape(1, 200, heads=4, kv_heads=2, head_dim=64).inputs(dtype)
    truth, _ = standard.attention(q.double(), k.double(), v.double(), causal=True, scale=0.125)
    for splits in (1, 3):
        o, L = decode.forward(q, k, v, causal=True, scale=0.125, splits=splits)
        assert o.dtype == q.dtype and L.dtype == torch.float32
        assert relative_error(o, truth) <= {"float16": 4e-4, "bfloat16": 3e-3}[dtype]


@pytest.mark.parametrize("page_size", [1, 5, 16, 64])
@pytest.mark.parametrize("splits", [1, 4])
def test_pages_are_found_through_the_table(page_size: int, splits: int) -> None:
    generator = torch.Generator().manual_seed(0)
    lengths = torch.tensor([40, 3, 64], dtype=torch.int32)
    width = -(-64 // page_size)
    spare = 4  # pages that no sequence owns: reading them would give NaN
    order = torch.randperm(3 * width + spare, generator=generator)
    table = order[: 3 * width].view(3, width).to(torch.int32)
    k_pages, v_pages = (
        torch.randn(3 * width + spare, page_size, 2, 24, generator=generator) for _ in range(2)
    )
    for pages in (k_pages, v_pages):
        pages[order[3 * width :]] = float("nan")
    q = torch.randn(3, 4, 2, 24, generator=generator)
    for b, length in enumerate(lengths.tolist()):  # what lies behind a sequence's end is nobody's either
        for j in range(length, width * page_size):
            for pages in (k_pages, v_pages):
                pages[table[b, j // page_size], j % page_size] = float("nan")

    o, L = decode.paged(q, k_pages, v_pages, table, lengths, causal=True, scale=0.3, splits=splits)
    for b, length in enumerate(lengths.tolist()):
        k, v = (
            pages[table[b].long()].reshape(-1, 2, 24)[:length].transpose(0, 1)[None].double()
            for pages in (k_pages, v_pages)
        )
        truth, lse = standard.attention(q[b : b + 1].double(), k, v, causal=True, scale=0.3)
        assert relative_error(o[b : b + 1], truth) <= 1e-6
        torch.testing.assert_close(L[b : b + 1].double(), lse, rtol=0, atol=1e-5)


def test_a_table_entry_behind_the_end_may_be_anything() -> None:
    q = torch.randn(1, 1, 1, 16)
    pages = torch.randn(2, 16, 1, 16)
    table = torch.tensor([[1, 2_000_000_000]], dtype=torch.int32)
    o, _ = decode.paged(q, pages, pages, table, torch.tensor([16], dtype=torch.int32), causal=True, scale=0.3)
    alone = pages[1:].transpose(1, 2)
    torch.testing.assert_close(o, decode.forward(q, alone, alone, causal=True, scale=0.3)[0])


def test_any_strides(shape: Any) -> None:
    q, k, v = shape(2, 70, batch=2, heads=4, kv_heads=2).inputs()
    expected, _ = decode.forward(q, k, v, causal=True, scale=0.2, splits=3)
    by_position = (x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v))
    by_column = (x.transpose(2, 3).contiguous().transpose(2, 3) for x in (q, k, v))
    for a, b, c in (by_position, by_column):
        assert torch.equal(decode.forward(a, b, c, causal=True, scale=0.2, splits=3)[0], expected)


def test_without_any_key(shape: Any) -> None:
    for splits in (1, 2):
        o, L = decode.forward(*shape(2, 0).inputs(), causal=False, scale=1.0, splits=splits)
        assert (o == 0).all() and torch.isneginf(L).all()


def test_too_many_rows_are_refused(shape: Any) -> None:
    with pytest.raises(ValueError, match="q has 65 rows for each head of k; decoding takes at most 64"):
        decode.forward(*shape(65, 70).inputs(), causal=True, scale=1.0)


@pytest.mark.parametrize("splits", [1, 4])
@pytest.mark.parametrize(("heads", "kv_heads"), [(4, 4), (4, 2), (4, 1)])
def test_bytes_equal_the_formula(heads: int, kv_heads: int, splits: int, shape: Any) -> None:
    keys, d, e = 256, 64, 2
    q, k, v = shape(1, keys, head_dim=d, heads=heads, kv_heads=kv_heads).inputs("float16")
    with counting(Q=q, K=k, V=v) as count:
        decode.forward(q, k, v, causal=True, scale=0.125, splits=splits)
    ledger = count.ledger
    assert ledger.read["K"] == ledger.read["V"] == kv_heads * keys * d * e
    # The table's tiles are of 128 keys, so of four parts two are empty; they read their queries all the same.
    assert ledger.read["Q"] == splits * heads * d * e
    parts = splits * heads if splits > 1 else 0
    assert ledger.read.get(ELSEWHERE, 0) == 4 * parts * (d + 1)
    assert ledger.written[ELSEWHERE] == 4 * parts * (d + 1) + heads * d * e + 4 * heads


def test_splits_fill_the_chip_and_no_more() -> None:
    assert decode.splits_for(heads=1, steps=1, slots=132) == 1
    assert decode.splits_for(heads=132, steps=1000, slots=132) == 1
    assert decode.splits_for(heads=8, steps=1024, slots=132) == 16  # 8 · 16 of 132 programs
    assert decode.splits_for(heads=1, steps=10_000, slots=132) == 127  # 79 steps; 128 parts are no shorter
    assert decode.splits_for(heads=100, steps=1024, slots=132) == 13  # 1300 programs, ten full waves
    for heads in (1, 3, 8, 33, 128, 200):
        for steps in (0, 1, 7, 64, 1000):
            assert 1 <= decode.splits_for(heads, steps, 132) <= max(1, min(steps, 128))


FITTING: dict[str, Any] = {
    "q": torch.zeros(2, 4, 1, 16),
    "k_pages": torch.zeros(3, 8, 2, 16),
    "v_pages": torch.zeros(3, 8, 2, 16),
    "block_table": torch.zeros(2, 1, dtype=torch.int32),
    "lengths": torch.ones(2, dtype=torch.int32),
}


@pytest.mark.parametrize(
    ("name", "other", "complaint"),
    [
        ("k_pages", torch.zeros(3, 8, 16), r"k_pages is \(3, 8, 16\) of torch.float32; it must be \(pages,"),
        ("v_pages", torch.zeros(3, 8, 1, 16), r"v_pages is \(3, 8, 1, 16\)"),
        ("q", torch.zeros(2, 4, 1, 32), r"k_pages is \(3, 8, 2, 16\) .* 32\) of"),
        ("q", torch.zeros(2, 4, 1, 16).half(), "of torch.float16, and"),
        ("q", torch.zeros(2, 3, 1, 16), "k_pages has 2 heads, which does not divide the 3 of q"),
        ("block_table", torch.zeros(2, dtype=torch.int32), r"block_table is \(2,\) .* \(2, width\)"),
        ("block_table", torch.zeros(2, 1), "block_table is .* of torch.int32"),
        ("lengths", torch.ones(3, dtype=torch.int32), r"lengths is \(3,\) .* \(2\) of"),
    ],
)
def test_pages_that_do_not_fit_are_named(name: str, other: Any, complaint: str) -> None:
    decode.paged(**FITTING, causal=False, scale=1.0)
    with pytest.raises(ValueError, match=complaint):
        decode.paged(**FITTING | {name: other}, causal=False, scale=1.0)


def test_keys_need_a_part() -> None:
    x = torch.zeros(1, 1, 1, 16)
    with pytest.raises(ValueError, match="splits is -1"):
        decode.forward(x, x, x, causal=False, scale=1.0, splits=-1)
