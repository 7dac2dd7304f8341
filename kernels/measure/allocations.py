"""Count the memory that PyTorch operations allocate, on any device, without regard to when it is freed.

    with counting() as count:
        standard.attention(...)
    count.bytes

On a GPU `measure.memory.peak` says more: what was in use at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves


class Count(TorchDispatchMode):
    """A count in progress: the sizes of all storages that operations returned and were not given."""

    def __init__(self) -> None:
        super().__init__()
        self.bytes = 0

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Sequence[type],
        args: Sequence[Any] = (),
        kwargs: Mapping[str, Any] | None = None,
    ) -> Any:
        given = _storages((args, kwargs or {}))
        result = func(*args, **(kwargs or {}))
        self.bytes += sum(size for place, size in _storages(result).items() if place not in given)
        return result


@contextmanager
def counting() -> Iterator[Count]:
    """Count what the operations inside the block allocate. What a kernel's own code allocates is not seen."""
    with Count() as count:
        yield count


def _storages(values: Any) -> dict[int, int]:
    """Size by address of the storages of all tensors in a tree of values."""
    storages = [leaf.untyped_storage() for leaf in tree_leaves(values) if isinstance(leaf, Tensor)]
    return {storage.data_ptr(): storage.nbytes() for storage in storages}
