"""Banks with a fast and a slow part, and what finds the registers for the fast one (docs/schemes/pilot.md)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import any_of, decode
from warpfile.hdl.rf.kernel import join_kernel
from warpfile.hdl.rf.location import settle
from warpfile.hdl.rf.pilot.awaited import AwaitedResults
from warpfile.hdl.rf.pilot.counters import AccessCounters
from warpfile.hdl.rf.pilot.epoch import EpochUnit
from warpfile.hdl.rf.pilot.kernel_state import KernelState
from warpfile.hdl.rf.pilot.layouts import hot_layout
from warpfile.hdl.rf.pilot.location import PilotLocation
from warpfile.hdl.rf.pilot.pairing import Pairing
from warpfile.hdl.rf.pilot.sorter import TopSorter
from warpfile.hdl.rf.plain import PlainFile
from warpfile.spec.schemes.pilot import PilotConfig, State, pilot_probes


class PilotFile(PlainFile):
    """A plain file whose places change with the table of their warp, and whose accesses differ in length.

    Ports: :func:`hdl.rf.contract.file_members`, and the probes of :func:`spec.schemes.pilot.pilot_probes`.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        self._places = PilotLocation(cfg)
        super().__init__(cfg, self._places, {probe.name: Out(probe.width) for probe in pilot_probes(cfg)}, self._cycles)

    def _cycles(self, bank: Value, row: Value) -> Value:
        return access_cycles(self._cfg, self.high_mode, row)

    def elaborate(self, platform) -> Module:
        """The plain file, the kernel's state, and the units that it drives."""
        m = super().elaborate(platform)
        m.submodules.kernel_state = kernel = KernelState(self._cfg)
        self._kernel(m, kernel)
        self._epochs(m, kernel)
        slots = self._profile(m, kernel) if self._cfg.piloted else Const(0, 1)
        self._install(m, kernel, slots)
        self._observe_places(m)
        if self._cfg.migrates:
            self._migrate(m, kernel)
        return m

    def _locate(self, m: Module, location: PilotLocation) -> None:
        """Sources are renamed at the issue, or when their unit is looked up."""
        if not self._cfg.rename_latency:
            super()._locate(m, location)
            return
        m.d.comb += [
            location.launch_valid.eq(self.launch_valid),
            location.launch.eq(self.launch),
            location.warp.eq(decode(self.check_warp, self._cfg.warps)),
            location.sources.eq(self.check_registers),
        ]
        for source, place in zip(location.source_places, self.check_places, strict=True):
            settle(m, source, place)

    def _migrate(self, m: Module, kernel: KernelState) -> None:
        """No warp issues until all registers have moved."""
        m.submodules.awaited_results = awaited = AwaitedResults(self._cfg)
        places, late = self._places, self.check_valid.any() if self._cfg.rename_latency else Const(0)
        writes = Cat(result.writes for result in self.results)
        m.d.comb += [
            awaited.issue.eq(self._issues()),
            awaited.beat.eq(self.offer),
            awaited.accepted.eq(self.result_valid & self.result_accept & writes),
            kernel.drained.eq(~(self.requests.any() | awaited.count.any() | late)),
            kernel.moved.eq(places.moved),
            places.moving.eq(kernel.moving),
            places.resident.eq(kernel.resident),
            places.fast_cycles.eq(Mux(self.high_mode, self._cfg.bank_cycles, self._cfg.low_cycles)),
            self.hold.eq(kernel.held.replicate(self._cfg.warps)),
            self.awaited.eq(awaited.count),
            self.move_grant.eq(places.engine_grant),
            *(getattr(self, name).eq(getattr(places, name)) for name in ("move_warp", "move_pair", "move_access")),
        ]

    def _kernel(self, m: Module, kernel: KernelState) -> None:
        join_kernel(m, self, kernel)
        m.d.comb += [
            kernel.launch.eq(self.launch),
            self.pilot_state.eq(kernel.state),
            self.profiling.eq(kernel.profiling),
            self.pilot_warp.eq(kernel.pilot),
            self.current_version.eq(kernel.current),
        ]

    def _epochs(self, m: Module, kernel: KernelState) -> None:
        m.submodules.epoch_unit = epochs = EpochUnit(self._cfg)
        m.d.comb += [
            epochs.start.eq(kernel.taken | ~kernel.running),
            epochs.stand.eq(kernel.held),
            epochs.issue.eq(self._issues()),
            self.high_mode.eq(epochs.high),
            self.epoch_end.eq(epochs.ends),
            self.epoch_cycle.eq(epochs.cycle),
            self.epoch_issued.eq(epochs.issued),
        ]

    def _issues(self) -> Value:
        return self.offer_valid & self.accept

    def _profile(self, m: Module, kernel: KernelState) -> Signal:
        """Counters of the pilot, and what is sorted of them; returns the hot list that comes of it."""
        m.submodules.counters = counters = AccessCounters(self._cfg)
        m.submodules.sorter = sorter = TopSorter(self._cfg)
        own = self._issues() & self.offer.executes & self.offer_warp.bit_select(kernel.pilot, 1)
        sorting = kernel.state == State.SORT
        m.d.comb += [
            counters.clear.eq(kernel.taken),
            counters.take.eq(own & kernel.profiling),
            counters.beat.eq(self.offer),
            counters.scan.eq(kernel.scan),
            sorter.clear.eq(kernel.taken),
            sorter.valid.eq(sorting),
            sorter.register.eq(kernel.scan),
            sorter.count.eq(counters.count),
            self.counted.eq(counters.counted),
            self.scanned.eq(Mux(sorting, counters.count, 0)),
            self.sorted.eq(sorter.slots),
        ]
        if self._cfg.checks_map:
            m.d.comb += [kernel.unused.eq(~counters.count.any()), self.list_kept.eq(kernel.keeps)]
        found = Signal(hot_layout(self._cfg), name="found")
        for slot, place in zip(sorter.slots, found, strict=True):
            m.d.comb += [place.valid.eq(slot.valid), place.register.eq(slot.register)]
        return found

    def _install(self, m: Module, kernel: KernelState, found: Signal) -> None:
        """One register of the kernel's list, or of the pilot's, per cycle."""
        m.submodules.pairing = pairing = Pairing(self._cfg)
        places, remaps = self._places, kernel.remapping.any()
        m.d.comb += [
            pairing.hot.eq(Mux(remaps, found, kernel.hot)),
            pairing.turn.eq(kernel.loading | kernel.remapping),
            pairing.entries.eq(Mux(remaps, places.tables[-1], places.tables[0])),
            places.clear.eq(kernel.taken | kernel.undone if self._cfg.migrates else kernel.taken),
            places.pair.eq(pairing.pair),
            places.write.eq(
                pairing.write if self._cfg.migrates else Cat(pairing.write & ~remaps, pairing.write & remaps)
            ),
            places.current.eq(kernel.current),
            self.versions.eq(places.versions),
            self.swap_table.eq(places.tables),
        ]

    def _observe_places(self, m: Module) -> None:
        """Which accesses are fast, and which registers have moved."""
        places = self._places
        stored = self.result_store & self.result_accept
        if self._cfg.sees_sources:
            issues = self._issues() & self.offer.executes
            looked = self.offer.source_valid & issues.replicate(self._cfg.source_slots)
            looked = self.check_valid if self._cfg.rename_latency else looked
            width = self._cfg.register_bits
            m.d.comb += [
                self.source_lookup.eq(looked),
                self.source_hit.eq(looked & places.source_hits),
                self.source_home.eq(places.source_homes.as_value() & Cat(bit.replicate(width) for bit in looked)),
            ]
        fast_results = Cat(is_fast(self._cfg, place.row) for place in places.result_places)
        m.d.comb += [
            self.result_lookup.eq(stored),
            self.result_hit.eq(stored & places.result_hits),
            self.fast_write.eq(stored & fast_results),
            self.slow_write.eq(stored & ~fast_results),
            self.fast_grant.eq(self.grant & Cat(is_fast(self._cfg, place.row) for place in self.request_places)),
        ]
        self._observe_busy(m, stored)

    def _observe_busy(self, m: Module, stored: Value) -> None:
        """Slots whose bank serves none, and takes no result by the port for reads."""
        waits = []
        for bank in range(self._cfg.banks):
            here = Cat(place.bank == bank for place in self.request_places)
            takes = (self.grant & here).any()
            if self._cfg.bank_ports == "1RW":
                takes = takes | (stored & Cat(place.bank == bank for place in self._places.result_places)).any()
            waits.append(self.requests & here & (~takes).replicate(len(here)))
        m.d.comb += self.bank_busy.eq(any_of(waits))


def is_fast(cfg: PilotConfig, row: Value) -> Value:
    """Whether a row is in the fast part of its bank."""
    return row < cfg.fast_rows


def access_cycles(cfg: PilotConfig, high: Value, row: Value) -> Value:
    """Length of an access of a row that starts now; ``high``: mode of the fast part."""
    return Mux(is_fast(cfg, row), Mux(high, cfg.bank_cycles, cfg.low_cycles), cfg.slow_cycles)
