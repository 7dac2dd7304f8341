"""What one call of each kernel asks memory for and computes, counted in the interpreter.

One head, or for decoding a few, of zeros: values do not matter to a count. The formulas are in
`measure.traffic`, and the two agree exactly.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kernels.measure import traffic
from kernels.measure.operations import Operations

if TYPE_CHECKING:
    from torch import Tensor

    from kernels.measure.ledger import Ledger
    from kernels.tiles import Tile


@dataclass(frozen=True, slots=True)
class Counted:
    """What an interpreted call asked memory for, and what it computed."""

    bytes: Ledger
    operations: Operations

    @property
    def intensity(self) -> float:
        """FLOP/B."""
        return self.operations.flops / self.bytes.total


def call(run: Callable[[], object], **tensors: Tensor) -> Counted:
    """Run `run` in the interpreter and count it; `tensors` are what it reads and writes, by name."""
    from kernels.measure import operations
    from kernels.measure.bytes import counting

    with counting(**tensors) as asked, operations.counting() as done:
        run()
    return Counted(asked.ledger, done.total)


def standard(problem: traffic.Problem, tile: Tile) -> Counted:
    """The four kernels on one head, whose values do not matter to a count."""
    import torch

    from kernels import four_kernels

    q, k, v, o = _heads(problem)
    s, p = torch.zeros(2, 1, 1, problem.queries, problem.keys, dtype=q.dtype)
    return call(
        lambda: four_kernels.launch(q, k, v, s, p, o, causal=problem.causal, scale=1.0, tile=tile),
        Q=q, K=k, V=v, S=s, P=p, O=o,
    )  # fmt: skip


def tiled(problem: traffic.Problem, tile: Tile, window: int | None = None) -> Counted:
    """The tiled kernel on one head."""
    import torch

    from kernels import flash

    q, k, v, o = _heads(problem)
    L = torch.zeros(1, 1, problem.queries)
    return call(
        lambda: flash.launch(
            q, k, v, o, L, causal=problem.causal, scale=1.0, window=window, tile=tile
        ),
        Q=q, K=k, V=v, O=o, L=L,
    )  # fmt: skip


def decoding(problem: traffic.Problem, *, kv_heads: int, splits: int) -> Counted:
    """A step of decoding, in fp16; its FLOPs are those of the padded tile, see `decoding_flops`."""
    import torch

    from kernels import decode

    q = torch.zeros(problem.batch, problem.heads, problem.queries, problem.head_dim, dtype=torch.float16)
    k, v = torch.zeros(2, problem.batch, kv_heads, problem.keys, problem.head_dim, dtype=torch.float16)
    return call(lambda: decode.forward(q, k, v, causal=True, scale=1.0, splits=splits), Q=q, K=k, V=v)


def decoding_flops(problem: traffic.Problem) -> int:
    """What a step of decoding has to compute: two products of each query head with its keys."""
    return 4 * problem.batch * problem.heads * problem.queries * problem.keys * problem.head_dim


def backward(problem: traffic.Problem, keys_a_tile: int, queries_a_tile: int) -> Counted:
    """The backward kernels on one head, each walk over square tiles."""
    import torch

    from kernels import flash_backward
    from kernels.flash_backward import Tiles
    from kernels.tiles import Tile

    q, k, v, o = _heads(problem)
    do, dq, dk, dv = (torch.zeros_like(x) for x in (o, q, k, v))
    L, workspace = torch.zeros(1, 1, problem.queries), torch.zeros(2, 1, 1, problem.queries)
    cut = Tiles(
        of_keys=Tile(queries_a_tile, keys_a_tile),
        of_queries=Tile(queries_a_tile, keys_a_tile),
    )
    return call(
        lambda: flash_backward.launch(
            do, q, k, v, o, L, dq, dk, dv, causal=False, scale=1.0, cut=cut, workspace=workspace
        ),
        dO=do, Q=q, K=k, V=v, O=o, L=L, W=workspace, dQ=dq, dK=dk, dV=dv,
    )  # fmt: skip


def keys_outside(problem: traffic.Problem, tile: Tile) -> Counted:
    """FlashAttention-1's order of loops on one head."""
    import torch

    from kernels import flash_fa1

    q, k, v, o = _heads(problem)
    statistics = torch.zeros(2, 1, 1, problem.queries)
    m, l = statistics  # noqa: E741 - as the papers call it
    return call(
        lambda: flash_fa1.launch(q, k, v, o, m, l, causal=False, scale=1.0, tile=tile),
        Q=q, K=k, V=v, O=o, ML=statistics,
    )  # fmt: skip


def _heads(problem: traffic.Problem) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    import torch

    dtype = {2: torch.float16, 4: torch.float32}[problem.itemsize]
    rows = (problem.queries, problem.keys, problem.keys, problem.queries)
    q, k, v, o = (torch.zeros(1, 1, n, problem.head_dim, dtype=dtype) for n in rows)
    return q, k, v, o
