"""Collector units: gather the operands of a beat, then dispatch it (docs/machine.md, section 5)."""

from __future__ import annotations

from warpfile.golden.arbiter import first_from, first_of, indices, lowest
from warpfile.golden.collectors.requests import Requests
from warpfile.golden.copies import row_in_lanes
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import Place, RegisterFile
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

    Masks are over units, or over slots numbered unit * source_slots + slot. ``requests`` has the presented slots,
    ``values`` what the granted ones get, ``arrivals`` by cycle the units that it reaches; ``order`` has the units with
    a beat, oldest first, ``lacking`` those that have not all operands, ``ready`` the ready units per port, ``complete``
    of all ports. Attributes are state of the last clock edge; ``offer`` decides; the other methods are clock edges. A
    dispatch comes before the allocation of the same cycle.
    """

    def __init__(self, cfg: Config, file: RegisterFile, presented: bool = False) -> None:
        """``presented``: slots ask when they are told to (:meth:`present`), and not from their allocation on."""
        self._place = file.place
        self._later = presented or cfg.gives.later or cfg.gives.renamed or cfg.gives.near_bits > 0
        self._slots = cfg.source_slots
        self._lowest = cfg.collect == "lowest"
        self._oldest = cfg.dispatch_arbitration == "oldest"
        self._pointer = [0] * cfg.ports
        self.arrivals: dict[int, list[int]] = {}
        self._held = [0] * cfg.warps
        self.requests = Requests(cfg)
        self.ready = [0] * cfg.ports
        self.complete = 0
        self.units = [Unit() for _ in range(cfg.collectors)]
        self.occupied = self.lacking = 0
        self.free = (1 << cfg.collectors) - 1
        self.order: list[int] = []
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

    def leaving(self, ready: int) -> int:
        """Units that dispatch in this cycle if these ports are ready."""
        leaving = 0
        for port, number in enumerate(self.offer() if self.complete else ()):
            if number >= 0 and ready >> port & 1:
                leaving |= 1 << number
        return leaving

    def behind(self, free: int, retakes: bool) -> int:
        """Units for one more beat of a cycle, of those that were ``free`` for the one before."""
        return free & self.free or (self.free if retakes else 0)

    def operands(self, number: int) -> list[int]:
        """Values that the unit holds, in the order of its beat's sources."""
        entry = self.units[number].entry
        assert entry is not None, f"collector unit {number} is empty"
        base = number * self._slots
        return self.values[base : base + len(entry.beat.sources)]

    def dispatch(self, number: int, drains: bool = False) -> None:
        """Free a unit whose beat was taken, unless it ``drains``; younger units no longer wait for it."""
        unit, bit = self.units[number], 1 << number
        assert unit.entry is not None and not unit.missing, f"collector unit {number} dispatches without its operands"
        port = unit.entry.port
        self._pointer[port] = (number + 1) % len(self.units)
        self.ready[port] ^= bit
        self.complete ^= bit
        self.order.remove(number)
        unit.entry = None
        if not drains:
            self.leave(number)
        for other in indices(self._held[unit.warp]):
            younger = self.units[other]
            if younger.waits & bit:
                younger.waits ^= bit
                self._note_ready(other)

    def leave(self, number: int) -> None:
        """Free a unit whose beat was taken."""
        bit = 1 << number
        self.occupied ^= bit
        self.free |= bit
        self._held[self.units[number].warp] ^= bit

    def granted(self, index: int, copy: int, arrival: int) -> int:
        """A bank serves a slot: its copy is there from the end of cycle ``arrival`` on. Returns the slot's warp."""
        number, slot = index // self._slots, index % self._slots
        unit = self.units[number]
        assert unit.entry is not None and unit.ungranted >> slot & 1, f"slot {slot} of unit {number} is granted twice"
        unit.ungranted ^= 1 << slot
        requests, bit = self.requests, 1 << index
        requests.of_bank[requests.banks[index]] ^= bit
        requests.asking ^= bit
        if self._lowest and unit.ungranted:
            requests.ask(index - slot + lowest(unit.ungranted))
        self.fetched(number, slot, copy, arrival)
        return unit.warp

    def fetched(self, number: int, slot: int, copy: int, arrival: int) -> None:
        """A slot has the copy of its source, which may change from now on."""
        unit = self.units[number]
        assert unit.entry is not None, f"slot {slot} of unit {number} reads for no beat"
        beat = unit.entry.beat
        self.values[number * self._slots + slot] = copy if copy >= -1 else row_in_lanes(copy, beat.mask)
        unit.unread ^= 1 << beat.sources[slot]
        arrivals = self.arrivals.get(arrival)
        if arrivals is None:
            self.arrivals[arrival] = [number]
        else:
            arrivals.append(number)

    def arrive(self, cycle: int) -> None:
        """Fill the slots whose data arrive in ``cycle``."""
        arrivals = self.arrivals.get(cycle)
        if arrivals is None:
            return
        del self.arrivals[cycle]
        for number in arrivals:
            unit = self.units[number]
            unit.missing -= 1
            if not unit.missing:
                self.lacking ^= 1 << number
            self._note_ready(number)

    def _note_ready(self, number: int) -> None:
        unit = self.units[number]
        if not unit.missing and not unit.waits:
            assert unit.entry is not None
            self.ready[unit.entry.port] |= 1 << number
            self.complete |= 1 << number

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
        if sources:
            self.lacking |= bit
        unit.ungranted = 0
        if self._later:
            for register in sources:
                unit.unread |= 1 << register
        else:
            self._locate(number * self._slots, unit, sources)
        self.occupied |= bit
        self.free ^= bit
        self.order.append(number)
        self._held[warp] |= bit
        self._note_ready(number)

    def _locate(self, base: int, unit: Unit, sources: tuple[int, ...]) -> None:
        unit.ungranted = (1 << len(sources)) - 1
        for index, register in enumerate(sources, base):
            unit.unread |= 1 << register
            if index == base or not self._lowest:
                self.requests.add(index, self._place(unit.warp, register))
            else:
                self.requests.locate(index, self._place(unit.warp, register))

    def present(self, number: int, slot: int, place: Place) -> None:
        """A slot asks for a row from the next cycle on, or when its turn in the unit comes."""
        unit, index = self.units[number], number * self._slots + slot
        self.requests.locate(index, place)
        if not (self._lowest and unit.ungranted):
            self.requests.ask(index)
        unit.ungranted |= 1 << slot
