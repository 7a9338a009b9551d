"""In which bank of the cache every register is that has one (docs/schemes/ltrf.md, section 3).

The table has four parts: register r is in part r mod 4.
"""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.hdl.rf.ltrf.registers import row_of, set_of
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig


def by_part(registers: Value) -> Value:
    """A set of registers with those of the first part lowest, and so on."""
    return Cat(registers[name] for part in range(PARTS) for name in range(part, len(registers), PARTS))


def by_name(registers: Value) -> Value:
    """The set that :func:`by_part` has put in order."""
    count = len(registers) // PARTS
    return Cat(registers[name % PARTS * count + name // PARTS] for name in range(len(registers)))


def of_part(registers: Value, part: int) -> Value:
    """Registers of a part, of a set in that order."""
    return registers.word_select(part, len(registers) // PARTS)


class AddressTable(wiring.Component):
    """Banks of the registers of one place, with a step in each part per cycle; sets in the order of :func:`by_part`.

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
        """A bit per name and bit of a bank; a port of each part for steps, and one of all of them per look-up."""
        m = Module()
        columns = [Signal(self._cfg.register_names, name=f"column{bit}") for bit in range(self._cfg.cache_bank_bits)]
        entered = [Signal(self._cfg.register_names, name=f"entered{bit}") for bit in range(len(columns))]
        stepping = []
        for part, register in enumerate(self.registers):
            stepped = set_of(m, f"stepped{part}", register[2:], Const(1))
            stepping.append(stepped & self.enters[part].replicate(len(stepped)))
            m.d.comb += self.step_banks[part].eq(row_of([of_part(column, part) for column in columns], stepped))
        changes = named(m, "changes", Cat(stepping))
        for bit, (column, value) in enumerate(zip(columns, entered, strict=True)):
            banks = [bank[bit].replicate(len(column) // PARTS) for bank in self.entered_banks]
            m.d.comb += value.eq(Cat(banks))
            m.d.sync += column.eq((column & ~changes) | (value & changes))
        for number, register in enumerate(self.wanted):
            m.d.comb += [
                self.banks[number].eq(row_of(columns, register)),
                self.found[number].eq((register & self.cached).any()),
            ]
        kept = self.cached & ~self.leaves & ~self.drop.replicate(len(self.cached))
        m.d.sync += self.cached.eq(kept | self.takes)
        return m
