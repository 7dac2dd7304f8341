"""FlashAttention for Hopper (H100, H200), in Gluon: `flash.py` once more, with the chip's own engines.

Read `consumer.py` first: it holds the loop that `flash.py` taught. What is new is who does what. One warp
only loads (`producer.py`), two to four warpgroups only compute, and they meet at barriers in shared memory
(`rings.py`). One program a multiprocessor works through many tiles (`tiles.py`). `launch.py` puts it all
together. The folder `gradients` has the gradients.

After FlashAttention-3 (Shah et al. 2024, arXiv 2407.08608). Nothing here imports torch or triton before it is
needed.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

HEAD_DIMS = (64, 128, 256)
# A tile's place is one number of 64 bits, and a negative one means that there is none: 15 bits and 16.
LARGEST_BATCH = 2**15
LARGEST_HEADS = 2**16 - 1
LONGEST = 2**30
FEWEST_QUERIES = 64  # for gradients


def supported(q: Tensor, k: Tensor, v: Tensor) -> str | None:
    """Why `forward` cannot take these tensors, as half a sentence; None if it can.

    q: (batch, heads, N_q, d); k, v: (batch, kv_heads, N_k, d), kv_heads dividing heads. float16 or bfloat16,
    d of 64, 128 or 256, on a GPU of compute capability 9.0. The last stride is 1, the others are positive
    multiples of 8, and the first element lies at a multiple of 16 bytes, in which the copy engine counts:
    (batch, N, heads, d) and packed projections are taken as they lie.
    """
    import torch

    if not q.is_cuda or torch.cuda.get_device_capability(q.device) != (9, 0):
        return f"q is on {q.device}, which is no Hopper GPU"
    if q.dtype not in (torch.float16, torch.bfloat16):
        return f"q is {q.dtype}; the Hopper kernel takes float16 or bfloat16"
    if q.shape[3] not in HEAD_DIMS:
        return f"q has head dimension {q.shape[3]}; the Hopper kernel takes {', '.join(map(str, HEAD_DIMS))}"
    if q.shape[0] > LARGEST_BATCH or q.shape[1] > LARGEST_HEADS or max(q.shape[2], k.shape[2]) >= LONGEST:
        return "the Hopper kernel takes up to 2¹⁵ batch entries, and fewer than 2¹⁶ heads and 2³⁰ rows"
    for name, x in (("q", q), ("k", k), ("v", v)):
        if x.numel() == 0:
            return f"{name} has no elements"
        if not readable(x):
            return (
                f"{name} has strides {tuple(x.stride())} and begins {x.data_ptr() % 16} bytes behind a "
                "multiple of 16; the copy engine takes positive multiples of 8, a last 1, and 0 bytes"
            )
    return gluon_obstacle()


def readable(x: Tensor) -> bool:
    """Whether the copy engine can read x (batch, heads, N, d) as it lies."""
    spacing = [stride for stride, size in zip(x.stride()[:3], x.shape, strict=False) if size > 1]
    return x.stride(3) == 1 and x.data_ptr() % 16 == 0 and all(step and step % 8 == 0 for step in spacing)


def gradients_supported(q: Tensor, k: Tensor, v: Tensor) -> str | None:
    """Why `backward` cannot take these tensors, as half a sentence; None if it can.

    Takes what `supported` accepts, from 64 queries on: a step works on as many, and fewer would be padding.
    """
    if q.shape[2] < FEWEST_QUERIES:
        return f"q has {q.shape[2]} queries; for gradients the Hopper kernel takes {FEWEST_QUERIES} or more"
    if q.shape[0] * q.shape[1] * (q.shape[2] + 128) >= LONGEST:
        return "the Hopper kernel takes fewer than 2³⁰ queries of all heads together for their gradients"
    return supported(q, k, v)


def deterministic(head_dim: int) -> bool:
    """Whether `backward` gives the same bits every time. Else the last bits of dq can differ."""
    return head_dim == 256


@functools.cache
def gluon_obstacle() -> str | None:
    """What is wrong with the Gluon that is installed; None if nothing."""
    try:
        from kernels.hopper import launch  # noqa: F401 - whether they import is the question
        from kernels.hopper.gradients import launch as gradients_launch  # noqa: F401
    except (ImportError, AttributeError, TypeError) as error:
        return f"this release of Triton has another Gluon ({error})"
    return None


def forward(q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float) -> tuple[Tensor, Tensor]:
    """softmax(scale · q kᵀ) v, and each query's logsumexp of scaled scores, (batch, heads, N_q) in float32.

    Takes what `supported` accepts, and any finite scale. causal: query i sees the keys up to i + N_k - N_q.
    A query that sees no key gets 0 and -inf. Same inputs give the same bits. Safe on several streams at once
    and in CUDA graphs. No gradient is recorded.
    """
    from kernels.hopper import launch

    return launch.forward(q, k, v, causal=causal, scale=scale)


def backward(
    do: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    lse: Tensor,
    *,
    causal: bool,
    scale: float,
    dlse: Tensor | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """The gradients dq, dk and dv, contiguous, each in its input's type.

    Takes what `gradients_supported` accepts. do, o: of q's shape, any strides; lse (batch, heads, N_q): what
    the forward pass returned for the same arguments; dlse: the gradient of the logsumexp, if it was used. A
    query that sees no key gets and gives no gradient. Safe on several streams at once and in CUDA graphs. At
    d = 64 and 128 dq is summed in memory, in 4 · d bytes a query and in no fixed order; see `deterministic`.
    """
    from kernels.hopper.gradients import launch

    return launch.backward(do, q, k, v, o, lse, causal=causal, scale=scale, dlse=dlse)
