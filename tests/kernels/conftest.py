"""Where Triton is installed, this process interprets kernels; that is settled before it is imported."""

from __future__ import annotations

import importlib.util
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from kernels import interpreter

if TYPE_CHECKING:
    from torch import Tensor

if importlib.util.find_spec("triton") is not None:
    interpreter.enable()


@dataclass(frozen=True)
class Shape:
    """A problem for attention, and random inputs for it."""

    queries: int
    keys: int
    head_dim: int = 32
    batch: int = 1
    heads: int = 1
    kv_heads: int = 1
    causal: bool = False

    def __str__(self) -> str:
        heads = f"{self.batch}x{self.heads}/{self.kv_heads}"
        return f"{self.queries}x{self.keys}-d{self.head_dim}-{heads}{'-causal' * self.causal}"

    def inputs(self, dtype: str = "float32", seed: int = 0) -> tuple[Tensor, Tensor, Tensor]:
        """q, k, v of normal numbers."""
        import torch

        generator = torch.Generator().manual_seed(seed)
        q, k, v = (
            torch.randn(self.batch, heads, n, self.head_dim, generator=generator).to(getattr(torch, dtype))
            for heads, n in ((self.heads, self.queries), *[(self.kv_heads, self.keys)] * 2)
        )
        return q, k, v


@pytest.fixture(scope="session")
def shape() -> type[Shape]:
    return Shape


@pytest.fixture(autouse=True)
def interpret_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Choosing a GPU takes TRITON_INTERPRET out of the environment for good; the next test wants it back."""
    if "TRITON_INTERPRET" in os.environ:
        monkeypatch.setenv("TRITON_INTERPRET", os.environ["TRITON_INTERPRET"])
