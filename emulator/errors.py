"""Errors of a launch or of its execution, one line each."""

from __future__ import annotations


class LaunchError(ValueError):
    """A kernel directory that cannot be launched; names the file, what is wrong and what would be right."""


class ExecutionError(ValueError):
    """A kernel that went wrong while it ran; names kernel, instruction offset and cause."""


class MemoryFault(Exception):
    """An access outside of its memory or not aligned. ``position`` counts the accessing lanes of the instruction."""

    def __init__(self, address: int, position: int, reason: str) -> None:
        super().__init__(reason)
        self.address = address
        self.position = position
        self.reason = reason
