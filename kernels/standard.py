"""Attention as it is written on the board: four operations, two of them on an N × N matrix.

This is what every other implementation is compared with. Called with float64 tensors it is the truth; called
with half precision it stores the scores S and the weights P in half precision, as the obvious program does.
Memory and traffic grow with N²; `four_kernels.py` counts them.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor


def attention(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float, window: int | None = None
) -> tuple[Tensor, Tensor]:
    """Output and logsumexp in plain torch, on any device, differentiable.

    q: (batch, heads, N_q, d). k, v: (batch, kv_heads, N_k, d), kv_heads dividing heads.
    Returns o of q's shape and dtype, and L (batch, heads, N_q) in float32, or float64 for float64 inputs.
    A query that may see no key gets o = 0 and L = -inf, and gives no gradient.
    """
    s, o = _operations(q, k, v, causal, scale, window)
    precise = s if s.dtype == torch.float64 else s.float()
    return o, precise.logsumexp(-1)


def output(
    q: Tensor, k: Tensor, v: Tensor, *, causal: bool, scale: float, window: int | None = None
) -> Tensor:
    """The output alone: the four operations and nothing besides, as it is timed."""
    return _operations(q, k, v, causal, scale, window)[1]


def _operations(
    q: Tensor, k: Tensor, v: Tensor, causal: bool, scale: float, window: int | None
) -> tuple[Tensor, Tensor]:
    """Scores, scaled and masked, and the output."""
    group = q.shape[1] // k.shape[1]
    k, v = k.repeat_interleave(group, dim=1), v.repeat_interleave(group, dim=1)

    s = q @ k.transpose(-1, -2) * scale
    if causal or window is not None:
        hidden = ~visible(q.shape[2], k.shape[2], causal=causal, window=window, device=q.device)
        s = s.masked_fill(hidden, -math.inf)
        p = torch.softmax(s, dim=-1).masked_fill(hidden, 0)  # where all is hidden, softmax gives NaN
    else:
        p = torch.softmax(s, dim=-1)
    o = p @ v
    blind = q.shape[2] - k.shape[2] if causal else 0
    if blind > 0:  # o is 0 there, but 0 times a gradient that is not a number would be none either
        o = torch.cat((torch.zeros_like(o[:, :, :blind]), o[:, :, blind:]), dim=2)
    return s, o


def visible(
    queries: int, keys: int, *, causal: bool, window: int | None = None, device: torch.device | str = "cpu"
) -> Tensor:
    """(queries, keys) booleans: which key each query may see.

    Causal is aligned at the bottom right: the last query sees every key, as when the queries are the last
    positions of a longer sequence. With more queries than keys the first ones see nothing. A window leaves of
    these the key a query stands on, `window` keys before it and, unless causal, as many behind it.
    """
    shift = keys - queries
    seen = torch.ones(queries, keys, dtype=torch.bool, device=device)
    if causal:
        seen = seen.tril(shift)
    if window is not None:
        window = min(window, queries + keys)  # wider sees no more, and PyTorch takes 64 bits
        seen = seen.tril(shift + window).triu(shift - window)
    return seen
