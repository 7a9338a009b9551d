"""Addresses of an access, lane by lane (docs/schemes/larf.md, sections 4 and 7)."""

from __future__ import annotations

import struct
from typing import Final

from warpfile.golden.arbiter import lowest
from warpfile.spec.schemes.shared import ADDRESS_BITS, BASE_BITS, MOST_STRIDE, WORD

LOW: Final = (1 << BASE_BITS) - 1
ADDRESS: Final = (1 << ADDRESS_BITS) - 1


class Vector:
    """What an access asks of memory. ``lanes``: those that are built, of its mask; ``first`` and ``last`` of them.

    ``address``: of the first lane. ``regular``: the others follow, a ``stride`` apart.
    """

    __slots__ = ("address", "first", "lanes", "last", "regular", "stride")

    def __init__(self, regular: bool, lanes: int, first: int, last: int, stride: int, address: int) -> None:
        self.regular, self.lanes, self.first, self.last = regular, lanes, first, last
        self.stride, self.address = stride, address

    @property
    def upper(self) -> int:
        """What is above the bits that an entry keeps."""
        return self.address >> BASE_BITS

    @property
    def base(self) -> int:
        """The bits that an entry keeps."""
        return self.address & LOW


def lane_values(count: int, operands: list[int], lanes: int) -> list[int]:
    """What the first ``count`` operands add to the address in every built lane: none, one, or a pair."""
    if not count:
        return [0] * lanes
    low = _words(operands[0], lanes)
    if count != 2:
        return low
    high = _words(operands[1], lanes)
    return [(high[lane] << 32 | low[lane]) & ADDRESS for lane in range(lanes)]


def _words(operand: int, lanes: int) -> list[int]:
    """What every built lane has of an operand, lane 0 lowest."""
    return list(struct.unpack(f"<{lanes}I", (operand & (1 << 32 * lanes) - 1).to_bytes(4 * lanes, "little")))


def vector(values: list[int], offset: int, lanes: int) -> Vector:
    """Of an access in these built lanes."""
    if not lanes:
        return Vector(False, 0, 0, 0, 0, 0)
    first, last = lowest(lanes), lanes.bit_length() - 1
    stride = values[first + 1] - values[first] & LOW if first < last else 0
    address = values[first] + offset & ADDRESS
    return Vector(_is_regular(values, lanes, stride), lanes, first, last, stride, address)


def _is_regular(values: list[int], lanes: int, stride: int) -> bool:
    first = lowest(lanes)
    if lanes >> first & (lanes >> first) + 1 or stride > MOST_STRIDE:
        return False
    before, upper = values[first], values[first] >> BASE_BITS
    for lane in range(first + 1, lanes.bit_length()):
        value = values[lane]
        if value - before & LOW != stride or value >> BASE_BITS != upper:
            return False
        before = value
    return True


def crosses(asked: Vector, lanes: int) -> bool:
    """Whether a whole vector that begins there goes beyond what an entry can say."""
    return asked.base + (lanes - 1) * asked.stride + WORD - 1 > LOW


def fits(asked: Vector, powers: bool) -> bool:
    """Whether an entry can hold the stride and the alignment of a load; ``powers``: strides of powers of two only."""
    if asked.stride % WORD or asked.address % WORD:
        return False
    return not powers or asked.stride & asked.stride - 1 == 0
