"""The outcome that ends a command with status 1."""


class Difference(Exception):
    """The work was done and its outcome is not what it should be; the message says it in one line."""
