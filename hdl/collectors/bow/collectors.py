"""Operand stage of ``bow`` and ``bow_wr``: a window per warp in place of the collector units."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from warpfile.hdl.arbiter import any_of, decode, select
from warpfile.hdl.collectors.bow.lane import WindowLane
from warpfile.hdl.collectors.bow.ports import writes_back
from warpfile.hdl.collectors.bow.window import Window
from warpfile.hdl.collectors.contract import stage_members
from warpfile.hdl.collectors.dispatch_lane import DispatchLane
from warpfile.hdl.collectors.units.stage import OperandStage
from warpfile.hdl.naming import named
from warpfile.hdl.rf.banks import BankedRegisterFile
from warpfile.hdl.rf.location import location_layout, look_up, of_warp
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.bow import BowConfig, window_probes


class WindowStage(OperandStage):
    """The baseline's stage with windows for its units: dispatch and completion are the same (docs/schemes/bow.md).

    Ports: :func:`stage_members` and :func:`window_probes`. It holds and prefers no warp, and refuses a beat whose
    entries a result takes in the same cycle.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        probes = {probe.name: Out(probe.width) for probe in window_probes(cfg)}
        wiring.Component.__init__(self, {**stage_members(cfg), **probes})

    def elaborate(self, platform) -> Module:
        """Windows, banks with the windows as further writers, dispatch."""
        m = Module()
        cfg = self._cfg
        one_request = cfg.common().replace(source_slots=1)
        m.submodules.register_file = banks = BankedRegisterFile(
            one_request, clients=cfg.warps if writes_back(cfg) else 0
        )
        windows = [stamp(m, f"window{warp}", "window", lambda: Window(cfg)) for warp in range(cfg.warps)]
        self._enter(m, windows)
        self._results(m, windows, banks)
        self._requests(m, windows, banks)
        leaving = self._dispatch(m, windows, self._ages(m))
        m.d.comb += [window.dispatch.eq(leaving[number]) for number, window in enumerate(windows)]
        self._complete(m)
        self._lanes(m, windows, banks)
        self._watch(m, windows)
        return m

    def _enter(self, m: Module, windows: list) -> None:
        m.d.comb += [
            self.accept.eq((self.offer_warp & Cat(window.accepts for window in windows)).any()),
            self.refused.eq(self.offer_valid & ~self.accept),
        ]
        for warp, window in enumerate(windows):
            m.d.comb += [
                window.index.eq(warp),
                window.launch.eq(self.launch_valid & (self.launch.warp == warp)),
                window.base.eq(self.launch.base),
                window.head.eq(self.heads[warp]),
                window.buffered.eq(self.buffered[warp]),
                window.running.eq(self.clear[warp] & ~self.waiting[warp]),
                window.offered.eq(self.offer_warp[warp]),
            ]

    def _results(self, m: Module, windows: list, banks: BankedRegisterFile) -> None:
        """A window chooses among the results of its warp; of those that need it a bank chooses the highest port."""
        bases = [window.warp_base for window in windows]
        for port in range(self._cfg.ports):
            result = self.result[port]
            warp = named(m, f"result{port}_warp", decode(result.payload.warp, len(windows)))
            place = Signal(location_layout(self._cfg), name=f"result{port}_place")
            look_up(m, self._cfg, *of_warp(m, self._cfg, f"result{port}", warp, bases), result.payload.register, place)
            asks = any_of(window.bank_request[port] for window in windows)
            m.d.comb += [
                banks.result_valid[port].eq(asks),
                banks.result_places[port].eq(place),
                banks.result_masks[port].eq(result.payload.mask),
                banks.result_data[port].eq(self.result_data[port]),
                result.ready.eq(any_of(window.accepted[port] for window in windows) | ~result.payload.writes),
            ]
            for number, window in enumerate(windows):
                m.d.comb += [
                    window.results[port].eq(result.valid & result.payload.writes & warp[number]),
                    window.full[port].eq(result.payload.full),
                    window.registers[port].eq(result.payload.register),
                ]
                if self._cfg.result_hint_bits:
                    m.d.comb += window.hints[port].eq(result.payload.hints)
        for window in windows:
            m.d.comb += window.bank_accept.eq((window.bank_request & banks.accept).any())

    def _requests(self, m: Module, windows: list, banks: BankedRegisterFile) -> None:
        m.d.comb += [
            banks.requests.eq(self.request),
            banks.places.eq(Cat(window.request_place.as_value() for window in windows)),
            self.request.eq(Cat(window.request for window in windows)),
            self.grant.eq(banks.grant),
        ]
        if writes_back(self._cfg):
            self._evictions(m, windows, banks)
        for number, window in enumerate(windows):
            m.d.comb += [window.grant.eq(banks.grant[number]), window.fill.eq(banks.fill[number])]

    def _evictions(self, m: Module, windows: list, banks: BankedRegisterFile) -> None:
        m.d.comb += [
            self.evict.eq(Cat(window.evict for window in windows)),
            self.evicted.eq(banks.taken),
            banks.offers.eq(self.evict),
            banks.offer_places.eq(Cat(window.evict_place.as_value() for window in windows)),
            *(window.evicted.eq(banks.taken[number]) for number, window in enumerate(windows)),
        ]

    def _lanes(self, m: Module, windows: list, banks: BankedRegisterFile) -> None:
        cfg, slots, ports = self._cfg, self._cfg.source_slots, range(self._cfg.ports)
        chosen = Cat(self.chosen[port] for port in ports)
        for lane in range(cfg.lanes):
            out = stamp(m, f"dispatch_lane{lane}", "dispatch_lane", lambda: DispatchLane(cfg), clocked=False)
            parts = [self._lane(m, lane, warp, window) for warp, window in enumerate(windows)]
            results = Cat(self.result_data[port].word_select(lane, 32) for port in ports)
            enables = Cat(self.result[port].payload.mask[lane] for port in ports)
            for warp, part in enumerate(parts):
                fill = banks.fill_data[lane].word_select(warp, 32)
                m.d.comb += [part.results.eq(results), part.enables.eq(enables), part.fill.eq(fill)]
            m.d.comb += [out.units.eq(Cat(part.operands for part in parts)), out.chosen.eq(chosen)]
            if writes_back(cfg):
                m.d.comb += banks.offer_data[lane].eq(Cat(part.evicted for part in parts))
            for port in ports:
                for slot in range(slots):
                    word = self.operands[port][slot].word_select(lane, 32)
                    m.d.comb += word.eq(out.operands.word_select(port * slots + slot, 32))

    def _lane(self, m: Module, lane: int, warp: int, window: wiring.PureInterface) -> wiring.PureInterface:
        part = stamp(m, f"window{warp}_lane{lane}", "window_lane", lambda: WindowLane(self._cfg))
        names = ("filled", "accepted", "written", "read")
        m.d.comb += [getattr(part, name).eq(getattr(window, name)) for name in names]
        if writes_back(self._cfg):
            m.d.comb += part.evict.eq(window.evicting)
        return part

    def _watch(self, m: Module, windows: list) -> None:
        ports = range(self._cfg.ports)
        direct = ("room", "blocked", "collecting")
        per_window = ("stall_slot", "stall_evict", "stall_entry", "undispatched", "held", "filling", "dirty", "owed")
        per_window += ("evicting", "discard", "victim", "victim_transient")
        watched = {name: Cat(getattr(window, name) for window in windows) for name in direct}
        watched |= {name: Cat(window.events[name] for window in windows) for name in per_window}
        watched |= {name: any_of(window.events[name] for window in windows) for name in ("hit", "miss")}
        accepted = [Cat(window.accepted[port] for window in windows) for port in ports]
        watched["accepted"] = Cat(windows_of_port.any() for windows_of_port in accepted)
        for name in ("store", "bank_write", "drop", "late", "saved"):
            flags = Cat(window.events[name] for window in windows)
            watched[name] = Cat((windows_of_port & flags).any() for windows_of_port in accepted)
        classes = [window.events.write_class for window in windows]
        watched |= {f"class{port}": select(accepted[port], classes) for port in ports}
        m.d.comb += [getattr(self, name).eq(value) for name, value in watched.items()]
