"""What is kept, and where. Only `database` and what imports it load SQLModel; reading facts does not."""

BUSY_SECONDS = 1.5  # how long to wait for another program's lock; the screen stands still meanwhile
