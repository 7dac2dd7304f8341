"""Count the arithmetic of Triton kernels, exactly, in the interpreter.

    with counting() as count:
        flash.launch(...)
    count.total.flops

What is counted is what the kernel writes down, element by element: whole tiles, with the lanes that a mask
discards later. A compiler may turn a division into a reciprocal and a product; the count stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import Any

from kernels import interpreter


@dataclass(frozen=True, slots=True)
class Operations:
    """flops: of matrix products alone, 2 · rows · columns · inner each; the others by element."""

    flops: int = 0
    exponentials: int = 0
    divisions: int = 0

    def __add__(self, other: Operations) -> Operations:
        return Operations(
            self.flops + other.flops,
            self.exponentials + other.exponentials,
            self.divisions + other.divisions,
        )


class Count:
    """A count in progress."""

    def __init__(self) -> None:
        self.total = Operations()


@contextmanager
def counting() -> Iterator[Count]:
    """Count what kernels launched inside the block compute. RuntimeError where kernels are compiled."""
    if not interpreter.enabled():
        raise RuntimeError(
            "operations are counted in Triton's interpreter; call kernels.interpreter.enable() first"
        )
    from triton.runtime.interpreter import InterpreterBuilder

    count = Count()
    # What each of the builder's methods adds, told from its arguments and from its result.
    costs: dict[str, Callable[[tuple[Any, ...], int], Operations]] = {
        "create_dot": lambda args, size: Operations(flops=2 * args[0].data.shape[-1] * size),
        "create_exp": lambda _, size: Operations(exponentials=size),
        "create_exp2": lambda _, size: Operations(exponentials=size),
        "create_fdiv": lambda _, size: Operations(divisions=size),
    }
    with ExitStack() as restore:
        for name, cost in costs.items():
            original = getattr(InterpreterBuilder, name)
            setattr(InterpreterBuilder, name, _watched(original, count, cost))
            restore.callback(setattr, InterpreterBuilder, name, original)
        yield count


def _watched(original: Any, count: Count, cost: Callable[[tuple[Any, ...], int], Operations]) -> Any:
    def method(self: Any, *args: Any) -> Any:
        result = original(self, *args)
        count.total += cost(args, result.data.size)
        return result

    return method
