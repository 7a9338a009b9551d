"""Sets of registers, a bit per register name, and tables with a row for each."""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value

from warpfile.hdl.arbiter import decode, lowest_one
from warpfile.hdl.naming import named

GROUP = 16  #: registers among which the lowest is found at once


def set_of(m: Module, name: str, number: Value, there: Value) -> Signal:
    """Set of the register with this number; empty unless it is there. The lower half of the number first."""
    half = len(number) // 2
    low = named(m, f"{name}_low", decode(number[:half], 1 << half))
    high = named(m, f"{name}_high", decode(number[half:], 1 << len(number) - half))
    return named(m, name, Cat(low & (bit & there).replicate(len(low)) for bit in high))


def lowest_register(m: Module, name: str, registers: Value) -> Signal:
    """One-hot of the lowest register of a set; zero if it is empty. First in every group, and which group is first."""
    groups = [registers[first : first + GROUP] for first in range(0, len(registers), GROUP)]
    inside = named(m, f"{name}_in_group", Cat(lowest_one(group) for group in groups))
    there = named(m, f"{name}_groups", Cat(group.any() for group in groups))
    first = named(m, f"{name}_group", lowest_one(there))
    return named(m, name, inside & Cat(bit.replicate(GROUP) for bit in first)[: len(registers)])


def number_of(one_hot: Value, width: int, count: int | None = None) -> Value:
    """Number, modulo ``count`` if there is one, of the register of a one-hot set; zero if it is empty."""
    numbers = [name % (count or len(one_hot)) for name in range(len(one_hot))]
    return Cat(
        Cat(bit for name, bit in zip(numbers, one_hot, strict=True) if name >> place & 1).any()
        for place in range(width)
    )


def row_of(columns: Sequence[Value], one_hot: Value) -> Value:
    """A row of a table that is there by columns; zero for none."""
    return Cat((column & one_hot).any() for column in columns)
