"""What must hold inside operand windows at the beginning of every cycle, whatever the probes show."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from tests.golden.invariants import require
from tests.golden.machines import Bow
from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.bow.window import Window
from warpfile.golden.copies import ALL_LANES
from warpfile.spec.environment import Result
from warpfile.spec.schemes.bow import BowConfig

LANES = np.arange(32)


def entry_states(window: Window) -> dict[int, tuple[str, int]]:
    """State and number of the entry of every register that has one; the registers must be distinct."""
    entries, found = window.entries, dict[int, tuple[str, int]]()
    masks = {
        "free": entries.free,
        "fill": entries.fill,
        "clean": entries.clean,
        "owed": entries.owed,
        "dirty": entries.dirty & ~entries.owed,
        "evicting": entries.evicting,
    }
    require(sum(masks.values()) == entries.all, "an entry is in one state")
    require(not entries.owed & ~entries.dirty, "what is owed is dirty")
    require(not entries.ungranted & ~entries.fill, "who asks a bank waits for data")
    for state, mask in masks.items():
        for entry in indices(mask) if state != "free" else ():
            register = entries.register[entry]
            require(register not in found, "a register has at most one entry")
            found[register] = state, entry
    require({register: entry for register, (_, entry) in found.items()} == entries.where, "entries are found")
    return found


def check_window(cfg: BowConfig, window: Window) -> None:
    """Slots and entries agree with each other."""
    entries, pins = window.entries, 0
    for number in indices(window.undispatched):
        slot = window.slots[number]
        require(slot.entry is not None and window.next - slot.number <= cfg.window, "a window holds its last beats")
        require(len(slot.operands) == len(slot.entry.beat.sources), "a slot has an entry for every source")
        for entry, register in zip(slot.operands, slot.entry.beat.sources, strict=True):
            pins |= 1 << entry
            require(entries.register[entry] == register, "a slot points at the entries of its sources")
            has = not slot.missing >> entry & 1
            require(has != bool(entries.fill >> entry & 1), "a slot has what is not being filled")
    require(pins == entries.pinned, "an entry is pinned while a slot has yet to read it")
    require(not pins & (entries.evicting | entries.free), "what has yet to be read does not leave")
    if not window.undispatched >> window.next % cfg.window & 1:
        for entry in indices(entries.fill | entries.clean | entries.dirty):
            age = window.next - entries.last[entry]
            require(age <= cfg.window, "what is stale leaves with the next beat")
            require(age < cfg.window or not (pins | entries.fill) >> entry & 1, "a stale entry is not waited for")
    if cfg.window_writes == "through":
        require(not entries.dirty | entries.evicting, "a window that writes through owes nothing")


@dataclass
class Lanes:
    """Lane by lane: which row of the trace wrote a register last, and what every row of the trace holds."""

    model: Bow
    latest: dict[tuple[int, int], np.ndarray] = field(default_factory=dict)
    content: dict[int, np.ndarray] = field(default_factory=dict)
    live: dict[tuple[int, int], int] = field(default_factory=dict)

    def written(self, result: Result) -> None:
        """A result was accepted."""
        key = result.warp, result.register
        before = self.latest.get(key, np.full(32, -1))
        self.latest[key] = self.content[result.row] = np.where(result.mask >> LANES & 1 != 0, result.row, before)
        if result.full:
            self.live[key] = result.mask

    def forget(self, warp: int) -> None:
        """A warp ends."""
        for key in [key for key in self.latest if key[0] == warp]:
            del self.latest[key]
            self.live.pop(key, None)

    def right(self, key: tuple[int, int], copy: int) -> int:
        """Lanes in which a copy holds the register's latest value; those never written count as right."""
        row, outdated = (copy, 0) if copy >= -1 else ((~copy >> 32) - 2, ~copy & ALL_LANES)
        latest = self.latest[key]
        same = (self.content.get(row, np.full(32, -2)) == latest) | (latest == -1)
        right = sum(1 << int(lane) for lane in np.flatnonzero(same))
        return right & ~outdated

    def stored(self, key: tuple[int, int]) -> int:
        """The copy that the register file has."""
        bank, number = self.model.file.place(*key)
        return self.model.file.banks.rows[bank][number]

    def check(self, cfg: BowConfig, key: tuple[int, int]) -> None:
        """A copy claims no lane that it does not hold, and some place holds every lane, unless hints gave it up."""
        if key not in self.latest:
            return
        warp, register = key
        entries = self.model.collectors.windows[warp].entries
        entry = entries.where.get(register, -1)
        in_window = entry >= 0 and not entries.fill >> entry & 1
        row = self.stored(key)
        needed = self.live.get(key, ALL_LANES)
        if in_window:
            copy = entries.copy[entry]
            claimed = ALL_LANES if copy >= -1 else copy & ALL_LANES
            require(claimed & ~self.right(key, copy) == 0, "an entry holds what the last result made of its register")
            if entries.clean >> entry & 1:
                lanes = claimed & needed
                require(lanes & ~self.right(key, row) == 0, "a clean entry equals its bank row")
        if cfg.window_writes == "through":
            require(needed & ~self.right(key, row) == 0, "a window that writes through leaves the banks current")
        if cfg.window_writes != "hints":
            where = entries.copy[entry] if in_window else row
            require(needed & ~self.right(key, where) == 0, "a value is in its window or in its bank row")
