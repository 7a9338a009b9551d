"""Choosing one bit of a mask (docs/machine.md, sections 4 to 6)."""

from __future__ import annotations


def lowest(mask: int) -> int:
    """Index of the lowest set bit of a mask that is not zero."""
    return (mask & -mask).bit_length() - 1


def first_from(mask: int, start: int) -> int:
    """Index of the first set bit at or after ``start``, cyclically; the mask is not zero."""
    high = mask >> start
    return start + lowest(high) if high else lowest(mask)


def first_of(mask: int, order: list[int]) -> int:
    """The first number of ``order`` whose bit is set, -1 if none."""
    for number in order:
        if mask >> number & 1:
            return number
    return -1


def ones(mask: int) -> int:
    """How many bits are set, of a mask with few: compiled, this costs less than the call of ``bit_count``."""
    count = 0
    while mask:
        mask &= mask - 1
        count += 1
    return count


def indices(mask: int) -> list[int]:
    """Set bits of a mask, ascending. A list: compiled, a generator costs several times as much."""
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return found
