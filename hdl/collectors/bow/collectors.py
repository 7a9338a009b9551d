"""Operand windows, one per warp, instead of collector units (docs/schemes/bow.md)."""

from amaranth import Cat, Const, Module, Mux
from amaranth.lib import wiring

from warpfile.hdl.arbiter import RoundRobin, any_of, decode, encode, select
from warpfile.hdl.collectors.bow.lane import WindowLane
from warpfile.hdl.collectors.bow.ports import hinted, writes_back
from warpfile.hdl.collectors.bow.window import Window
from warpfile.hdl.collectors.contract import collector_members
from warpfile.hdl.collectors.dispatch import dispatch_units
from warpfile.hdl.collectors.dispatch_lane import DispatchLane, join_lanes
from warpfile.hdl.naming import named
from warpfile.hdl.probe import with_probes
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.bow import BowConfig, window_probes


class Windows(wiring.Component):
    """A window per warp takes its beats and, of its results, those that it needs.

    Ports: :func:`collector_members` and :func:`window_probes`. They prefer no warp, and refuse a beat whose entries a
    result takes in the same cycle. Every window looks up the register of the entry that asks its bank and, where
    windows write back, of the entry that it evicts.
    """

    def __init__(self, cfg: BowConfig) -> None:
        self._cfg = cfg
        super().__init__(with_probes(collector_members(cfg), window_probes(cfg)))

    def elaborate(self, platform) -> Module:
        """Windows, dispatch, and the ways to the register file."""
        m = Module()
        windows = [stamp(m, f"window{warp}", "window", lambda: Window(self._cfg)) for warp in range(self._cfg.warps)]
        self._enter(m, windows)
        self._results(m, windows)
        self._requests(m, windows)
        if self._cfg.asks.evicts:
            self._give_back(m, windows)
        elif writes_back(self._cfg):
            self._evictions(m, windows)
        leaving = dispatch_units(m, self._cfg, self, windows, Const(0, len(windows) ** 2))
        m.d.comb += [window.dispatch.eq(leaving[number]) for number, window in enumerate(windows)]
        self._lanes(m, windows)
        self._watch(m, windows)
        return m

    def _enter(self, m: Module, windows: list) -> None:
        fits = [Mux(window.accepted, window.fits_after, window.fits) for window in windows]
        m.d.comb += [
            self.accept.eq((self.offer_warp & Cat(fits)).any()),
            self.refused.eq(self.offer_valid & ~self.accept),
        ]
        for warp, window in enumerate(windows):
            m.d.comb += [
                window.index.eq(warp),
                window.head.eq(self.heads[warp]),
                window.buffered.eq(self.buffered[warp]),
                window.running.eq(self.clear[warp] & ~self.waiting[warp]),
                window.offered.eq(self.offer_warp[warp]),
            ]

    def _results(self, m: Module, windows: list) -> None:
        """A window chooses among the results of its warp; of those that need it a bank chooses the highest port."""
        for port in range(self._cfg.write_ports):
            result = self.result[port]
            warp = named(m, f"result{port}_warp", decode(result.payload.warp, len(windows)))
            in_place = ~self.result_store[port] | self.result_accept[port]
            taken = any_of(window.considered[port] for window in windows) | (result.valid & ~result.payload.writes)
            m.d.comb += [
                self.result_valid[port].eq(taken),
                self.result_store[port].eq(any_of(window.bank_request[port] for window in windows)),
                result.ready.eq(
                    (any_of(window.considered[port] for window in windows) & in_place) | ~result.payload.writes
                ),
            ]
            for number, window in enumerate(windows):
                m.d.comb += [
                    window.results[port].eq(result.valid & result.payload.writes & warp[number]),
                    window.full[port].eq(result.payload.full),
                    window.registers[port].eq(result.payload.register),
                ]
                if hinted(self._cfg):
                    at = self._cfg.hint_at("write_class")
                    m.d.comb += window.classes[port].eq(result.payload.hints[at : at + 2])
        for window in windows:
            taken = (window.considered & self.result_accept).any()
            m.d.comb += window.accepted.eq((window.considered & ~window.bank_request).any() | taken)

    def _requests(self, m: Module, windows: list) -> None:
        m.d.comb += [
            self.request.eq(Cat(window.request for window in windows)),
            self.requests.eq(self.request),
        ]
        for number, window in enumerate(windows):
            (self._locate if self._cfg.gives.renamed else self._place)(m, number, window)
            m.d.comb += window.fill.eq(self.fill[number])
        if self._cfg.gives.renamed:
            self._order(m, len(windows))

    def _place(self, m: Module, number: int, window: wiring.PureInterface) -> None:
        lookups = self._cfg.asks.lookups
        m.d.comb += [
            self.lookup_registers[number * lookups].eq(window.request_register),
            self.request_places[number].eq(self.lookup_places[number * lookups]),
            window.grant.eq(self.grant[number]),
            window.cycles.eq(self.cycles[number]),
        ]

    def _locate(self, m: Module, number: int, window: wiring.PureInterface) -> None:
        m.d.comb += [
            self.locate[number].eq(window.locate),
            self.locate_warps[number].eq(number),
            self.locate_registers[number].eq(window.locate_register),
            window.looked_up.eq(self.looked_up[number]),
            window.located.eq(self.located_places[number]),
            window.located_mask.eq(self.located_masks[number]),
            self.request_places[number].eq(window.request_place),
            window.grant.eq(self.grant[number]),
        ]
        if self._cfg.sizes_entries:
            m.d.comb += window.sizes.eq(self.result_sizes)

    def _order(self, m: Module, count: int) -> None:
        """The table serves lower windows first."""
        older = (one < other for one in range(count) for other in range(count))
        m.d.comb += self.older.eq(Cat(Const(first, 1) for first in older))

    def _give_back(self, m: Module, windows: list) -> None:
        """One window in turn shows the file the entry that leaves it."""
        m.submodules.evictions = turns = RoundRobin(len(windows))
        m.d.comb += [
            self.evict.eq(Cat(window.evict for window in windows)),
            turns.requests.eq(self.evict),
            turns.taken.eq(self.evict_ready),
            self.evicted.eq(turns.grant & self.evict_ready.replicate(len(windows))),
            self.evict_valid.eq(self.evict.any()),
            self.evict_warp.eq(encode(turns.grant, self._cfg.warp_bits)),
            self.evict_register.eq(select(turns.grant, [window.evict_register for window in windows])),
            *(window.evicted.eq(self.evicted[number]) for number, window in enumerate(windows)),
        ]
        if self._cfg.sizes_entries:
            m.d.comb += self.evict_size.eq(select(turns.grant, [window.evict_size for window in windows]))
        self._leaving = turns.grant

    def _evictions(self, m: Module, windows: list) -> None:
        lookups = self._cfg.asks.lookups
        m.d.comb += [
            self.evict.eq(Cat(window.evict for window in windows)),
            self.evicted.eq(self.engine_grant),
            self.engine_valid.eq(self.evict),
        ]
        for number, window in enumerate(windows):
            m.d.comb += [
                self.lookup_registers[number * lookups + 1].eq(window.evict_register),
                self.engine_places[number].eq(self.lookup_places[number * lookups + 1]),
                window.evicted.eq(self.engine_grant[number]),
            ]

    def _lanes(self, m: Module, windows: list) -> None:
        cfg, ports = self._cfg, range(self._cfg.write_ports)
        chosen, leaving = Cat(self.chosen), []
        for lane in range(cfg.lanes):
            out = stamp(m, f"dispatch_lane{lane}", "dispatch_lane", lambda: DispatchLane(cfg), clocked=False)
            parts = [self._lane(m, lane, warp, window) for warp, window in enumerate(windows)]
            results = Cat(self.result_data[port].word_select(lane, 32) for port in ports)
            enables = Cat(self.result[port].payload.mask[lane] for port in ports)
            for warp, part in enumerate(parts):
                fill = self.fill_data[lane].word_select(warp, 32)
                m.d.comb += [part.results.eq(results), part.enables.eq(enables), part.fill.eq(fill)]
            m.d.comb += [out.units.eq(Cat(part.operands for part in parts)), out.chosen.eq(chosen)]
            if cfg.asks.evicts:
                m.d.comb += self.evict_data[lane].eq(select(self._leaving, [part.evicted for part in parts]))
            elif writes_back(cfg):
                m.d.comb += self.engine_data[lane].eq(Cat(part.evicted for part in parts))
            leaving.append(out.operands)
        join_lanes(m, cfg, self, leaving)

    def _lane(self, m: Module, lane: int, warp: int, window: wiring.PureInterface) -> wiring.PureInterface:
        part = stamp(m, f"window{warp}_lane{lane}", "window_lane", lambda: WindowLane(self._cfg))
        names = ("filled", "considered", "written", "accepted", "read")
        m.d.comb += [getattr(part, name).eq(getattr(window, name)) for name in names]
        if writes_back(self._cfg):
            m.d.comb += part.evict.eq(window.evicting)
        if self._cfg.gives.renamed:
            m.d.comb += part.way.eq(window.way)
        return part

    def _watch(self, m: Module, windows: list) -> None:
        ports = range(self._cfg.write_ports)
        direct = ("room", "blocked", "collecting")
        per_window = ("stall_slot", "stall_evict", "stall_entry", "undispatched", "held", "filling", "dirty", "owed")
        per_window += ("lacking", "evicting", "discard", "victim", "victim_transient")
        watched = {name: Cat(getattr(window, name) for window in windows) for name in direct}
        watched |= {name: Cat(window.events[name] for window in windows) for name in per_window}
        watched |= {name: any_of(window.events[name] for window in windows) for name in ("hit", "miss")}
        accepted = [Cat(window.considered[port] & window.accepted for window in windows) for port in ports]
        watched["accepted"] = Cat(windows_of_port.any() for windows_of_port in accepted)
        for name in ("store", "bank_write", "drop", "late", "saved"):
            flags = Cat(window.events[name] for window in windows)
            watched[name] = Cat((windows_of_port & flags).any() for windows_of_port in accepted)
        classes = [window.events.write_class for window in windows]
        watched |= {f"class{port}": select(accepted[port], classes) for port in ports}
        if self._cfg.gives.renamed:
            watched |= {"look_up": self.looked_up, "look_up_wait": self.locate & ~self.looked_up}
            watched["zero"] = Cat(window.zero for window in windows)
        if self._cfg.sizes_entries:
            watched["entry_size"] = Cat(window.events.entry_size for window in windows)
        m.d.comb += [getattr(self, name).eq(value) for name, value in watched.items()]
