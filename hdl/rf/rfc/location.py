"""Where the registers live that a machine with a register cache looks up in a cycle."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.beat import launch_layout
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.digits import place_digits
from warpfile.hdl.rf.layouts import location_layout, places_layout
from warpfile.hdl.rf.location import base_table, look_up, of_warp
from warpfile.spec.schemes.rfc import RfcConfig

#: Registers that are looked up for the queues.
LOOK_UPS = ("short", "victim", "long", "flush")
#: Whether the queues of the short result and of its victim are full.
FULL = ("short_full", "victim_full")


class CacheLocation(wiring.Component):
    """Base of every warp, and the lookups of a cycle: sources of the unit that asks, and what each writer sends.

    As :class:`hdl.rf.location.Location`, but every writer has a look-up of its own. Those of registers that may be in
    lines go by the scheduler's place of their warp, whose base is kept beside it: from the second cycle on that the
    warp has its place, and nothing of it can be in a line before. Between two warps a place is empty for a cycle.

    Members
    -------
    launch_valid : In(1), launch : In(launch_layout(cfg))   A warp that is resident from the next cycle.
    check_warp : In(warp_bits), check_registers : In(ArrayLayout), check_places : Out(ArrayLayout)   Per source slot.
    places : In(ArrayLayout)             Warps of the scheduler's places, one-hot.
    short_owner, flush_owner : In(active_warps)   Place of the short result and its victim, and of the line to be
                                         flushed, one-hot.
    short_register, victim_register, flush_register : In   Theirs.
    long_warp, long_register : In        Of the long result.
    short_place, victim_place, long_place, flush_place : Out   Where they live.
    full : In(banks), victims : In(ArrayLayout)   Queues that are full; per place, the victim's register.
    short_full, victim_full : Out(1)     The queue of the short result's place, and of its victim's, is full. Every
                                         place finds that for itself, since whose result it is comes late.
    """

    def __init__(self, cfg: RfcConfig) -> None:
        self._cfg = cfg
        place = location_layout(cfg)
        super().__init__(
            {
                "launch_valid": In(1),
                "launch": In(launch_layout(cfg)),
                "check_warp": In(cfg.warp_bits),
                "check_registers": In(data.ArrayLayout(cfg.register_bits, cfg.source_slots)),
                "check_places": Out(places_layout(cfg, cfg.source_slots)),
                "places": In(data.ArrayLayout(cfg.warps, cfg.active_warps)),
                **{f"{name}_owner": In(cfg.active_warps) for name in ("short", "flush")},
                "long_warp": In(cfg.warp_bits),
                **{f"{name}_register": In(cfg.register_bits) for name in LOOK_UPS},
                **{f"{name}_place": Out(place) for name in LOOK_UPS},
                "full": In(cfg.banks),
                "victims": In(data.ArrayLayout(cfg.register_bits, cfg.active_warps)),
                **{name: Out(1) for name in FULL},
            }
        )

    def elaborate(self, platform) -> Module:
        """Table of bases; one multiplexer for the unit that asks, one for the long result, one for a new holder."""
        m = Module()
        cfg = self._cfg
        bases = base_table(m, cfg, self.launch_valid, self.launch)
        asking = of_warp(m, cfg, "check", decode(self.check_warp, cfg.warps), bases)
        for slot in range(cfg.source_slots):
            look_up(m, cfg, *asking, self.check_registers[slot], self.check_places[slot])
        long = of_warp(m, cfg, "long", decode(self.long_warp, cfg.warps), bases)
        held = self._held(m, bases)
        short, flush = (self._of_place(m, name, held) for name in ("short", "flush"))
        for name, known in zip(LOOK_UPS, (short, short, long, flush), strict=True):
            look_up(m, cfg, *known, getattr(self, f"{name}_register"), getattr(self, f"{name}_place"))
        for name, registers in zip(FULL, ([self.short_register] * len(held), self.victims), strict=True):
            full = [self._is_full(m, known, register) for known, register in zip(held, registers, strict=True)]
            m.d.comb += getattr(self, name).eq((self.short_owner & Cat(full)).any())
        return m

    def _is_full(self, m: Module, held: Value, register: Value) -> Value:
        """Whether the queue of a register of a place's warp is full."""
        place = Signal(location_layout(self._cfg), name="asked")
        look_up(m, self._cfg, *self._apart(held), register, place)
        return (self.full & decode(place.bank, self._cfg.banks)).any()

    def _held(self, m: Module, bases: list[Signal]) -> list[Value]:
        """Base and start of each place's warp."""
        cfg = self._cfg
        before = Signal(cfg.active_warps, name="taken")
        now = named(m, "taken_now", Cat(warps.any() for warps in self.places))
        fresh = named(m, "fresh", now & ~before)
        m.d.sync += before.eq(now)
        found = Cat(*of_warp(m, cfg, "fresh", select(fresh, list(self.places)), bases))
        held = [Signal(len(found), name=f"place_base{number}", reset_less=True) for number in range(cfg.active_warps)]
        for number, known in enumerate(held):
            take(m, cfg, known.name, [known], (fresh[number], [found]))
        return held

    def _of_place(self, m: Module, name: str, held: list[Value]) -> tuple[Value, Value]:
        return self._apart(named(m, f"{name}_base", select(getattr(self, f"{name}_owner"), held)))

    def _apart(self, held: Value) -> tuple[Value, Value]:
        bits = place_digits(self._cfg)
        return held[:bits], held[bits:]
