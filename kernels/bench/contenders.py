"""Who is timed: our implementations through the front door, and their peers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from kernels.bench.grid import PHASES, Phase

if TYPE_CHECKING:
    from torch import Tensor

Attend = Callable[[], "Tensor"]
Prepare = Callable[["Tensor", "Tensor", "Tensor", bool], Attend]
"""q, k, v and whether it is causal, to a call that computes O. Shapes as in `kernels.attention`."""


@dataclass(frozen=True, slots=True)
class Contender:
    """`needs`: a module without which it cannot take part, from the package of that name."""

    name: str
    prepare: Prepare
    ours: bool = False
    phases: Sequence[Phase] = PHASES
    needs: tuple[str, str] | None = None

    @property
    def obstacle(self) -> str:
        """Why it cannot take part at all; empty if it can."""
        if self.needs is None or find_spec(self.needs[0]) is not None:
            return ""
        return f"{self.needs[1]} is not installed"


def _ours(impl: str) -> Prepare:
    def prepare(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Attend:
        from kernels.attention import attention

        front_door: Any = attention  # which names it knows is for the front door to say
        return partial(front_door, q, k, v, causal=causal, impl=impl)

    return prepare


def _sdpa(backend: str) -> Prepare:
    def prepare(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Attend:
        from torch.nn.attention import SDPBackend, sdpa_kernel
        from torch.nn.functional import scaled_dot_product_attention

        grouped = q.shape[1] != k.shape[1]

        def attend() -> Tensor:
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=grouped)

        return attend

    return prepare


def _flex(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Attend:
    import torch
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    def visible(batch: Tensor, head: Tensor, i: Tensor, j: Tensor) -> Tensor:
        return i >= j

    mask = create_block_mask(visible, None, None, q.shape[2], k.shape[2], q.device) if causal else None
    torch.compiler.reset()  # after eight shapes of one function PyTorch stops compiling it, without a word
    compiled: Any = torch.compile(flex_attention, dynamic=False)
    return partial(compiled, q, k, v, block_mask=mask, enable_gqa=q.shape[1] != k.shape[1])


def _fa3(q: Tensor, k: Tensor, v: Tensor, causal: bool) -> Attend:
    """In its own layout, (batch, N, heads, d), so that it is not charged for copies."""
    from importlib import import_module

    forward = import_module("fa3_fwd_interface").flash_attn_func
    q, k, v = (x.transpose(1, 2).contiguous() for x in (q, k, v))
    splits = 0 if q.shape[1] == 1 else 1  # 0: it chooses into how many parts to cut the keys

    def attend() -> Tensor:
        return forward(q, k, v, causal=causal, num_splits=splits).transpose(1, 2)

    return attend


OURS = (
    Contender("hopper", _ours("hopper"), ours=True, phases=("forward", "backward")),
    Contender("flash", _ours("flash"), ours=True),
    Contender("decode", _ours("decode"), ours=True, phases=("decode",)),
)
STANDARD = Contender("standard", _ours("standard"), ours=True)
PEERS = (
    Contender("sdpa-flash", _sdpa("FLASH_ATTENTION")),
    Contender("sdpa-cudnn", _sdpa("CUDNN_ATTENTION")),
    Contender("fa3", _fa3, phases=("forward", "decode"), needs=("fa3_fwd_interface", "fa3-fwd")),
    Contender("flex", _flex),  # compiles for each shape, 10 to 30 s: only when asked for
)
USUAL_PEERS = ("sdpa-flash", "sdpa-cudnn", "fa3")


def field(names: Sequence[str]) -> list[Contender]:
    """Ours, the peers of these names, and the standard one last: its matrices may take all the memory."""
    return [*OURS, *peers(names), STANDARD]


def peers(names: Sequence[str]) -> list[Contender]:
    """By name, in the order of `PEERS`. ValueError names what is unknown and what there is."""
    known = {peer.name: peer for peer in PEERS}
    for name in names:
        if name not in known:
            raise ValueError(f"there is no peer called {name!r}; choose among {', '.join(known)}")
    return [peer for name, peer in known.items() if name in names]
