"""Operand collector unit whose near slots wait for results and keep their operands."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, lowest_one
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.collectors.held import dispatched, hold, hold_places
from warpfile.hdl.collectors.sticky.slot import KeptSlot, view_layout
from warpfile.hdl.rf.layouts import offered_layout, places_layout
from warpfile.hdl.stamp import stamp
from warpfile.spec.schemes.sticky import StickyConfig

#: What every near slot is told, and what it says, under the same names.
TOLD, SAID = ("head", "stays"), ("hit", "kept", "overwritten", "keeper", "owner")


def _keeping(cfg: StickyConfig) -> dict[str, wiring.Member]:
    near = cfg.near_slots
    return {
        "offered": In(cfg.warps),
        "head": In(data.ArrayLayout(view_layout(cfg), near)),
        "stays": In(near),
        **{name: Out(near) for name in ("hit", "kept", "overwritten")},
        "keeper": Out(data.ArrayLayout(cfg.warps, near)),
        "owner": Out(data.ArrayLayout(cfg.warp_bits, near)),
        "fits": Out(cfg.warps),
    }


def _forwarding(cfg: StickyConfig) -> dict[str, wiring.Member]:
    near = cfg.near_slots
    return {
        "expects": In(near),
        "shows": In(1),
        "arrives": In(1),
        "result_warp": In(cfg.warp_bits),
        "result_register": In(cfg.register_bits),
        **{name: Out(near) for name in ("awaiting", "awaited", "forward")},
        "marks": Out(1),
    }


class StickyUnit(wiring.Component):
    """Control of one collector unit; its operands are in the lanes (:class:`StickyLane`).

    What happens in a cycle is seen from the next.

    Members (F: ``cfg.near_slots``)
    -------
    allocate : In(1), beat : In(beat_layout(cfg)), places : In(ArrayLayout)   A beat, and where its sources live, as in
                                  :class:`hdl.collectors.units.unit.CollectorUnit`.
    wait_for : In(collectors)     Units that must dispatch before this one; taken at allocation.
    leaving : In(collectors)      Units that dispatch in this cycle.
    grant, fill : In(slots)       Slots that their bank serves, and slots whose data are there.
    dispatch : In(1)              The beat leaves.
    follows : In(1)               The unit is free. It keeps whatever is on ``beat`` and ``places``, but for the
                                  registers of near slots that keep their operands.
    occupied, ready : Out(1)      It holds a beat; all operands of the beat are there.
    lacking : Out(1)              A source slot of its beat is not filled.
    request : Out(slots)          Slots that ask their bank in this cycle.
    uncollected : Out(slots)      Slots not granted yet, also those that await, and none that hit.
    slot_places, registers : Out(ArrayLayout)   Where the sources live, and their registers.
    port : Out(port_bits), out : Out(dispatch_layout(cfg))   The beat, and the execution port that it goes to.
    offered : In(warps)           Warp of the beat that issues; this and all lines to ``fits`` with ``keep_operands``.
    head : In(ArrayLayout), stays : In(F)   As in :class:`KeptSlot`, per near slot.
    hit, kept, overwritten : Out(F), keeper, owner : Out(ArrayLayout)   Likewise. A slot that hits asks for nothing.
    fits : Out(warps)             Warps whose head beat finds a source in its slot.
    expects : In(F)               Sources of the offered beat that wait for a result; this and all lines below with
                                  ``forward_results``.
    shows : In(1)                 The port that forwards shows a result with a register.
    arrives : In(1)               It is accepted; late.
    result_warp : In(warp_bits), result_register : In(register_bits)   Of the result that forwards.
    awaiting : Out(F)             Slots that wait for a result.
    awaited : Out(F)              Slots that wait for the result that is shown. They may take its word at once, because
                                  nothing reads a slot that waits.
    forward : Out(F)              Those whose wait ends: the result is accepted.
    marks : Out(1)                Results of the beat are coming when it has left by a port that forwards.
    """

    def __init__(self, cfg: StickyConfig) -> None:
        self._cfg = cfg
        slots, units = cfg.source_slots, cfg.collectors
        super().__init__(
            {
                **{name: In(1) for name in ("allocate", "follows", "dispatch")},
                "beat": In(beat_layout(cfg)),
                "places": In(data.ArrayLayout(offered_layout(cfg), slots)),
                **{name: In(units) for name in ("wait_for", "leaving")},
                **{name: In(slots) for name in ("grant", "fill")},
                **{name: Out(1) for name in ("occupied", "lacking", "ready")},
                **{name: Out(slots) for name in ("request", "uncollected")},
                "slot_places": Out(places_layout(cfg, slots)),
                "registers": Out(data.ArrayLayout(cfg.register_bits, slots)),
                "port": Out(cfg.port_bits),
                "out": Out(dispatch_layout(cfg)),
                **(_keeping(cfg) if cfg.keeps_operands else {}),
                **(_forwarding(cfg) if cfg.forwards else {}),
            }
        )

    def elaborate(self, platform) -> Module:
        """Held beat, tags, progress of every slot, order among units."""
        m = Module()
        missing, waits = Signal(self._cfg.source_slots, name="missing"), Signal(self._cfg.collectors, name="waits")
        hit = self._tags(m) if self._cfg.keeps_operands else Const(0, self._cfg.source_slots)
        self._hold(m)
        taken, awaiting = self._await(m) if self._cfg.forwards else (Const(0, 1), Const(0, self._cfg.source_slots))
        m.d.sync += [
            self.uncollected.eq(self.uncollected & ~(self.grant | taken)),
            missing.eq(missing & ~(self.fill | taken)),
            waits.eq(waits & ~self.leaving),
        ]
        with m.If(self.dispatch):
            m.d.sync += self.occupied.eq(0)
        with m.If(self.allocate):
            lacks = self.beat.source_valid & ~hit
            m.d.sync += [self.occupied.eq(1), self.uncollected.eq(lacks), missing.eq(lacks), waits.eq(self.wait_for)]
        asking = self.uncollected & ~awaiting
        m.d.comb += [
            self.request.eq(lowest_one(asking) if self._cfg.collect == "lowest" else asking),
            self.lacking.eq(missing.any()),
            self.ready.eq(self.occupied & ~self.lacking & ~waits.any()),
        ]
        return m

    def _of_all(self, near: Value) -> Value:
        """A bit per slot from one per near slot."""
        return Cat(near, Const(0, self._cfg.source_slots - self._cfg.near_slots))

    def _tags(self, m: Module) -> Value:
        """Near slots with their tags. Returns the slots that hit."""
        fits = []
        for number in range(self._cfg.near_slots):
            slot = stamp(m, f"slot{number}", "kept_slot", lambda: KeptSlot(self._cfg))
            m.d.comb += [
                slot.offered.eq(self.offered),
                slot.replaces.eq(self.allocate & self.beat.source_valid[number]),
                slot.warp.eq(self.beat.warp),
                slot.source.eq(self.beat.sources[number]),
                *(getattr(slot, name).eq(getattr(self, name)[number]) for name in TOLD),
                *(getattr(self, name)[number].eq(getattr(slot, name)) for name in SAID),
                self.registers[number].eq(slot.name),
            ]
            fits.append(slot.fits)
        m.d.comb += self.fits.eq(any_of(fits))
        return self._of_all(self.hit)

    def _await(self, m: Module) -> tuple[Value, Value]:
        """Near slots that wait for a result. Returns the slots that take one, and those that await."""
        near = list(self.registers)[: self._cfg.near_slots]
        mine = self.out.warp == self.result_warp
        same = self.awaiting & Cat(mine & (register == self.result_register) for register in near)
        m.d.comb += [
            self.awaited.eq(same & self.shows.replicate(len(near))),
            self.forward.eq(same & self.arrives.replicate(len(near))),
        ]
        m.d.sync += self.awaiting.eq(self.awaiting & ~self.forward)
        with m.If(self.allocate):
            m.d.sync += self.awaiting.eq(self.expects)
        return self._of_all(self.forward), self._of_all(self.awaiting)

    def _hold(self, m: Module) -> None:
        """The beat, where its sources live, and the registers that are no tags."""
        fields = {"port": (self.port, self.beat.port), **dispatched(self._cfg, self.out, self.beat)}
        first = self._cfg.near_slots if self._cfg.keeps_operands else 0
        if first < self._cfg.source_slots:
            fields["registers"] = Cat(*list(self.registers)[first:]), Cat(*list(self.beat.sources)[first:])
        if self._cfg.forwards:
            full = self.out.full if "full" in fields else Signal(name="full")  # some files want it of the result
            fields["full"] = full, self.beat.full
            m.d.comb += self.marks.eq(full & self.out.dest_count.any())
        hold(m, self._cfg, "beat", self.follows, fields)
        hold_places(m, self._cfg, self.follows, self.places, self.slot_places)
