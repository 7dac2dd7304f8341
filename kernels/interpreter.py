"""Triton without a GPU: its interpreter runs the programs of a kernel's grid one by one, as NumPy code.

The interpreter computes the values that the kernel computes and touches the memory that the kernel
touches, so answers and bytes can be checked on any machine. It says nothing about time.

Four things to know, and what is done about each:

1. Triton decides between compiling and interpreting when it is imported, for the whole process. So
   `enable()` comes before the first `import triton`, and says so where it comes too late.
2. Triton 3.6 turns a one-element array into an int in a way that NumPy refuses since 2.4, and
   `range(0, N)` with an N known only at run time stops working. Mended here as Triton 3.7 does it.
3. Each call of `tl.max`, `tl.sum`, `tl.zeros` … patches the whole language again, which takes longer than
   the arithmetic. Nothing undoes that patch before the launch ends, so once for each launch is enough.
   A launch then takes half the time.
4. bfloat16 products come out wrong, silently. That cannot be mended from outside: whoever has bfloat16
   inputs converts them to float32 first, as `flash.forward` does.
"""

from __future__ import annotations

import os
import sys
from functools import cache
from typing import Any


def enable() -> None:
    """Make this process's Triton interpret kernels. Calling it again changes nothing.

    Raises RuntimeError if Triton was imported before and compiles, ImportError if it is not installed.
    """
    if "triton" in sys.modules and not enabled():
        raise RuntimeError(
            "triton was imported before its interpreter was asked for; "
            "call kernels.interpreter.enable() first, or set TRITON_INTERPRET=1"
        )
    os.environ["TRITON_INTERPRET"] = "1"
    _mend()


def enabled() -> bool:
    """Whether kernels are interpreted in this process. Imports nothing."""
    language = sys.modules.get("triton.language")
    # Triton's own library functions are made by the same decorator as ours, so they tell how it decided.
    return language is not None and type(language.max).__name__ == "InterpretedFunction"


@cache
def _mend() -> None:
    import triton
    from triton.runtime import interpreter

    if triton.__version__.startswith("3.6."):
        _read_scalars(interpreter)
    _patch_once_a_launch(interpreter)


def _read_scalars(interpreter: Any) -> None:
    """Let a one-element tensor serve as a bound of `range` under NumPy 2.4 and later."""
    patch_tensor = interpreter._patch_lang_tensor

    def patch(tensor: Any, scope: Any) -> None:
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", lambda self: int(self.handle.data.item()))

    interpreter._patch_lang_tensor = patch


def _patch_once_a_launch(interpreter: Any) -> None:
    """Remember which modules' view of the language has been patched since the launch began."""
    launch = interpreter.GridExecutor.__call__
    call = interpreter.InterpretedFunction.__call__
    patched: set[int] = set()

    def remembering_launch(self: Any, *args: Any, **kwargs: Any) -> None:
        patched.clear()
        launch(self, *args, **kwargs)

    def remembering_call(self: Any, *args: Any, **kwargs: Any) -> Any:
        module = id(self.fn.__globals__)
        if module in patched:
            return self.rewrite()(*args, **kwargs)
        patched.add(module)
        return call(self, *args, **kwargs)

    interpreter.GridExecutor.__call__ = remembering_launch
    interpreter.InterpretedFunction.__call__ = remembering_call
