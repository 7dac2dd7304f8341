"""One verb a file; `__main__` imports only the one that was asked for."""
