"""Count the bytes that Triton kernels ask memory for, exactly, in the interpreter.

    with counting(Q=q, K=k, V=v, O=o) as count:
        flash.launch(...)
    count.ledger.read["K"]          # bytes

Every load and store of an interpreted kernel, through plain pointers or descriptors, ends in one of four
methods with an array of addresses and a mask. They are watched while the block runs. A lane that its mask
switches off does not count.

This is what the programs *request*: the traffic between the processors and the cache. What reaches DRAM is
less wherever a cache holds what is asked for again, and depends on the chip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from itertools import pairwise
from typing import Any

import numpy as np
from torch import Tensor

from kernels import interpreter
from kernels.measure.ledger import Ledger

ELSEWHERE = "elsewhere"
"""The name that bytes outside the named tensors go by."""


class Count:
    """A count in progress; `ledger` is what has been counted so far."""

    def __init__(self, tensors: Mapping[str, Tensor]) -> None:
        if not tensors:
            raise ValueError("no tensor is named; there is nothing to count under")
        ranges = sorted((*_extent(name, tensor), name) for name, tensor in tensors.items())
        for (_, end, name), (begin, _, other) in pairwise(ranges):
            if begin < end:
                raise ValueError(f"{name} and {other} share memory; give each its own")
        self._names = [name for _, _, name in ranges]
        self._begins = np.array([begin for begin, _, _ in ranges], dtype=np.uint64)
        self._ends = np.array([end for _, end, _ in ranges], dtype=np.uint64)
        self._read: Counter[str] = Counter()
        self._written: Counter[str] = Counter()

    @property
    def ledger(self) -> Ledger:
        return Ledger(dict(self._read), dict(self._written))

    def add(self, addresses: np.ndarray, itemsize: int, *, reads: bool, writes: bool) -> None:
        """Book one access: the address of each lane that takes part, `itemsize` bytes a lane."""
        owner = np.searchsorted(self._begins, addresses, side="right") - 1
        inside = (owner >= 0) & (addresses < self._ends[owner])
        lanes = np.bincount(owner[inside], minlength=len(self._names))
        named = zip(self._names, lanes.tolist(), strict=True)
        for name, n in (*named, (ELSEWHERE, addresses.size - int(lanes.sum()))):
            self._read[name] += n * itemsize * reads
            self._written[name] += n * itemsize * writes


@contextmanager
def counting(**tensors: Tensor) -> Iterator[Count]:
    """Count what kernels launched inside the block ask for, under the names given to their tensors.

    Tensors are on the CPU and do not overlap (ValueError). A kernel that is given a copy is booked under
    `ELSEWHERE`. Raises RuntimeError where kernels are compiled instead of interpreted.
    """
    count = Count(tensors)
    with watching(count.add):
        yield count


@contextmanager
def watching(access: Callable[..., None]) -> Iterator[None]:
    """Call `access(addresses, itemsize, reads=…, writes=…)` for every access of the kernels launched inside.

    addresses: those of the lanes that take part. Raises RuntimeError where kernels are compiled.
    """
    if not interpreter.enabled():
        raise RuntimeError(
            "bytes are counted in Triton's interpreter; call kernels.interpreter.enable() first"
        )
    from triton.runtime.interpreter import InterpreterBuilder

    # name: where its pointers and its mask stand among the arguments, whether it reads, whether it writes
    accesses = {
        "create_masked_load": (0, 1, True, False),
        "create_masked_store": (0, 2, False, True),
        "create_atomic_rmw": (1, 3, True, True),
        "create_atomic_cas": (0, None, True, True),
    }
    with ExitStack() as restore:
        for name, (pointers, mask, reads, writes) in accesses.items():
            original = getattr(InterpreterBuilder, name)
            watched = _watched(original, access, pointers, mask, reads=reads, writes=writes)
            setattr(InterpreterBuilder, name, watched)
            restore.callback(setattr, InterpreterBuilder, name, original)
        yield


def _watched(
    original: Any,
    access: Callable[..., None],
    pointers: int,
    mask: int | None,
    *,
    reads: bool,
    writes: bool,
) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        handle = args[pointers]
        addresses = np.asarray(handle.data)
        if mask is not None:
            # Descriptors pass a bare array of booleans, everything else a handle that holds one.
            lanes = args[mask] if isinstance(args[mask], np.ndarray) else args[mask].data
            addresses = addresses[np.broadcast_to(lanes, addresses.shape)]
        itemsize = max(1, handle.get_element_ty().primitive_bitwidth // 8)
        access(addresses.ravel(), itemsize, reads=reads, writes=writes)
        return original(self, *args, **kwargs)

    return method


def _extent(name: str, tensor: Tensor) -> tuple[int, int]:
    """The addresses from a tensor's first byte to behind its last, whatever its strides."""
    if tensor.device.type != "cpu":
        raise ValueError(f"{name} is on {tensor.device}; bytes are counted in tensors on the CPU")
    if tensor.numel() == 0:
        return tensor.data_ptr(), tensor.data_ptr()
    last = sum((n - 1) * stride for n, stride in zip(tensor.shape, tensor.stride(), strict=True))
    return tensor.data_ptr(), tensor.data_ptr() + (last + 1) * tensor.element_size()
