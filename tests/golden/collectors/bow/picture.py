"""An operand window of the golden model as it was at the beginning of a cycle."""

from __future__ import annotations

from dataclasses import dataclass

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow.window import Window
from warpfile.spec.beat import Beat


@dataclass
class Picture:
    """A window at the beginning of a cycle."""

    where: dict[int, int]
    free: int
    fill: int
    clean: int
    dirty: int
    owed: int
    evicting: int
    pinned: int
    stale: int
    ranks: list[int]
    slots: list[tuple[Beat, int]]  #: undispatched beats, oldest first, and what they miss
    next: int
    presented: int  #: register that is to be evicted, -1 for none

    @classmethod
    def of(cls, window: Window) -> Picture:
        """The window as it is now."""
        e = window.entries
        waiting = sorted((window.slots[n].number, n) for n in indices(window.undispatched))
        slots = [(s.entry.beat, s.missing) for _, n in waiting if (s := window.slots[n]).entry is not None]
        presented = e.register[e.oldest(e.evicting)] if e.evicting else -1
        masks = e.free, e.fill, e.clean, e.dirty, e.owed, e.evicting, e.pinned, e.stale
        return cls(dict(e.where), *masks, list(e._rank), slots, window.next, presented)
