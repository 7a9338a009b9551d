"""The results of the last cycles, which overtake what the banks were read for (docs/schemes/modern.md, 7.1 and 7.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from warpfile.golden.copies import merged, row_of
from warpfile.spec.schemes.modern import ReadWindowConfig


class Forwarded(NamedTuple):
    """A result of fixed latency: it changes ``lanes`` of a register from value ``before`` to ``row``."""

    warp: int
    register: int
    lanes: int
    before: int
    row: int


class History:
    """``results`` of the last ``read_window`` cycles, that of the cycle before first; None where there was none."""

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self.results: list[Forwarded | None] = [None] * cfg.read_window
        self.incoming: Forwarded | None = None

    def ages(self, warp: int, register: int) -> int:
        """Results for a register, bit age - 1."""
        found = 0
        for number, result in enumerate(self.results):
            if result is not None and result.warp == warp and result.register == register:
                found |= 1 << number
        return found

    def forward(self, copy: int, warp: int, register: int) -> int:
        """Value of a register whose banks gave ``copy``: in every lane the youngest result, if there is one."""
        matching = [
            result
            for result in reversed(self.results)
            if result is not None and result.warp == warp and result.register == register
        ]
        return forwarded(copy, matching) if matching else copy

    def edge(self) -> None:
        """Every result is a cycle older."""
        self.results = [self.incoming, *self.results[:-1]]
        self.incoming = None


def forwarded(copy: int, results: Sequence[Forwarded]) -> int:
    """A copy over which results are laid, the oldest first. One that it has already changes nothing, nor do older ones:
    what they would undo, those in between do again."""
    start = 0
    for number, result in enumerate(results):
        if result.row == row_of(copy):
            copy, start = merged(copy, result.row, result.row, result.lanes), number + 1
    for result in results[start:]:
        copy = merged(copy, result.before, result.row, result.lanes)
    return copy
