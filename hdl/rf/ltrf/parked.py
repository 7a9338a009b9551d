"""Results of warps that gave up their place (docs/schemes/ltrf.md, section 6)."""

from amaranth import Cat, Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, highest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.layouts import places_layout
from warpfile.spec.schemes.ltrf import LtrfConfig


class ParkedResults(wiring.Component):
    """Writes one result at a time to the input latch of its main bank.

    Members
    -------
    wanted : In(write_ports), places : In(ArrayLayout)   Results that have to be parked, and their main banks and rows.
    busy : In(banks)             Latches that are in use.
    start : Out(write_ports), main : Out(banks)   The result that starts, one-hot, and its main bank.
    accept : Out(write_ports)    The result whose last beat this is.
    port : Out(write_ports), beat : Out(crossbar_beats)   The result in work, one-hot; its beat, one-hot or none.
    main_used : Out(banks), row : Out(row_bits)   Its main bank, one-hot; its row.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        ports = cfg.write_ports
        super().__init__(
            {
                "wanted": In(ports),
                "places": In(places_layout(cfg.common(), ports)),
                "busy": In(cfg.banks),
                "start": Out(ports),
                "main": Out(cfg.banks),
                "accept": Out(ports),
                "port": Out(ports),
                "beat": Out(cfg.crossbar_beats),
                "main_used": Out(cfg.banks),
                "row": Out(cfg.row_bits),
            }
        )

    def elaborate(self, platform) -> Module:
        """The choice, then the result in work."""
        m = Module()
        cfg = self._cfg
        mains = [named(m, f"main{port}", decode(place.bank, cfg.banks)) for port, place in enumerate(self.places)]
        free = Cat(~(main & self.busy).any() for main in mains)
        ready = named(m, "ready", self.wanted & free)
        idle = named(m, "idle", ~self.beat.any())
        m.d.comb += [
            self.start.eq(highest_one(ready) & idle.replicate(cfg.write_ports)),
            self.main.eq(select(self.start, mains)),
            self.accept.eq(self.port & self.beat[-1].replicate(cfg.write_ports)),
        ]
        m.d.sync += self.beat.eq(Cat(self.start.any(), self.beat[:-1]))
        bank = Signal(cfg.bank_bits, reset_less=True)
        with m.If(self.start.any()):
            m.d.sync += [
                self.port.eq(self.start),
                bank.eq(select(self.start, [place.bank for place in self.places])),
                self.row.eq(select(self.start, [place.row for place in self.places])),
            ]
        m.d.comb += self.main_used.eq(decode(bank, cfg.banks) & self.beat.any().replicate(cfg.banks))
        return m
