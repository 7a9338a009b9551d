"""In which bank of the cache every register is that has one (docs/schemes/ltrf.md, section 3)."""

from amaranth import Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.rf.ltrf.registers import row_of
from warpfile.spec.schemes.ltrf import LtrfConfig


class AddressTable(wiring.Component):
    """Banks of the registers of one place. Sets of registers that are named in the singular are one-hot or empty.

    Members
    -------
    enters : In(names), bank : In(cache_bank_bits)   This register is cached from the next cycle on, in that bank.
    leaves : In(names)          This one is not any more; it keeps its bank.
    drop : In(1)                None is.
    cached : Out(names)         Registers that are cached.
    wanted : In(ArrayLayout), banks : Out(ArrayLayout)   Registers, and their banks, cached or not; zero for none.
    found : Out(lookups)        Of the first of them, those that are cached.
    """

    def __init__(self, cfg: LtrfConfig, lookups: int, count: int) -> None:
        self._cfg = cfg
        names, bits = cfg.register_names, cfg.cache_bank_bits
        super().__init__(
            {
                "enters": In(names),
                "bank": In(bits),
                "leaves": In(names),
                "drop": In(1),
                "cached": Out(names),
                "wanted": In(data.ArrayLayout(names, count)),
                "banks": Out(data.ArrayLayout(bits, count)),
                "found": Out(lookups),
            }
        )

    def elaborate(self, platform) -> Module:
        """A bit per name and bit of a bank; reads are one AND-OR per bit."""
        m = Module()
        columns = [Signal(self._cfg.register_names, name=f"column{bit}") for bit in range(self._cfg.cache_bank_bits)]
        for column, bit in zip(columns, self.bank, strict=True):
            m.d.sync += column.eq((column & ~self.enters) | (self.enters & bit.replicate(len(column))))
        for register, bank in zip(self.wanted, self.banks, strict=True):
            m.d.comb += bank.eq(row_of(columns, register))
        for register, found in zip(self.wanted, self.found, strict=False):
            m.d.comb += found.eq((register & self.cached).any())
        kept = self.cached & ~self.leaves & ~self.drop.replicate(len(self.cached))
        m.d.sync += self.cached.eq(kept | self.enters)
        return m
