"""fatutor: interview prep in the terminal, with kernels that confirm the answers."""

__version__ = "0.1.0"
