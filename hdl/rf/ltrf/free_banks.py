"""Banks of the cache in which a place has no register (docs/schemes/ltrf.md, section 4)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Value

from warpfile.hdl.count import at_least_before
from warpfile.hdl.naming import named
from warpfile.spec.schemes.ltrf import PARTS


def first_free(m: Module, name: str, occupied: Value, order: Sequence[int]) -> list[Value]:
    """The first, the second, ... free bank, as many as there are parts, in this order; each one-hot or none."""
    free = [~occupied[bank] for bank in order]
    *before, _ = at_least_before(m, name, free, PARTS)
    found = []
    for place in range(PARTS):
        there = {
            bank: value & _at_least(counts, place) & ~_at_least(counts, place + 1)
            for bank, value, counts in zip(order, free, before, strict=True)
        }
        found.append(named(m, f"{name}_{place}", Cat(there[bank] for bank in range(len(order)))))
    return found


def _at_least(counts: list[Value], many: int) -> Value:
    """Whether so many are set, of bits of which it is known for 1, 2, ..."""
    return counts[many - 1] if 0 < many <= len(counts) else Const(not many, 1)
