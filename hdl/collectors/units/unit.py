"""Operand collector unit: gathers the source registers of one beat."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.collectors.held import dispatched, hold, hold_places
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import offered_layout, places_layout
from warpfile.spec.config import Config


class CollectorUnit(wiring.Component):
    """Control of one collector unit; its operands are in the lanes (:class:`CollectorLane`).

    Allocation, grants and fills change what is seen from the next cycle (docs/machine.md, section 5).

    Members
    -------
    allocate : In(1), beat : In(beat_layout(cfg)), places : In(ArrayLayout)   A beat, and where its sources live, by
                                  :func:`hdl.rf.layouts.offered_layout`.
    follows : In(1)               The unit is free and takes the next beat that needs one. It keeps whatever is on
                                  ``beat`` and ``places``, which come long before ``allocate``.
    wait_for : In(collectors)     Units that must dispatch before this one; taken at allocation.
    leaving : In(collectors)      Units that dispatch in this cycle.
    grant, fill : In(slots)       Slots that their bank serves, and slots whose data are there.
    dispatch : In(1)              The beat leaves.
    occupied, ready : Out(1)      It holds a beat; all operands of the beat are there.
    lacking : Out(1)              A source slot of its beat is not filled.
    request : Out(slots)          Slots that ask their bank in this cycle.
    uncollected : Out(slots)      Slots not granted yet.
    slot_places, registers : Out(ArrayLayout)   Where the sources live, and their registers.
    port : Out(port_bits), out : Out(dispatch_layout(cfg))   The beat, and the execution port that it goes to.
    near : In(slots), refs : In(ArrayLayout)   Of the beat's sources, those that are near, and names of copies; this and
                                  the next line only where something can be near.
    unread : Out(slots), slot_refs : Out(ArrayLayout)   The near sources in the cycle after the allocation, in which
                                  they are read and count as not granted; names of the copies.
    bring : In(slots), bringing : Out(slots), turn : In(slots)   Of the beat's sources, those to be copied; which of
                                  them would ask in this cycle, which one does; only with ``gives.brings``.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots, near, brings = cfg.source_slots, {}, {}
        if cfg.gives.near_bits:
            refs = data.ArrayLayout(cfg.gives.near_bits, slots)
            near = {"near": In(slots), "refs": In(refs), "unread": Out(slots), "slot_refs": Out(refs)}
        if cfg.gives.brings:
            brings = {"bring": In(slots), "bringing": Out(slots), "turn": In(slots)}
        super().__init__(
            {
                "allocate": In(1),
                "follows": In(1),
                "beat": In(beat_layout(cfg)),
                "places": In(data.ArrayLayout(offered_layout(cfg), slots)),
                "wait_for": In(cfg.collectors),
                "leaving": In(cfg.collectors),
                "grant": In(slots),
                "fill": In(slots),
                "dispatch": In(1),
                "occupied": Out(1),
                "lacking": Out(1),
                "ready": Out(1),
                "request": Out(slots),
                "uncollected": Out(slots),
                "slot_places": Out(places_layout(cfg, slots)),
                "registers": Out(data.ArrayLayout(cfg.register_bits, slots)),
                "port": Out(cfg.port_bits),
                "out": Out(dispatch_layout(cfg)),
                **near,
                **brings,
            }
        )

    def elaborate(self, platform) -> Module:
        """Held beat, per-slot progress, order among units."""
        m = Module()
        missing = Signal(self._cfg.source_slots)
        waits = Signal(self._cfg.collectors)
        granted, filled = self.grant, self.fill
        if self._cfg.gives.near_bits:
            granted, filled = granted | self.unread, filled | self.unread
            m.d.sync += self.unread.eq(0)
        m.d.sync += [
            self.uncollected.eq(self.uncollected & ~granted),
            missing.eq(missing & ~filled),
            waits.eq(waits & ~self.leaving),
        ]
        with m.If(self.dispatch):
            m.d.sync += self.occupied.eq(0)
        with m.If(self.allocate):
            m.d.sync += [
                self.occupied.eq(1),
                self.uncollected.eq(self.beat.source_valid),
                missing.eq(self.beat.source_valid),
                waits.eq(self.wait_for),
            ]
            m.d.sync += [self.unread.eq(self.near)] if self._cfg.gives.near_bits else []
        copied = Signal(self._cfg.source_slots)
        self._hold(m, copied)
        self._ask(m, copied)
        m.d.comb += [
            self.lacking.eq(missing.any()),
            self.ready.eq(self.occupied & ~self.lacking & ~waits.any()),
        ]
        return m

    def _hold(self, m: Module, copied: Value) -> None:
        """The beat, where its sources live, what is near of them, and in ``copied`` those to be copied."""
        fields = {"port": (self.port, self.beat.port), "registers": (self.registers, self.beat.sources)}
        if self._cfg.gives.near_bits:
            fields["refs"] = (self.slot_refs, self.refs)
        if self._cfg.gives.brings:
            fields["bring"] = (copied, self.bring)
        hold(m, self._cfg, "beat", self.follows, fields | dispatched(self._cfg, self.out, self.beat))
        hold_places(m, self._cfg, self.follows, self.places, self.slot_places)

    def _ask(self, m: Module, copied: Value) -> None:
        """Slots that are neither granted nor near; of those that are copied only the one whose turn it is."""
        asking = self.uncollected & ~self.unread if self._cfg.gives.near_bits else self.uncollected
        asking = lowest_one(asking) if self._cfg.collect == "lowest" else asking
        if self._cfg.gives.brings:
            asking = named(m, "asking", asking)
            m.d.comb += self.bringing.eq(asking & copied)
            asking = (asking & ~copied) | self.turn
        m.d.comb += self.request.eq(asking)
