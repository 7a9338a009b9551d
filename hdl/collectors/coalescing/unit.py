"""Collector unit whose sources a renaming table looks up one by one (docs/schemes/corf.md, section 9)."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, lowest_one, select
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.collectors.held import dispatched, hold
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.slices import WAY_OUT, way_out
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.coalescing import CoalescingConfig


class CoalescingUnit(wiring.Component):
    """Control of one collector unit; its operands are in the lanes. What happens in a cycle is seen from the next.

    Members (S: ``cfg.source_slots``)
    -------
    allocate, dispatch : In(1), beat : In(beat_layout(cfg)), wait_for, leaving : In(collectors)   A beat comes, or
                                 leaves; units that must dispatch before it; units that dispatch.
    follows : In(1)              As in :class:`hdl.collectors.units.unit.CollectorUnit`.
    looked_up : In(S)            Slots that the table serves; in the cycle of the allocation those of the beat.
    places, masks : In(ArrayLayout)   Places and slices of those that it served in the cycle before; 0 of others.
    mapped : In(S)               Whether these have slices; known before them, so that it chooses who asks.
    grant, fill : In(S)          The slot whose request is served, and the one whose row is there.
    occupied, holding, ready, lacking : Out(1)   It is not free; its beat is there; it may leave; it lacks an operand.
    locate : Out(S)              Slots that have yet to be looked up.
    zero : Out(S)                Slots that turn out to have no place.
    request, joined : Out(S)     The slot that asks its bank, and the one that would come with it, both one-hot.
    slot_places : Out(ArrayLayout)   Where requests go: of every slot the same place.
    joined_row, joined_mask : Out   Row and slices that come from another row than that; only with ``planes``.
    filled, join_filled, cleared : Out(S)   Slots that take what the first and the second unpacker give, and 0.
    unpack, join_unpack : Out(WAY_OUT)   Slices of the first and of the second one.
    unread, uncollected : Out(S)   Slots whose row has yet to be read; slots whose register must not be written.
    registers : Out(ArrayLayout)   Registers of the slots.
    port : Out(port_bits), out : Out(dispatch_layout(cfg))   The beat.
    kill : In(S)                 Of the beat that comes: registers that are dead. This and what follows only with
                                 ``gives.deaths``.
    shared : In(S), killed : In(S)   Some slot has yet to read the same register; the dead register is given back.
    kills, dead : Out(S)         Slots with a dead register; those of them that have no reader any more.
    dead_places, dead_masks : Out(ArrayLayout)   Where they are.
    """

    def __init__(self, cfg: CoalescingConfig) -> None:
        self._cfg = cfg
        slots, places = cfg.source_slots, places_layout(cfg, cfg.source_slots)
        masks = data.ArrayLayout(SLICES, slots)
        members: dict[str, wiring.Member] = {
            "beat": In(beat_layout(cfg)),
            **{name: In(1) for name in ("allocate", "follows", "dispatch")},
            **{name: In(cfg.collectors) for name in ("wait_for", "leaving")},
            **{name: In(slots) for name in ("looked_up", "mapped", "grant", "fill")},
            "places": In(places),
            "masks": In(masks),
            **{name: Out(1) for name in ("occupied", "holding", "ready", "lacking")},
            **{
                name: Out(slots) for name in ("locate", "zero", "request", "joined", "filled", "join_filled", "cleared")
            },
            **{name: Out(slots) for name in ("unread", "uncollected")},
            **{name: Out(WAY_OUT) for name in ("unpack", "join_unpack")},
            "slot_places": Out(places),
            "registers": Out(data.ArrayLayout(cfg.register_bits, slots)),
            "port": Out(cfg.port_bits),
            "out": Out(dispatch_layout(cfg)),
        }
        if cfg.coalescing == "planes":
            members |= {"joined_row": Out(cfg.row_bits), "joined_mask": Out(SLICES)}
        if cfg.gives.deaths:
            members |= {name: In(slots) for name in ("kill", "shared", "killed")}
            members |= {**{name: Out(slots) for name in ("kills", "dead")}, "dead_places": Out(places)}
            members["dead_masks"] = Out(masks)
        super().__init__(members)

    def elaborate(self, platform) -> Module:
        """Held beat; where its slots are; which two ask; which are filled; which are dead."""
        m = Module()
        self._missing, self._waits = Signal(self._cfg.source_slots, name="missing"), Signal(self._cfg.collectors)
        self._locate(m)
        self._ask(m)
        self._fill(m)
        kept = self._keep_dead(m) if self._cfg.gives.deaths else Const(0, 1)
        self._hold(m, kept)
        return m

    def _locate(self, m: Module) -> None:
        """Places and slices: from the table in the cycle after the look-up, then held."""
        cfg = self._cfg
        answered = Signal(cfg.source_slots, name="answered")
        m.d.sync += [answered.eq(self.looked_up), self.locate.eq(self.locate & ~self.looked_up)]
        self._places, self._masks, self._held_masks = [], [], []
        for slot in range(cfg.source_slots):
            entry = Cat(self.places[slot], self.masks[slot])
            held = Signal(len(entry), name=f"held_entry{slot}", reset_less=True)
            with m.If(answered[slot]):
                m.d.sync += held.eq(entry)
            # Without an answer the table gives 0: an OR is faster behind its late data than a multiplexer.
            known = named(m, f"entry{slot}", entry | (held & ~answered[slot].replicate(len(held))))
            self._places.append(data.View(location_layout(cfg), known[:-SLICES]))
            self._masks.append(known[-SLICES:])
            self._held_masks.append(held[-SLICES:])
        m.d.comb += self.zero.eq(answered & ~self.mapped)

    def _ask(self, m: Module) -> None:
        """The lowest slot that has yet to be read, and the lowest that joins it, once all places are known."""
        slots = range(self._cfg.source_slots)
        known = ~self.locate.any()
        wants = named(m, "wants", self.unread & ~self.zero & known.replicate(len(slots)))
        m.d.comb += self.request.eq(lowest_one(wants))
        joins = Cat(
            wants[slot] & any_of(self.request[lower] & self._fit(lower, slot) for lower in range(slot))
            for slot in slots
        )
        if self._cfg.coalescing != "none":
            m.d.comb += self.joined.eq(lowest_one(joins))
        self._address(m)

    def _fit(self, one: int, other: int) -> Value:
        """Whether one access can bring two slots."""
        ours, theirs = self._places[one], self._places[other]
        if self._cfg.coalescing == "planes":
            return (ours.bank == theirs.bank) & ~(self._masks[one] & self._masks[other]).any()
        return ours.as_value() == theirs.as_value()

    def _address(self, m: Module) -> None:
        """Places of the request, and with byte planes the other row."""
        place = named(m, "place", select(self.request, [place.as_value() for place in self._places]))
        if self._cfg.coalescing == "planes":
            m.d.comb += self.joined_row.eq(select(self.joined, [place.row for place in self._places]))
            m.d.comb += self.joined_mask.eq(select(self.joined, self._masks))
        m.d.comb += [target.eq(place) for target in self.slot_places]

    def _fill(self, m: Module) -> None:
        """What is there in this cycle: one row, for one slot or two, and zeros for slots without a place.

        A row comes a cycle behind its answer at the earliest. So the slices are held ones, and no late data unpack it.
        """
        granted = named(m, "granted", self.grant | (self.joined & self.grant.any().replicate(len(self.grant))))
        m.d.sync += [
            self.join_filled.eq(granted & ~self.grant),
            self.unread.eq(self.unread & ~granted & ~self.zero),
            self._missing.eq(self._missing & ~self.fill & ~self.join_filled & ~self.zero),
        ]
        m.d.comb += [
            self.filled.eq(self.fill),
            self.cleared.eq(self.zero),
            self.unpack.eq(way_out(named(m, "filled_mask", select(self.fill, self._held_masks)))),
            self.join_unpack.eq(way_out(named(m, "joined_slices", select(self.join_filled, self._held_masks)))),
        ]

    def _keep_dead(self, m: Module) -> Value:
        """Registers that are dead behind the beat, until they are given back. Returns whether one is left."""
        left = named(m, "left", self.kills & ~self.killed & ~self.zero)
        m.d.sync += self.kills.eq(left)
        with m.If(self.allocate):
            m.d.sync += self.kills.eq(self.kill)
        m.d.comb += [
            self.dead.eq(self.kills & ~self._missing & ~self.shared),
            self.dead_places.eq(Cat(place.as_value() for place in self._places)),
            self.dead_masks.eq(Cat(self._masks)),
        ]
        return left.any()

    def _hold(self, m: Module, kept: Value) -> None:
        """The beat, its order among units, and the unit itself, which stays until nothing dead is left in it."""
        draining = Signal(name="draining")
        m.d.sync += self._waits.eq(self._waits & ~self.leaving)
        with m.If(self.dispatch | draining):
            m.d.sync += [self.occupied.eq(kept), draining.eq(kept)]
        with m.If(self.allocate):
            m.d.sync += [
                self.occupied.eq(1),
                self.locate.eq(self.beat.source_valid & ~self.looked_up),
                self.unread.eq(self.beat.source_valid),
                self._missing.eq(self.beat.source_valid),
                self._waits.eq(self.wait_for),
            ]
        fields = {"port": (self.port, self.beat.port), "registers": (self.registers, self.beat.sources)}
        hold(m, self._cfg, "beat", self.follows, dispatched(self._cfg, self.out, self.beat) | fields)
        m.d.comb += [
            self.holding.eq(self.occupied & ~draining),
            self.lacking.eq(self._missing.any()),
            self.ready.eq(self.holding & ~self.lacking & ~self._waits.any()),
            self.uncollected.eq(self.unread | (self.kills if self._cfg.gives.deaths else 0)),
        ]
