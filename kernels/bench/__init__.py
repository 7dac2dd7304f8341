"""Our attention beside its peers, on the same inputs, in one run. `grid` says what is timed."""
