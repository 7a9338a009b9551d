"""Banks of the cache in which a place has no register (docs/schemes/ltrf.md, section 3)."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode
from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.ltrf import LtrfConfig


class FreeBanks(wiring.Component):
    """Queue of the free banks of one place, and which are not in it. Not both ``give`` and ``take`` in a cycle.

    Members
    -------
    give : In(1), bank : In(cache_bank_bits)   This bank comes last from the next cycle on, if it is occupied.
    take : In(1), first : Out(cache_bank_bits)   The first one leaves; without any it is bank 0.
    occupied : Out(banks)       Banks that are not in the queue.
    free : Out(ArrayLayout)    Zero beyond its end.
    """

    def __init__(self, cfg: LtrfConfig) -> None:
        self._cfg = cfg
        banks, bits = cfg.interval_registers, cfg.cache_bank_bits
        super().__init__(
            {
                "give": In(1),
                "bank": In(bits),
                "take": In(1),
                "first": Out(bits),
                "occupied": Out(banks),
                "free": Out(data.ArrayLayout(bits, banks)),
            }
        )

    def elaborate(self, platform) -> Module:
        """A shift register, so that the first one is always in the same place; its length follows from the mask."""
        m = Module()
        banks = self._cfg.interval_registers
        given = named(m, "given", decode(self.bank, banks) & self.occupied & self.give.replicate(banks))
        taken = named(m, "taken", decode(self.first, banks) & self.take.replicate(banks))
        busy = named(m, "busy", count_ones(list(self.occupied)))
        ends = named(m, "ends", Cat(busy == banks - length for length in range(banks)) & given.any().replicate(banks))
        entries = [Signal(self._cfg.cache_bank_bits, name=f"entry{k}", init=k) for k in range(banks)]
        for number, entry in enumerate(entries):
            behind = entries[number + 1] if number + 1 < banks else 0
            with m.If(self.take | ends[number]):
                m.d.sync += entry.eq(Mux(self.take, behind, self.bank))
        m.d.sync += self.occupied.eq((self.occupied | taken) & ~given)
        m.d.comb += [self.first.eq(entries[0]), self.free.eq(Cat(entries))]
        return m
