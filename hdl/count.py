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


def at_least(m: Module, name: str, bits: Sequence[Value], most: int) -> list[Value]:
    """Whether at least 1, 2, ... ``most`` of the single bits are set. No carries, so it is faster than a sum."""
    return at_least_before(m, name, bits, most)[-1]


def at_least_before(m: Module, name: str, bits: Sequence[Value], most: int) -> list[list[Value]]:
    """The same of the bits before each, and last of all bits."""
    if len(bits) < 2:
        return [[], *([bit] for bit in bits)]
    half = len(bits) // 2
    *low, total = at_least_before(m, f"{name}_low", bits[:half], most)
    high = at_least_before(m, f"{name}_high", bits[half:], most)
    return [*low, *(_merged(m, f"{name}_{place}", total, counts, most) for place, counts in enumerate(high))]


def _merged(m: Module, name: str, low: list[Value], high: list[Value], most: int) -> list[Value]:
    if not high:
        return low
    pairs = [(a, b) for a in range(len(low) + 1) for b in range(len(high) + 1)]
    first, second = [Const(1, 1), *low], [Const(1, 1), *high]
    counts = range(1, min(most, len(low) + len(high)) + 1)
    return list(named(m, name, Cat(any_of(first[a] & second[b] for a, b in pairs if a + b == n) for n in counts)))


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
