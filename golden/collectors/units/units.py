"""Collector units: gather the operands of a beat, then dispatch it (docs/machine.md, section 5)."""

from __future__ import annotations

from collections import deque

from warpfile.golden.arbiter import first_from, first_of, indices, lowest
from warpfile.golden.entry import Entry
from warpfile.golden.rf.location import Location
from warpfile.spec.config import Config


class Unit:
    """What one collector unit holds while it is occupied.

    ``missing`` counts slots that are not filled, ``ungranted`` is a mask of slots, ``unread`` one of register names,
    ``waits`` one of older units of the same warp and port.
    """

    __slots__ = ("entry", "missing", "ungranted", "unread", "waits", "warp")

    def __init__(self) -> None:
        self.entry: Entry | None = None
        self.warp = self.missing = self.ungranted = self.unread = self.waits = 0


class CollectorUnits:
    """All collector units.

    Masks are over units, or over slots numbered unit * source_slots + slot. ``requests`` has the presented slots per
    bank, ``rows`` the row of each slot, ``order`` the occupied units, oldest first, ``ready`` the ready units per port.
    Attributes are state of the last clock edge; ``offer`` decides; the other methods are clock edges. A dispatch comes
    before the allocation of the same cycle.
    """

    def __init__(self, cfg: Config, location: Location) -> None:
        self._location = location
        self._slots = cfg.source_slots
        self._bank_cycles = cfg.bank_cycles
        self._lowest = cfg.collect == "lowest"
        self._oldest = cfg.dispatch_arbitration == "oldest"
        self._pointer = [0] * cfg.ports
        self._arrivals: deque[tuple[int, Unit, int]] = deque()
        self._held = [0] * cfg.warps
        self.ready = [0] * cfg.ports
        self.units = [Unit() for _ in range(cfg.collectors)]
        self.occupied = 0
        self.free = (1 << cfg.collectors) - 1
        self.order: list[int] = []
        self.requested = 0
        self.requests = [0] * cfg.banks
        self.banks = [0] * (cfg.collectors * cfg.source_slots)
        self.rows = [0] * (cfg.collectors * cfg.source_slots)
        self.values = [-1] * (cfg.collectors * cfg.source_slots)

    def unread(self, warp: int) -> int:
        """Registers that beats of the warp have not been granted yet, as a mask."""
        unread = 0
        for number in indices(self._held[warp]):
            unread |= self.units[number].unread
        return unread

    def collecting(self, warp: int) -> bool:
        """Whether a unit is occupied by a beat of the warp."""
        return self._held[warp] != 0

    def offer(self) -> list[int]:
        """The unit presented on each execution port, -1 for none."""
        offered = []
        for port, ready in enumerate(self.ready):
            if not ready:
                offered.append(-1)
            elif self._oldest:
                offered.append(first_of(ready, self.order))
            else:
                offered.append(first_from(ready, self._pointer[port]))
        return offered

    def operands(self, number: int) -> list[int]:
        """Values that the unit holds, in the order of its beat's sources."""
        entry = self.units[number].entry
        assert entry is not None, f"collector unit {number} is empty"
        base = number * self._slots
        return self.values[base : base + len(entry.beat.sources)]

    def dispatch(self, number: int) -> None:
        """Free a unit whose beat was taken; younger units no longer wait for it."""
        unit, bit = self.units[number], 1 << number
        assert unit.entry is not None and not unit.missing, f"collector unit {number} dispatches without its operands"
        port = unit.entry.port
        self._pointer[port] = (number + 1) % len(self.units)
        self.ready[port] ^= bit
        self.occupied ^= bit
        self.free |= bit
        self.order.remove(number)
        unit.entry = None
        self._held[unit.warp] ^= bit
        for other in indices(self._held[unit.warp]):
            younger = self.units[other]
            if younger.waits & bit:
                younger.waits ^= bit
                self._note_ready(other)

    def granted(self, cycle: int, index: int, value: int) -> int:
        """A bank serves a slot in ``cycle``: the value arrives ``bank_cycles`` later. Returns the slot's warp."""
        number, slot = divmod(index, self._slots)
        unit = self.units[number]
        assert unit.entry is not None and unit.ungranted >> slot & 1, f"slot {slot} of unit {number} is granted twice"
        self.values[index] = value
        unit.ungranted ^= 1 << slot
        unit.unread ^= 1 << unit.entry.beat.sources[slot]
        self.requests[self.banks[index]] ^= 1 << index
        self.requested ^= 1 << index
        if self._lowest and unit.ungranted:
            self._present(index - slot + lowest(unit.ungranted))
        self._arrivals.append((cycle + self._bank_cycles, unit, number))
        return unit.warp

    def _present(self, index: int) -> None:
        self.requests[self.banks[index]] |= 1 << index
        self.requested |= 1 << index

    def arrive(self, cycle: int) -> None:
        """Fill the slots whose data leave their bank in ``cycle``."""
        arrivals = self._arrivals
        while arrivals and arrivals[0][0] == cycle:
            _, unit, number = arrivals.popleft()
            unit.missing -= 1
            self._note_ready(number)

    def _note_ready(self, number: int) -> None:
        unit = self.units[number]
        if not unit.missing and not unit.waits:
            assert unit.entry is not None
            self.ready[unit.entry.port] |= 1 << number

    def allocate(self, number: int, warp: int, entry: Entry) -> None:
        """Let a free unit take the beat that ``warp`` issued; the beats dispatched in this cycle have already left."""
        unit, bit, sources = self.units[number], 1 << number, entry.beat.sources
        assert unit.entry is None, f"collector unit {number} is taken"
        unit.entry, unit.warp = entry, warp
        unit.waits = unit.unread = 0
        for other in indices(self._held[warp]):
            older = self.units[other].entry
            if older is not None and older.port == entry.port:
                unit.waits |= 1 << other
        unit.missing = len(sources)
        unit.ungranted = (1 << len(sources)) - 1
        self._locate(number * self._slots, warp, unit, sources)
        self.occupied |= bit
        self.free ^= bit
        self.order.append(number)
        self._held[warp] |= bit
        self._note_ready(number)

    def _locate(self, base: int, warp: int, unit: Unit, sources: tuple[int, ...]) -> None:
        for index, register in enumerate(sources, base):
            self.banks[index], self.rows[index] = self._location.place(warp, register)
            unit.unread |= 1 << register
            if index == base or not self._lowest:
                self._present(index)
