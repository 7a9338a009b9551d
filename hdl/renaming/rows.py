"""One row of very many."""

from amaranth import Cat, Module, Value

from warpfile.hdl.arbiter import decode
from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits


def decode_row(m: Module, row: Value, count: int) -> Value:
    """One-hot of the number of a row, in two halves: most of the gates are then one per row."""
    bits = index_bits(count)
    half = (bits + 1) // 2
    low, high = (
        named(m, name, decode(part, 1 << len(part))) for name, part in (("low", row[:half]), ("high", row[half:bits]))
    )
    if not len(high):
        return low[:count]
    return named(m, "row", Cat(low & bit.replicate(len(low)) for bit in high)[:count])
