"""Parts of an address table: register r is in part r mod 4 (docs/schemes/ltrf.md, section 14)."""

from collections.abc import Sequence

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.hdl.rf.ltrf.registers import row_of, set_of
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig


def of_part(registers: Value, part: int) -> Value:
    """Registers of a part, of a set of registers."""
    return Cat(registers[name] for name in range(part, len(registers), PARTS))


def whole_set(parts: Sequence[Value], names: int) -> Value:
    """The set of registers of which these are the parts."""
    return Cat(parts[name % PARTS][name // PARTS] for name in range(names))


class PartedTable(wiring.Component):
    """Banks of the registers of one place, with a step in each part per cycle.

    Members
    -------
    takes, leaves : In(names)   Registers that are cached, or are not any more, from the next cycle on.
    drop : In(1)                None is.
    cached : Out(names)         Registers that are cached.
    registers : In(ArrayLayout), step_banks : Out(ArrayLayout)   A register of each part, and its bank.
    enters : In(parts), entered_banks : In(ArrayLayout)   It has another bank from the next cycle on; which.
    wanted : In(ArrayLayout), banks : Out(ArrayLayout)   Registers, one-hot or none, and their banks, cached or not;
                                zero for none.
    found : Out(lookups)        Those of them that are cached.
    """

    def __init__(self, cfg: LtrfConfig, lookups: int) -> None:
        self._cfg = cfg
        names, bits = cfg.register_names, cfg.cache_bank_bits
        by_part = data.ArrayLayout(bits, PARTS)
        super().__init__(
            {
                "takes": In(names),
                "leaves": In(names),
                "drop": In(1),
                "cached": Out(names),
                "registers": In(data.ArrayLayout(cfg.register_bits, PARTS)),
                "step_banks": Out(by_part),
                "enters": In(PARTS),
                "entered_banks": In(by_part),
                "wanted": In(data.ArrayLayout(names, lookups)),
                "banks": Out(data.ArrayLayout(bits, lookups)),
                "found": Out(lookups),
            }
        )

    def elaborate(self, platform) -> Module:
        """A register per name; a port of each part for steps, and one of all of them per look-up."""
        m = Module()
        cfg = self._cfg
        banks = [Signal(cfg.cache_bank_bits, name=f"bank{name}") for name in range(cfg.register_names)]
        for part, register in enumerate(self.registers):
            own = banks[part::PARTS]
            stepped = set_of(m, f"stepped{part}", register[2:], Const(1))
            for name, bank in enumerate(own):
                with m.If(stepped[name] & self.enters[part]):
                    m.d.sync += bank.eq(self.entered_banks[part])
            m.d.comb += self.step_banks[part].eq(row_of(self._columns(m, f"part{part}_", own), stepped))
        columns = self._columns(m, "column", banks)
        for number, register in enumerate(self.wanted):
            m.d.comb += [
                self.banks[number].eq(row_of(columns, register)),
                self.found[number].eq((register & self.cached).any()),
            ]
        kept = self.cached & ~self.leaves & ~self.drop.replicate(len(self.cached))
        m.d.sync += self.cached.eq(kept | self.takes)
        return m

    def _columns(self, m: Module, name: str, banks: Sequence[Value]) -> list[Value]:
        return [named(m, f"{name}{bit}", Cat(bank[bit] for bank in banks)) for bit in range(self._cfg.cache_bank_bits)]
