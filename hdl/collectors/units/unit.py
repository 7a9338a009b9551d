"""Operand collector unit: gathers the source registers of one beat."""

from amaranth import Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, select
from warpfile.hdl.beat import beat_layout, dispatch_layout
from warpfile.hdl.rf.location import location_layout
from warpfile.spec.config import Config


class CollectorUnit(wiring.Component):
    """Control of one collector unit; its operands are in the lanes (:class:`CollectorLane`).

    Allocation, grants and fills change what is seen from the next cycle (docs/machine.md, section 5).

    Members
    -------
    allocate : In(1), beat : In(beat_layout(cfg)), places : In(ArrayLayout)
    wait_for : In(collectors)     Units that must dispatch before this one; taken at allocation.
    leaving : In(collectors)      Units that dispatch in this cycle.
    grant, fill : In(slots)
    dispatch : In(1)
    occupied, ready : Out(1)
    request : Out(slots)          Slots that ask their bank in this cycle.
    uncollected : Out(slots)      Slots not granted yet.
    slot_places, registers : Out(ArrayLayout)
    port : Out(2), out : Out(dispatch_layout(cfg))
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots, places = cfg.source_slots, data.ArrayLayout(location_layout(cfg), cfg.source_slots)
        super().__init__(
            {
                "allocate": In(1),
                "beat": In(beat_layout(cfg)),
                "places": In(places),
                "wait_for": In(cfg.collectors),
                "leaving": In(cfg.collectors),
                "grant": In(slots),
                "fill": In(slots),
                "dispatch": In(1),
                "occupied": Out(1),
                "ready": Out(1),
                "request": Out(slots),
                "uncollected": Out(slots),
                "slot_places": Out(places),
                "registers": Out(data.ArrayLayout(cfg.register_bits, slots)),
                "port": Out(2),
                "out": Out(dispatch_layout(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Held beat, per-slot progress, order among units."""
        m = Module()
        missing = Signal(self._cfg.source_slots)
        waits = Signal(self._cfg.collectors)
        m.d.sync += [
            self.uncollected.eq(self.uncollected & ~self.grant),
            missing.eq(missing & ~self.fill),
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
        self._hold(m)
        lowest = self._cfg.collect == "lowest"
        m.d.comb += [
            self.request.eq(lowest_one(self.uncollected) if lowest else self.uncollected),
            self.ready.eq(self.occupied & ~missing.any() & ~waits.any()),
        ]
        return m

    def _hold(self, m: Module) -> None:
        """Registers of the beat. Nobody looks at them while the unit is free, so they need no reset."""
        beat = self.beat
        held = {name: (self.out[name], beat[name]) for name in ("warp", "dest", "dest_count", "mask", "payload")}
        held |= {"port": (self.port, beat.port), "registers": (self.registers, beat.sources)}
        held["places"] = (self.slot_places, self.places)
        for name, (target, value) in held.items():
            register = Signal(len(Value.cast(target)), name=f"held_{name}", reset_less=True)
            m.d.comb += Value.cast(target).eq(register)
            with m.If(self.allocate):
                m.d.sync += register.eq(value)


class CollectorLane(wiring.Component):
    """One lane of the operands of all collector units, and of the way to the execution ports.

    Members
    -------
    inputs : In(32 * inputs)             From the crossbar: one word per unit, or one per slot (``collect`` = ``all``).
    fill : In(collectors * slots)        Slots that take their unit's word at the end of the cycle.
    chosen : In(ports * collectors)      Unit presented on each port, one-hot.
    operands : Out(32 * slots * ports)   Port-major, then slot.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        slots = cfg.collectors * cfg.source_slots
        inputs = slots if cfg.collect == "all" else cfg.collectors
        super().__init__(
            {
                "inputs": In(32 * inputs),
                "fill": In(slots),
                "chosen": In(cfg.ports * cfg.collectors),
                "operands": Out(32 * cfg.source_slots * cfg.ports),
            }
        )

    def elaborate(self, platform) -> Module:
        """Operand registers, then one AND-OR multiplexer per port and slot."""
        m = Module()
        cfg = self._cfg
        words = [
            Signal(32, name=f"unit{unit}_slot{slot}", reset_less=True)
            for unit in range(cfg.collectors)
            for slot in range(cfg.source_slots)
        ]
        for index, word in enumerate(words):
            with m.If(self.fill[index]):
                m.d.sync += word.eq(
                    self.inputs.word_select(index if cfg.collect == "all" else index // cfg.source_slots, 32)
                )
        for port in range(cfg.ports):
            chosen = self.chosen.word_select(port, cfg.collectors)
            for slot in range(cfg.source_slots):
                operand = self.operands.word_select(port * cfg.source_slots + slot, 32)
                m.d.comb += operand.eq(select(chosen, words[slot :: cfg.source_slots]))
        return m
