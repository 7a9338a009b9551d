"""Collector unit whose sources the register file looks up after it was allocated."""

from amaranth import Const, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.collectors.held import dispatched, hold
from warpfile.hdl.rf.layouts import places_layout
from warpfile.spec.config import Config


class CheckedUnit(wiring.Component):
    """Control of one collector unit; its operands are in the lanes (docs/slots/rf.md, "Place later").

    What happens in a cycle is seen from the next.

    Members
    -------
    allocate, follows, beat, wait_for, leaving   As in :class:`hdl.collectors.units.unit.CollectorUnit`.
    grant, fill, dispatch         Likewise.
    occupied, ready, lacking, uncollected, slot_places, registers, port, out   Likewise; ``uncollected`` is what the
                                  unit has neither been granted nor read nearby.
    check : In(1), places : In(ArrayLayout)   The sources are looked up now, and are there.
    unchecked : Out(1)            The sources have yet to be looked up.
    unwritten : In(source_slots)  The slot's row has yet to be written.
    request, interlock : Out(source_slots)   Slots that ask their bank, slots that wait until it has their row.
    hits : In(source_slots), refs : In(ArrayLayout)   Of the sources that are looked up, those that are near, and the
                                  names of their copies. This and what follows only where something can be near.
    read : In(1)                  The near sources are read now.
    unread : Out(source_slots), slot_refs : Out(ArrayLayout)   Near sources not read yet, and their copies.
    note : In(note_bits), slot_note : Out(note_bits)   What the register file notes of the beat; only if it does.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots, gives, places = cfg.source_slots, cfg.gives, places_layout(cfg, cfg.source_slots)
        members = {
            "beat": In(beat_layout(cfg)),
            "places": In(places),
            **{name: In(cfg.collectors) for name in ("wait_for", "leaving")},
            **{name: In(1) for name in ("allocate", "follows", "dispatch", "check")},
            **{name: In(slots) for name in ("grant", "fill", "unwritten")},
            **{name: Out(1) for name in ("occupied", "ready", "lacking", "unchecked")},
            **{name: Out(slots) for name in ("uncollected", "request", "interlock")},
            "slot_places": Out(places),
            "registers": Out(data.ArrayLayout(cfg.register_bits, slots)),
            "port": Out(cfg.port_bits),
            "out": Out(dispatch_layout(cfg)),
        }
        if gives.near_bits:
            refs = data.ArrayLayout(gives.near_bits, slots)
            members |= {"hits": In(slots), "refs": In(refs), "read": In(1)}
            members |= {"unread": Out(slots), "slot_refs": Out(refs)}
        if gives.note_bits:
            members |= {"note": In(gives.note_bits), "slot_note": Out(gives.note_bits)}
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Held beat, per-slot progress, order among units."""
        m = Module()
        near = self._cfg.gives.near_bits
        missing, waits = Signal(self._cfg.source_slots), Signal(self._cfg.collectors)
        read = self.unread & self.read.replicate(len(self.unread)) if near else Const(0, len(missing))
        m.d.sync += [
            self.uncollected.eq(self.uncollected & ~self.grant & ~read),
            missing.eq(missing & ~self.fill & ~read),
            waits.eq(waits & ~self.leaving),
        ]
        with m.If(self.check):
            m.d.sync += self.unchecked.eq(0)
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
        if near:
            m.d.sync += self.unread.eq(self.unread & ~read)
            with m.If(self.check):
                m.d.sync += self.unread.eq(self.hits)
        self._hold(m)
        self._ask(m)
        m.d.comb += [
            self.lacking.eq(missing.any()),
            self.ready.eq(self.occupied & ~self.lacking & ~waits.any()),
        ]
        return m

    def _ask(self, m: Module) -> None:
        """Slots that missed; those whose row is not written yet wait, and let the others ask."""
        missed = self.uncollected & (~self.unchecked).replicate(len(self.uncollected))
        if self._cfg.gives.near_bits:
            missed = missed & ~self.unread
        asking = lowest_one(missed) if self._cfg.collect == "lowest" else missed
        m.d.comb += [
            self.interlock.eq(asking & self.unwritten),
            self.request.eq(asking & ~self.unwritten),
        ]

    def _hold(self, m: Module) -> None:
        """Of the beat, and of its look-up."""
        fields = {"port": (self.port, self.beat.port), "registers": (self.registers, self.beat.sources)}
        found = {"places": (self.slot_places, self.places)}
        if self._cfg.gives.note_bits:
            fields["note"] = (self.slot_note, self.note)
        if self._cfg.gives.near_bits:
            found["refs"] = (self.slot_refs, self.refs)
        hold(m, self._cfg, "beat", self.follows, dispatched(self._cfg, self.out, self.beat) | fields)
        hold(m, self._cfg, "found", self.check, found)
