"""What becomes of a result (docs/schemes/bow.md, step 1)."""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

from warpfile.golden.collectors.bow.window import Slot, Window
from warpfile.golden.copies import Latest, merged
from warpfile.spec.schemes.bow import BowConfig, WriteClass
from warpfile.spec.stimulus import Result

_BOTH, _FILE, _NEITHER = int(WriteClass.BOTH), int(WriteClass.FILE), int(WriteClass.NEITHER)


class Effect(IntEnum):
    """What a result does to the window."""

    NOTHING = 0
    MERGE = 1
    STORE = 2
    FREE = 3  #: of its entry, if there is one


class Ruling(NamedTuple):
    """The row of the table that a result falls under. ``slot`` is its beat's, None if it is ``late``."""

    slot: Slot | None
    write_class: int
    effect: Effect
    bank: bool

    @property
    def stored(self) -> bool:
        """The window takes it, whole or merged."""
        return self.effect in (Effect.MERGE, Effect.STORE)

    @property
    def dropped(self) -> bool:
        """Neither window nor bank take it."""
        return not self.bank and not self.stored


def rule(window: Window, result: Result, writes: str) -> Ruling:
    """The first row that fits; ``writes`` is the configuration's ``window_writes``."""
    through = writes == "through"
    write_class = result.hints if writes == "hints" else _BOTH
    slot: Slot | None = window.producer(result.register)
    has_entry = result.register in window.entries.where
    if not result.full:
        if has_entry:
            return Ruling(slot, write_class, Effect.MERGE, through)
        return Ruling(slot, write_class, Effect.NOTHING, slot is not None or bool(write_class & _FILE))
    if write_class in (_FILE, _NEITHER):
        return Ruling(slot, write_class, Effect.FREE, write_class == _FILE)
    if slot is None:
        return Ruling(slot, write_class, Effect.FREE, write_class == _BOTH)
    if has_entry or window.entries.obtainable() >= 0:
        return Ruling(slot, write_class, Effect.STORE, through)
    return Ruling(slot, write_class, Effect.NOTHING, True)


class Values:
    """What windows hold, from the value that every register had before a result."""

    def __init__(self, cfg: BowConfig) -> None:
        self._latest = Latest(cfg)
        self.launched = self._latest.launched

    def settle(self, window: Window, result: Result, ruling: Ruling, through: bool) -> None:
        """Apply a ruling to the window."""
        register, entries = result.register, window.entries
        change = (self._latest.change(result), result.row, result.mask)
        entry, effect = entries.where.get(register, -1), ruling.effect
        if effect == Effect.MERGE:
            entries.copy[entry] = merged(entries.copy[entry], *change)
            if not entries.evicting >> entry & 1:
                entries.store(entry, dirty=not through, owed=True, stale=bool(entries.stale >> entry & 1))
        elif effect == Effect.STORE:
            _store(window, result, ruling, through)
        elif effect == Effect.FREE and entry >= 0:
            entries.release(1 << entry)
        if ruling.slot is not None:
            ruling.slot.undone ^= 1 << register


def _store(window: Window, result: Result, ruling: Ruling, through: bool) -> None:
    """A whole result goes into its entry, or into one that can be had."""
    entries, slot = window.entries, ruling.slot
    assert slot is not None and result.full, "only a whole result whose beat is in the window is stored"
    entry = entries.where.get(result.register, -1)
    if entry < 0:
        entry = entries.obtainable()
        if not entries.free >> entry & 1:
            entries.release(1 << entry)
        entries.allocate(entry, result.register, slot.number)
    entries.last[entry] = slot.number
    entries.copy[entry] = result.row
    is_owed = bool(ruling.write_class & _FILE) and not through
    entries.store(entry, dirty=not through, owed=is_owed, stale=window.next - slot.number >= len(window.slots))
