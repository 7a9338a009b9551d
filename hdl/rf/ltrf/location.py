"""Main banks and rows of the registers that a cycle has to do with (docs/schemes/ltrf.md, section 2)."""

from amaranth import Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.beat import launch_layout
from warpfile.hdl.rf.contract import places_layout
from warpfile.hdl.rf.location import base_table, look_up, of_warp
from warpfile.spec.schemes.ltrf import LtrfConfig


class MainLocation(wiring.Component):
    """Base of every warp; what the places need of it, and where results would be parked.

    Members
    -------
    launch_valid : In(1), launch : In(launch_layout(cfg))   A warp that is resident from the next cycle.
    places : In(ArrayLayout)     Warp of each place, one-hot.
    bases, numbers : Out(ArrayLayout)   Place of its register 0, and its number modulo main banks.
    result_warps, result_registers : In(ArrayLayout), result_places : Out(ArrayLayout)   Per write-back port.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        places, ports = cfg.active_warps, cfg.write_ports
        super().__init__(
            {
                "launch_valid": In(1),
                "launch": In(launch_layout(cfg)),
                "places": In(data.ArrayLayout(cfg.warps, places)),
                "bases": Out(data.ArrayLayout(cfg.place_bits, places)),
                "numbers": Out(data.ArrayLayout(cfg.bank_bits, places)),
                "result_warps": In(data.ArrayLayout(cfg.warp_bits, ports)),
                "result_registers": In(data.ArrayLayout(cfg.register_bits, ports)),
                "result_places": Out(places_layout(cfg.common(), ports)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Table of bases; one multiplexer per place, one per write-back port."""
        m = Module()
        cfg = self._cfg.common()
        bases = base_table(m, cfg, self.launch_valid, self.launch)
        for number, warp in enumerate(self.places):
            base, skew = of_warp(m, cfg, f"place{number}", warp, bases)
            m.d.comb += [self.bases[number].eq(base), self.numbers[number].eq(skew)]
        for port in range(cfg.write_ports):
            writing = of_warp(m, cfg, f"result{port}", decode(self.result_warps[port], cfg.warps), bases)
            look_up(m, cfg, *writing, self.result_registers[port], self.result_places[port])
        return m
