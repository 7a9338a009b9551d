"""Which two sources one access brings (docs/schemes/corf.md, section 9)."""

from __future__ import annotations

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.rf.renaming import Mapped


def join(rule: str, mapped: list[Mapped], base: int, asking: int) -> int:
    """The number of the slot that goes with the lowest one of a unit that asks, -1 if there is none.

    ``rule``: ``row`` or ``planes``. ``base``: number of the unit's first slot. ``asking``: its slots that are neither
    granted nor unmapped.
    """
    first = lowest(asking)
    one = mapped[base + first]
    for slot in indices(asking & asking - 1):
        other = mapped[base + slot]
        if other.bank == one.bank and (other.row == one.row if rule == "row" else not other.mask & one.mask):
            return base + slot
    return -1
