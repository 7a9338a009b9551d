"""Errors of the compiler that a user of a listing can act on."""

from __future__ import annotations


class ListingError(ValueError):
    """A listing that cannot be used; the message names the listing, the line and what would be right."""

    def __init__(self, name: str, line: int, problem: str) -> None:
        super().__init__(f"{name}, line {line}: {problem}")
        self.name = name
        self.line = line
        self.problem = problem


class UnknownOpcodeError(ListingError):
    """An opcode whose operands cannot be divided into definitions and uses."""
