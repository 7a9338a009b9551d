"""How many bits are set, in logarithmic depth."""

from collections.abc import Sequence

from amaranth import Const, Value


def count_ones(bits: Sequence[Value]) -> Value:
    """Sum of single bits, as a balanced tree of adders; zero for none."""
    if len(bits) < 2:
        return bits[0] if bits else Const(0, 1)
    half = len(bits) // 2
    return count_ones(bits[:half]) + count_ones(bits[half:])
