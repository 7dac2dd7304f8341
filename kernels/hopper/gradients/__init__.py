"""The backward pass for Hopper, in Gluon: `flash_backward.py` once more, with the chip's own engines.

That file holds the derivation, and why there are two ways to walk. Here `one_walk.py` goes the one way, with
five products and sums of dQ in memory, and `keys_walk.py` with `queries_walk.py` the other, with seven and no
number that two programs share. What a walk meets on its way is in `steps.py`; `statistics.py` is what comes
before and after; `launch.py` chooses.
"""
