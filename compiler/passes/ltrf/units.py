"""Units of code for which registers are fetched at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from warpfile.compiler.passes.ltrf.code import Code

NONE = -1


@dataclass(frozen=True)
class Units:
    """Parts of code with one way in each, its ``head``.

    ``of``: by instruction, the number of its unit, or NONE where control never comes. ``heads`` and ``sets``: by unit,
    its first instruction and the set of its registers. ``repeats``: a branch inside that goes back to the head begins
    the unit anew. ``silent`` units fetch nothing: calls that name no register.
    """

    of: tuple[int, ...]
    heads: tuple[int, ...]
    sets: tuple[int, ...]
    repeats: bool
    silent: frozenset[int]

    def begins(self, source: int, index: int) -> bool:
        """Whether control that comes from one instruction (START: from nowhere) to another enters a unit."""
        unit = self.of[index]
        at_head = unit != NONE and self.heads[unit] == index
        return at_head and (source < 0 or self.repeats or self.of[source] != unit)


def units_of(code: Code, ends: Mapping[int, int], head_of: Mapping[int, int], *, repeats: bool = False) -> Units:
    """Units from the blocks, by first instruction: where each ends, and at which instruction its unit begins."""
    heads = sorted(set(head_of.values()))
    number = {head: unit for unit, head in enumerate(heads)}
    of, sets = [NONE] * len(code.registers), [0] * len(heads)
    for start, head in head_of.items():
        for index in range(start, ends[start]):
            of[index] = number[head]
            sets[number[head]] |= code.registers[index]
    silent = frozenset(number[call] for call in code.calls if call in number and not sets[number[call]])
    return Units(tuple(of), tuple(heads), tuple(sets), repeats, silent)
