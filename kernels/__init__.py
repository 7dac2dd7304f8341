"""Attention, several ways to see it. Start with `online_softmax.py`, then read `flash.py`.

`from kernels.attention import attention` computes it; `python -m kernels list` names the demonstrations.
Nothing here imports torch or triton before it is needed.
"""
