"""Where the registers live that a machine with a register cache looks up in a cycle."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.beat import launch_layout
from warpfile.hdl.rf.contract import location_layout, places_layout
from warpfile.hdl.rf.location import base_table, look_up, of_warp
from warpfile.hdl.rf.rfc.queued_banks import WRITERS
from warpfile.spec.schemes.rfc import RfcConfig


class CacheLocation(wiring.Component):
    """Base of every warp, and the lookups of a cycle: sources of the unit that asks, and what each writer sends.

    As :class:`hdl.rf.location.Location`, but the lookups of the writers have ports of their own, because each of them
    depends on what the ones before it found.

    Members
    -------
    launch_valid : In(1), launch : In(launch_layout(cfg))   A warp that is resident from the next cycle.
    check_warp : In(warp_bits), check_registers : In(ArrayLayout), check_places : Out(ArrayLayout)   Per source slot.
    short_warp, short_register : In, short_place : Out   Of the short result or the victim, and where it lives.
    long_warp, long_register : In, long_place : Out      Of the long result.
    flush_warp, flush_register : In, flush_place : Out   Of the line to be flushed.
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
                **{f"{name}_warp": In(cfg.warp_bits) for name in WRITERS},
                **{f"{name}_register": In(cfg.register_bits) for name in WRITERS},
                **{f"{name}_place": Out(place) for name in WRITERS},
            }
        )

    def elaborate(self, platform) -> Module:
        """Table of bases; one multiplexer for the unit that asks, one per writer."""
        m = Module()
        cfg = self._cfg
        bases = base_table(m, cfg, self.launch_valid, self.launch)
        asking = of_warp(m, cfg, "check", decode(self.check_warp, cfg.warps), bases)
        for slot in range(cfg.source_slots):
            look_up(m, cfg, *asking, self.check_registers[slot], self.check_places[slot])
        for name in WRITERS:
            warp = decode(getattr(self, f"{name}_warp"), cfg.warps)
            sending = of_warp(m, cfg, name, warp, bases)
            look_up(m, cfg, *sending, getattr(self, f"{name}_register"), getattr(self, f"{name}_place"))
        return m
