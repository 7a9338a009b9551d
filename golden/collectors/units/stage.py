"""The baseline: collector units over banks (docs/machine.md, sections 5 to 7)."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.arbiter import lowest
from warpfile.golden.collectors.contract import Heads, Offer
from warpfile.golden.collectors.units.units import CollectorUnits
from warpfile.golden.completion import Completion
from warpfile.golden.entry import Entry
from warpfile.golden.machine import Machine
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.location import Location
from warpfile.golden.scheduler.policy import make_scheduler
from warpfile.spec.config import Config
from warpfile.spec.ctas import Launch
from warpfile.spec.environment import Result
from warpfile.spec.probe import ProbeLayout

STAGE_COUNTERS = ("bank_reads", "bank_writes", "bank_conflicts", "unit_cycles")


class BaselineStage:
    """Operand stage (:class:`golden.collectors.contract`) that stores every result in the banks.

    It holds, prefers and refuses nobody. ``units`` is the kind of its collector units.
    """

    def __init__(self, cfg: Config, layout: ProbeLayout, units: type[CollectorUnits] = CollectorUnits) -> None:
        self.hold = self.prefer = self.changed = 0
        self.counters = dict.fromkeys(STAGE_COUNTERS, 0)
        self.completion = Completion()
        self.location = Location(cfg)
        self.collectors = units(cfg, self.location)
        self.banks = Banks(cfg, self.location)
        self.unread = self.collectors.unread
        self.collecting = self.collectors.collecting
        self._write_cycles = cfg.bank_cycles
        self._free = 0
        self._offered: list[int] = []
        self._word = 0
        at = layout.offset
        self._at_occupied, self._at_allocate = at["occupied"], at["allocate"]
        self._at_request, self._at_grant = at["request"], at["grant"]
        self._at_unit = [at[f"dispatch_unit{port}"] for port in range(cfg.ports)]

    def room(self, heads: Heads) -> int:
        """Any free unit does for all warps; one that is freed in this cycle is not free yet."""
        self._free = self.collectors.free
        return heads.buffered if self._free else heads.buffered & heads.unitless

    def offer(self) -> Sequence[Offer]:
        """See the contract. The probes of registered state are taken here."""
        collectors = self.collectors
        word = collectors.occupied << self._at_occupied | collectors.requested << self._at_request
        self.counters["unit_cycles"] += collectors.occupied.bit_count()
        offers: list[Offer] = []
        if any(collectors.ready):
            self._offered = collectors.offer()
            for port, number in enumerate(self._offered):
                if number < 0:
                    continue
                unit = collectors.units[number]
                assert unit.entry is not None, f"collector unit {number} is offered without a beat"
                offers.append((port, unit.warp, unit.entry))
                word |= number << self._at_unit[port]
        self._word = word
        return offers

    def take(self, cycle: int, results: Sequence[Result | None]) -> int:
        """Writes go before reads, but a read sees its row as it was at the beginning of the cycle."""
        accepted = self.banks.accept(cycle, results) if any(results) else 0
        if self.collectors.requested:
            self._read(cycle)
        if accepted:
            for port, result in enumerate(results):
                if result is not None and accepted >> port & 1:
                    self._store(cycle, result)
        return accepted

    def _read(self, cycle: int) -> None:
        collectors, rows, counters, word = self.collectors, self.banks.rows, self.counters, 0
        grants = self.banks.grant(cycle, collectors.requests, collectors.order)
        counters["bank_reads"] += len(grants)
        counters["bank_conflicts"] += collectors.requested.bit_count() - len(grants)
        for index in grants:
            value = rows[collectors.banks[index]][collectors.rows[index]]
            self.changed |= 1 << collectors.granted(cycle, index, value)
            word |= 1 << index
        self._word |= word << self._at_grant

    def _store(self, cycle: int, result: Result) -> None:
        self.completion.add(cycle + self._write_cycles - 1, result)
        if result.writes:
            self.counters["bank_writes"] += 1
            self.banks.store(result)

    def dispatch(self, port: int) -> Sequence[int]:
        """See the contract. Before ``accept``: a beat that leaves now is not waited for."""
        number = self._offered[port]
        values = self.collectors.operands(number)
        self.changed |= 1 << self.collectors.units[number].warp
        self.collectors.dispatch(number)
        return values

    def accept(self, warp: int, entry: Entry) -> bool:
        """Every beat with room is accepted, in the lowest-index unit that is free."""
        if entry.needs_unit:
            number = lowest(self._free)
            self.collectors.allocate(number, warp, entry)
            self._word |= 1 << self._at_allocate + number
        return True

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.location.launched(launch.warp, launch.base)

    def edge(self, cycle: int) -> int:
        """Data of earlier grants arrive."""
        self.collectors.arrive(cycle)
        return self._word


class Baseline(Machine[BaselineStage]):
    """Golden model of the baseline, under the scheduler that the configuration names."""

    def __init__(self, cfg: Config, layout: ProbeLayout) -> None:
        super().__init__(cfg, layout, BaselineStage(cfg, layout), make_scheduler(cfg))
