"""The baseline's operand stage: collector units between the issued beat and the execution ports."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import Ages, any_of, lowest_one, select
from warpfile.hdl.beat import needs_unit
from warpfile.hdl.collectors.contract import stage_members
from warpfile.hdl.collectors.dispatch import DispatchArbiter
from warpfile.hdl.collectors.units.unit import CollectorLane, CollectorUnit
from warpfile.hdl.collectors.write_after_read import WriteAfterRead
from warpfile.hdl.naming import named
from warpfile.hdl.rf.banks import BankedRegisterFile
from warpfile.hdl.rf.location import Location
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config
from warpfile.spec.schemes.units import stage_probes


class OperandStage(wiring.Component):
    """Allocates collector units, reads the banks, dispatches ready beats, writes results.

    Ports: :func:`stage_members` and the baseline's own probes. It holds and prefers no warp and refuses nothing that
    had ``room``.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__({**stage_members(cfg), **{probe.name: Out(probe.width) for probe in stage_probes(cfg)}})

    def elaborate(self, platform) -> Module:
        """Units, location, banks, dispatch."""
        m = Module()
        m.submodules.location = location = Location(self._cfg)
        m.submodules.register_file = banks = BankedRegisterFile(self._cfg)
        units = [self._unit(m, number) for number in range(self._cfg.collectors)]
        older = self._ages(m)
        leaving = self._dispatch(m, units, older)
        self._allocate(m, units, location, leaving)
        self._read(m, units, banks, older)
        self._write(m, location, banks)
        self._complete(m)
        self._lanes(m, banks)
        self._watch(m, units)
        return m

    def _unit(self, m: Module, number: int) -> wiring.PureInterface:
        return stamp(m, f"unit{number}", "collector_unit", lambda: CollectorUnit(self._cfg))

    def _ages(self, m: Module) -> Value:
        if "oldest" not in (self._cfg.bank_arbitration, self._cfg.dispatch_arbitration):
            return Const(0, self._cfg.collectors**2)
        m.submodules.ages = ages = Ages(self._cfg.collectors)
        m.d.comb += ages.arrive.eq(self.allocate)
        return ages.older

    def _allocate(self, m: Module, units: list, location: Location, leaving: Value) -> None:
        m.d.comb += [
            self.occupied.eq(Cat(unit.occupied for unit in units)),
            self.accept.eq(1),
            self.allocate.eq(
                lowest_one(~self.occupied) & (self.offer_valid & needs_unit(self.offer)).replicate(len(units))
            ),
            location.launch_valid.eq(self.launch_valid),
            location.launch.eq(self.launch),
            location.warp.eq(self.offer_warp),
            location.sources.eq(self.offer.sources),
        ]
        wait_for = Signal(len(units))
        for number, unit in enumerate(units):
            same = (unit.out.warp == self.offer.warp) & (unit.port == self.offer.port)
            m.d.comb += [
                wait_for[number].eq(unit.occupied & ~leaving[number] & same),
                unit.allocate.eq(self.allocate[number]),
                unit.beat.eq(self.offer),
                unit.places.eq(location.source_places),
                unit.wait_for.eq(wait_for),
                unit.leaving.eq(leaving),
                unit.dispatch.eq(leaving[number]),
            ]

    def _dispatch(self, m: Module, units: list, older: Value) -> Value:
        leaving = Signal(len(units))
        taken = []
        clocked = self._cfg.dispatch_arbitration != "oldest"
        for port in range(self._cfg.ports):
            name = f"dispatch{port}"
            arbiter = stamp(m, name, "dispatch_arbiter", lambda: DispatchArbiter(self._cfg), clocked=clocked)
            out = self.dispatch[port]
            m.d.comb += [
                arbiter.ready.eq(Cat(unit.ready & (unit.port == port) for unit in units)),
                arbiter.older.eq(older),
                arbiter.taken.eq(out.valid & out.ready),
                self.chosen[port].eq(arbiter.chosen),
                out.valid.eq(arbiter.chosen.any()),
                out.payload.eq(select(arbiter.chosen, [unit.out.as_value() for unit in units])),
            ]
            taken.append(arbiter.chosen & out.ready.replicate(len(units)))
        m.d.comb += leaving.eq(any_of(taken))
        return leaving

    def _read(self, m: Module, units: list, banks: BankedRegisterFile, older: Value) -> None:
        width = self._cfg.source_slots
        m.d.comb += [
            self.request.eq(Cat(unit.request for unit in units)),
            self.grant.eq(banks.grant),
            banks.requests.eq(self.request),
            banks.places.eq(Cat(unit.slot_places.as_value() for unit in units)),
            banks.older.eq(older),
        ]
        for number, unit in enumerate(units):
            m.d.comb += [
                unit.grant.eq(banks.grant.word_select(number, width)),
                unit.fill.eq(banks.fill.word_select(number, width)),
            ]

    def _write(self, m: Module, location: Location, banks: BankedRegisterFile) -> None:
        for port in range(self._cfg.ports):
            result = self.result[port]
            m.d.comb += [
                location.result_warps[port].eq(result.payload.warp),
                location.result_registers[port].eq(result.payload.register),
                banks.result_valid[port].eq(result.valid & result.payload.writes),
                banks.result_places[port].eq(location.result_places[port]),
                banks.result_masks[port].eq(result.payload.mask),
                banks.result_data[port].eq(self.result_data[port]),
                result.ready.eq(banks.accept[port] | ~result.payload.writes),
            ]

    def _complete(self, m: Module) -> None:
        for port in range(self._cfg.ports):
            result, fields = self.result[port], ("writes", "warp", "register", "tokens")
            valid = result.valid & result.ready
            record = Cat(result.payload[name] for name in fields)
            for cycle in range(1, self._cfg.bank_cycles):
                later = Signal(1, name=f"completing{port}_{cycle}")
                held = Signal(len(record), name=f"completion{port}_{cycle}", reset_less=True)
                m.d.sync += [later.eq(valid), held.eq(record)]
                valid, record = later, held
            m.d.comb += [self.completed[port].eq(valid), self.completion[port].eq(record)]
        if self._cfg.scheduler == "two_level":  # nothing of a warp stays behind in this stage
            m.d.comb += self.released.eq(self.release)

    def _lanes(self, m: Module, banks: BankedRegisterFile) -> None:
        slots, chosen = self._cfg.source_slots, Cat(self.chosen[port] for port in range(self._cfg.ports))
        for number in range(self._cfg.lanes):
            lane = stamp(m, f"collector_lane{number}", "collector_lane", lambda: CollectorLane(self._cfg))
            m.d.comb += [
                lane.inputs.eq(banks.fill_data[number]),
                lane.fill.eq(banks.fill),
                lane.chosen.eq(chosen),
            ]
            for port in range(self._cfg.ports):
                for slot in range(slots):
                    word = self.operands[port][slot].word_select(number, 32)
                    m.d.comb += word.eq(lane.operands.word_select(port * slots + slot, 32))

    def _watch(self, m: Module, units: list) -> None:
        slots, full = self._cfg.source_slots, named(m, "full", self.occupied.all())
        registers = named(m, "registers", Cat(unit.registers.as_value() for unit in units))
        for warp in range(self._cfg.warps):
            mine = named(m, f"mine{warp}", Cat(unit.occupied & (unit.out.warp == warp) for unit in units))
            check = stamp(
                m,
                f"write_after_read{warp}",
                "write_after_read",
                lambda: WriteAfterRead(self._cfg, len(units) * slots),
                clocked=False,
            )
            m.d.comb += [
                check.dest.eq(self.heads[warp].dest),
                check.dest_count.eq(self.heads[warp].dest_count),
                check.unread.eq(Cat(unit.uncollected & mine[n].replicate(slots) for n, unit in enumerate(units))),
                check.registers.eq(registers),
                self.blocked[warp].eq(check.blocked),
                self.collecting[warp].eq(mine.any()),
                self.room[warp].eq(self.buffered[warp] & ~(full & needs_unit(self.heads[warp]))),
            ]
