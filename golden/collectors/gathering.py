"""Collectors with units that hold the operands of one beat (docs/machine.md, sections 5 to 7)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import lowest, ones
from warpfile.golden.collectors.contract import Collectors, Heads, Offer
from warpfile.golden.collectors.pool import CollectorUnits
from warpfile.golden.entry import Entry
from warpfile.golden.rf.contract import RegisterFile
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Result

PROBES = ("occupied", "lacking", "allocate", "request", "grant")
COUNTERS = ("bank_reads", "bank_conflicts", "unit_cycles", "operand_waits")


class SourceLookUps:
    """Which slots may ask, where that is not decided at their allocation; what is not in a bank is read beside these.

    ``begin`` over registered state, ``step`` after the reads of the banks, ``expect`` for a unit that was allocated.
    ``asking`` are the source slots that may ask now, as a mask and per bank. ``word`` has the probes, from bit
    ``first`` of all on.
    """

    def __init__(self, first: int) -> None:
        self.first = first
        self.asking: tuple[int, list[int]] = (0, [])
        self.word = 0

    def begin(self) -> int:
        """Slots that ask."""
        raise NotImplementedError

    def expect(self, number: int, entry: Entry) -> None:
        """A unit takes a beat."""
        raise NotImplementedError

    def step(self, cycle: int) -> int:
        """What is read beside the banks; returns warps whose unread registers changed, as a mask."""
        raise NotImplementedError


@mypyc_attr(allow_interpreted_subclasses=True)
class GatheringUnits(Collectors):
    """Collectors (:class:`golden.collectors.contract.Collectors`) that leave every result to the register file.

    They prefer and refuse no warp.
    """

    def __init__(self, cfg: Config, layout: ProbeLayout, file: RegisterFile) -> None:
        self.prefer = self.changed = 0
        self._counters: dict[str, int] = {}
        self._reads = self._asked = self._unit_cycles = self._waits = 0
        self.units = self.make_units(cfg, file)
        self._file = file
        self._requests = self.units.requests
        self.lookups = self.make_lookups(cfg, layout)
        self._free = self._word = self._far = 0
        self._offered: list[int] = []
        self._retakes = cfg.retake == "same"
        at = layout.offset
        # The units' own probes lie side by side: a short word, which goes into the long one at once.
        self._at = first = min(at[name] for name in PROBES)
        self._at_occupied, self._at_allocate = at["occupied"] - first, at["allocate"] - first
        self._at_request, self._at_grant = at["request"] - first, at["grant"] - first
        self._at_lacking = at["lacking"] - first
        self._at_unit = [at[f"dispatch_unit{port}"] for port in range(cfg.ports)]

    def make_units(self, cfg: Config, file: RegisterFile) -> CollectorUnits:
        """The units that this has."""
        return CollectorUnits(cfg, file)

    def make_lookups(self, cfg: Config, layout: ProbeLayout) -> SourceLookUps | None:
        """What decides which slots ask; None if their allocation does."""
        return None

    @property
    def counters(self) -> dict[str, int]:
        """See the contract: those of the units, then those of look-ups."""
        sums = (self._reads, self._asked - self._reads, self._unit_cycles, self._waits)
        return dict(zip(COUNTERS, sums, strict=True)) | self._counters

    def unread(self, warp: int) -> int:
        """See the contract."""
        return self.units.unread(warp)

    def collecting(self, warp: int) -> bool:
        """See the contract."""
        return self.units.collecting(warp)

    def room(self, heads: Heads, ready: int) -> int:
        """Any free unit does for all warps; one that dispatches is taken again only where no other is free."""
        self._free = self.units.free
        if self._retakes and not self._free:
            self._free = self.units.leaving(ready)
        return heads.buffered if self._free else heads.buffered & heads.unitless

    def offer(self) -> list[Offer]:
        """See the contract. The probes of registered state are taken here."""
        units = self.units
        asking = self._requests.asking if self.lookups is None else self.lookups.begin()
        word = units.occupied << self._at_occupied | asking << self._at_request | units.lacking << self._at_lacking
        self._unit_cycles += len(units.order)
        self._waits += ones(units.lacking)
        self._far = 0
        offers: list[Offer] = []
        if units.complete:
            self._offered = units.offer()
            for port, number in enumerate(self._offered):
                if number < 0:
                    continue
                unit = units.units[number]
                assert unit.entry is not None, f"collector unit {number} is offered without a beat"
                offers.append((port, unit.warp, unit.entry))
                self._far |= number << self._at_unit[port]
        self._word = word
        return offers

    def read(self, cycle: int) -> None:
        """Reads of banks, then those of near copies and the look-up of one unit."""
        requests, lookups = self._requests, self.lookups
        if requests.asking:
            asking, of_bank = (requests.asking, requests.of_bank) if lookups is None else lookups.asking
            units, word = self.units, 0
            grants = self._file.read(cycle, of_bank, requests.rows, units.order)
            self._reads += len(grants)
            self._asked += ones(asking)
            for index, copy, arrival in grants:
                self.changed |= 1 << units.granted(index, copy, arrival)
                word |= 1 << index
            self._word |= word << self._at_grant
        if lookups is not None:
            self.changed |= lookups.step(cycle)

    def settle(self, results: list[Result | None], accepted: int) -> None:
        """Nothing is kept of results."""

    def dispatch(self, port: int) -> list[int]:
        """See the contract. Before ``accept``: a beat that leaves now is not waited for."""
        number = self._offered[port]
        values = self.units.operands(number)
        self.changed |= 1 << self.units.units[number].warp
        self.units.dispatch(number)
        return values

    def accept(self, warp: int, entry: Entry) -> bool:
        """Every beat with room is accepted, in the lowest-index unit that is free."""
        if entry.needs_unit:
            number = lowest(self._free)
            self.units.allocate(number, warp, entry)
            if self.lookups is not None:
                self.lookups.expect(number, entry)
            self._word |= 1 << self._at_allocate + number
        return True

    def another(self, warp: int, entry: Entry) -> bool:
        """See :class:`golden.dual_issue.RoomForTwo`."""
        self._free = self.units.behind(self._free, self._retakes)
        return self._free != 0 or not entry.needs_unit

    def launched(self, launch: Launch) -> None:
        """A unit has nothing of a warp that was not dispatched before its EXIT."""

    def edge(self, cycle: int) -> int:
        """Data of earlier grants arrive."""
        if self.units.arrivals:
            self.units.arrive(cycle)
        word, lookups = self._word << self._at, self.lookups
        if self._far:
            word |= self._far
        if lookups is not None and lookups.word:
            word |= lookups.word << lookups.first
        return word
