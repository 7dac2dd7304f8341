"""How much memory a call takes at its peak, beyond what was there before."""

from __future__ import annotations

from collections.abc import Callable


def peak(call: Callable[[], object], device: str = "cuda") -> int | None:
    """Bytes that PyTorch allocated at most during the call, without its inputs, with its output.

    None for the CPU: not measured, since nothing keeps count there. What a kernel takes past PyTorch's
    allocator is not seen.
    """
    import torch

    if torch.device(device).type != "cuda":
        return None
    torch.cuda.synchronize(device)
    before = torch.cuda.memory_allocated(device)
    torch.cuda.reset_peak_memory_stats(device)
    output = call()
    torch.cuda.synchronize(device)
    highest = torch.cuda.max_memory_allocated(device)
    del output  # kept until here: what a call returns is part of what it takes
    return highest - before
