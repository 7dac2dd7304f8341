"""The one kind of error that reaches a person."""


class FatutorError(Exception):
    """Something went wrong that the reader can act on.

    `what` is one sentence without a trailing stop; `way_out` says what to do about it.
    Every verb prints `what` and `way_out` on one line and exits 1, or 2 for a usage error.
    """

    def __init__(self, what: str, way_out: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.way_out = way_out

    def __str__(self) -> str:
        return f"{self.what}; {self.way_out}" if self.way_out else self.what
