"""What an implementation costs: counted, not estimated."""
