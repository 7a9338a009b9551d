"""Main banks and rows of the registers that a cycle has to do with (docs/schemes/ltrf.md, section 2)."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.beat import launch_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.digits import bank_digit, place_digits
from warpfile.hdl.rf.layouts import places_layout
from warpfile.hdl.rf.location import base_table, look_up, start_of
from warpfile.hdl.rf.ltrf.registers import number_of, row_of
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
                "bases": Out(data.ArrayLayout(place_digits(cfg), places)),
                "numbers": Out(data.ArrayLayout(cfg.bank_bits, places)),
                "result_warps": In(data.ArrayLayout(cfg.warp_bits, ports)),
                "result_registers": In(data.ArrayLayout(cfg.register_bits, ports)),
                "result_places": Out(places_layout(cfg.common(), ports)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Table of bases; per place and per write-back port one AND-OR per bit."""
        m = Module()
        cfg = self._cfg.common()
        table = base_table(m, cfg, self.launch_valid, self.launch)
        columns = [named(m, f"column{bit}", Cat(base[bit] for base in table)) for bit in range(place_digits(cfg))]
        bits = bank_digit(cfg)
        for warp, base, number in zip(self.places, self.bases, self.numbers, strict=True):
            m.d.comb += base.eq(row_of(columns, warp))
            m.d.comb += number.eq(start_of(m, cfg, base, number_of(warp, bits, cfg.banks)))
        for port in range(cfg.write_ports):
            warp = named(m, f"result{port}_warp", decode(self.result_warps[port], cfg.warps))
            base = named(m, f"result{port}_base", row_of(columns, warp))
            number = named(m, f"result{port}_number", start_of(m, cfg, base, number_of(warp, bits, cfg.banks)))
            look_up(m, cfg, base, number, self.result_registers[port], self.result_places[port])
        return m
