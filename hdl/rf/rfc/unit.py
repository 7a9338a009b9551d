"""Collector unit that looks its sources up in the register cache before it asks the banks."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.rf.location import location_layout
from warpfile.hdl.rf.rfc.check import entry_bits
from warpfile.spec.schemes.rfc import DEAD, RfcConfig


class CachedUnit(wiring.Component):
    """Control of one collector unit; its operands are in the lanes (docs/schemes/rfc.md, section 3, steps 2, 4, 5).

    What happens in a cycle is seen from the next.

    Members
    -------
    allocate, beat, places, wait_for, leaving, grant, fill, dispatch   As in the baseline's unit.
    occupied, ready, uncollected, slot_places, registers, port, out    Likewise; ``uncollected`` is what the unit has
                                  neither been granted nor read from the cache.
    check : In(1), hits : In(source_slots), entries : In(ArrayLayout)   The sources are looked up now, with this result.
    read : In(1)                  The hits are read now.
    queued : In(source_slots)     The slot's row waits in its bank's queue.
    unchecked : Out(1)            The sources have yet to be looked up.
    unread : Out(source_slots), lines : Out(ArrayLayout)   Hits not read yet, and their lines.
    kills, hastens : Out(source_slots)   Hints: the source is not read again; not before the warp is suspended.
    request, interlock : Out(source_slots)   Slots that ask their bank, slots that wait for its queue.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        slots, places = cfg.source_slots, data.ArrayLayout(location_layout(cfg), cfg.source_slots)
        lines = data.ArrayLayout(entry_bits(cfg), slots)
        super().__init__(
            {
                "allocate": In(1),
                "beat": In(beat_layout(cfg)),
                "places": In(places),
                "wait_for": In(cfg.collectors),
                "leaving": In(cfg.collectors),
                **{name: In(1) for name in ("dispatch", "check", "read")},
                **{name: In(slots) for name in ("grant", "fill", "hits", "queued")},
                "entries": In(lines),
                **{name: Out(1) for name in ("occupied", "ready", "unchecked")},
                **{name: Out(slots) for name in ("uncollected", "unread", "kills", "hastens", "request", "interlock")},
                "slot_places": Out(places),
                "registers": Out(data.ArrayLayout(cfg.register_bits, slots)),
                "lines": Out(lines),
                "port": Out(2),
                "out": Out(dispatch_layout(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Held beat, per-slot progress, order among units."""
        m = Module()
        missing = Signal(self._cfg.source_slots)
        waits = Signal(self._cfg.collectors)
        read = self.unread & self.read.replicate(len(self.unread))
        m.d.sync += [
            self.uncollected.eq(self.uncollected & ~self.grant & ~read),
            missing.eq(missing & ~self.fill & ~read),
            self.unread.eq(self.unread & ~read),
            waits.eq(waits & ~self.leaving),
        ]
        with m.If(self.check):
            m.d.sync += [self.unchecked.eq(0), self.unread.eq(self.hits)]
        with m.If(self.dispatch):
            m.d.sync += self.occupied.eq(0)
        with m.If(self.allocate):
            m.d.sync += [
                self.occupied.eq(1),
                self.unchecked.eq(self.beat.source_valid.any()),
                self.uncollected.eq(self.beat.source_valid),
                missing.eq(self.beat.source_valid),
                waits.eq(self.wait_for),
            ]
        self._hold(m)
        self._ask(m)
        m.d.comb += self.ready.eq(self.occupied & ~missing.any() & ~waits.any())
        return m

    def _ask(self, m: Module) -> None:
        """Slots that missed; those whose value is still in the queue wait, and let the others ask."""
        missed = self.uncollected & ~self.unread & (~self.unchecked).replicate(len(self.unread))
        asking = lowest_one(missed) if self._cfg.collect == "lowest" else missed
        m.d.comb += [
            self.interlock.eq(asking & self.queued),
            self.request.eq(asking & ~self.queued),
        ]

    def _hold(self, m: Module) -> None:
        """Registers of the beat and of its check. Nobody looks at them while the unit is free: they need no reset."""
        beat, slots = self.beat, self._cfg.source_slots
        names = ("warp", "dest", "dest_count", "mask", "payload", "full")
        held = {name: (self.out[name], beat[name]) for name in names}
        held |= {
            "hints": (self.out.hints, beat.hints[: self._cfg.result_hint_bits]),
            "port": (self.port, beat.port),
            "registers": (self.registers, beat.sources),
            "places": (self.slot_places, self.places),
            "kills": (self.kills, beat.hints[DEAD : DEAD + slots] & beat.converged.replicate(slots)),
            "hastens": (self.hastens, beat.hints[DEAD + slots : DEAD + 2 * slots]),
        }
        for name, (target, value) in held.items():
            self._register(m, name, target, value, self.allocate)
        if self._cfg.cache_entries:
            self._register(m, "lines", self.lines, self.entries, self.check)

    def _register(self, m: Module, name: str, target: Value, value: Value, enable: Value) -> None:
        register = Signal(len(Value.cast(target)), name=f"held_{name}", reset_less=True)
        m.d.comb += Value.cast(target).eq(register)
        with m.If(enable):
            m.d.sync += register.eq(value)
