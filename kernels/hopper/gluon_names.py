"""Gluon's names, the same for every release of Triton that this package takes (3.6 to 3.9).

Gluon is marked experimental, and two of the names used here have moved. All other modules import them from
this one. Importing it raises ImportError or AttributeError where Gluon is missing or has moved on.
"""

from __future__ import annotations

from typing import Any

import triton.language.core as _core
from triton.experimental import gluon as _gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia import hopper as _hopper
from triton.experimental.gluon.nvidia.hopper import TensorDescriptor

# Typed loosely: what their own annotations say does not hold inside a kernel.
gluon: Any = _gluon
static_range: Any = gl.static_range
mbarrier: Any = _hopper.mbarrier
wgmma: Any = _hopper.warpgroup_mma
wgmma_wait: Any = _hopper.warpgroup_mma_wait
fence_async_shared: Any = _hopper.fence_async_shared

# Up to 3.7: async_copy_global_to_shared and async_copy_shared_to_global.
_tma: Any = _hopper.tma
tma_load: Any = getattr(_tma, "async_load", None) or _tma.async_copy_global_to_shared
tma_store: Any = getattr(_tma, "async_store", None) or _tma.async_copy_shared_to_global
tma_store_wait: Any = _tma.store_wait

# Up to 3.8: _aggregate, which is not exported.
aggregate: Any = getattr(gluon, "aggregate", None) or _core._aggregate  # pyright: ignore

__all__ = [
    "TensorDescriptor",
    "aggregate",
    "fence_async_shared",
    "gl",
    "gluon",
    "mbarrier",
    "static_range",
    "tma_load",
    "tma_store",
    "tma_store_wait",
    "wgmma",
    "wgmma_wait",
]
