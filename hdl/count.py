"""How many bits are set, in logarithmic depth."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Value

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.naming import named


def count_ones(bits: Sequence[Value]) -> Value:
    """Sum of single bits, as a balanced tree of adders; zero for none."""
    if len(bits) < 2:
        return bits[0] if bits else Const(0, 1)
    half = len(bits) // 2
    return count_ones(bits[:half]) + count_ones(bits[half:])


def unary_count(m: Module, name: str, bits: Sequence[Value]) -> Value:
    """The same, one-hot: bit k is set iff exactly k bits are. No carries, so it is ready sooner, but larger."""
    if len(bits) < 2:
        return Cat(~bits[0], bits[0]) if bits else Const(1, 1)
    half = 1 << (len(bits) - 1).bit_length() - 1
    low, high = unary_count(m, f"{name}_low", bits[:half]), unary_count(m, f"{name}_high", bits[half:])
    sums = [
        any_of(low[part] & high[total - part] for part in range(len(low)) if 0 <= total - part < len(high))
        for total in range(len(bits) + 1)
    ]
    return named(m, name, Cat(sums))
