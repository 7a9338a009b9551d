"""One version of the swapping table."""

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import lowest_one, select
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.hdl.rf.pilot.layouts import pair_layout
from warpfile.spec.schemes.pilot import PilotConfig


def entry_layout(cfg: PilotConfig) -> data.StructLayout:
    """One entry: a register, and its home."""
    return data.StructLayout({"valid": 1, "register": cfg.register_bits, "home": cfg.register_bits})


class SwapTable(wiring.Component):
    """Registers that are away from home, as a CAM of pairs; written one pair per cycle, seen from the next.

    In a pair the even entry is that of the fast register, which goes to the slow part, the odd one that of the slow.

    Members
    -------
    clear : In(1)                       No entry is valid from the next cycle on.
    write : In(1), pair : In            Goes to the lowest entries that are not valid.
    asked : In(lookups), registers : In(ArrayLayout)   Who looks up which register in this version.
    changes : Out(ArrayLayout)          Same cycle: bits in which its home differs from its number; zero for a miss.
    leaves, comes : Out(lookups)        It is in the slow part for once, or in the fast part.
    matches : Out(ArrayLayout)          Entry of each lookup, one-hot; zero for a miss.
    entries : Out(ArrayLayout)          All zero where not valid.
    """

    def __init__(self, cfg: PilotConfig, lookups: int) -> None:
        self._cfg = cfg
        names = data.ArrayLayout(cfg.register_bits, lookups)
        super().__init__(
            {
                "clear": In(1),
                "write": In(1),
                "pair": In(pair_layout(cfg)),
                "asked": In(lookups),
                "registers": In(names),
                "changes": Out(names),
                "matches": Out(data.ArrayLayout(2 * cfg.fast_registers, lookups)),
                "leaves": Out(lookups),
                "comes": Out(lookups),
                "entries": Out(data.ArrayLayout(entry_layout(cfg), 2 * cfg.fast_registers)),
            }
        )

    def elaborate(self, platform) -> Module:
        """Entries, written pair by pair, and a comparator for each of them at every lookup.

        What depends on entries alone is ready before the register that is looked up, which comes late.
        """
        m = Module()
        valid = Signal(2 * self._cfg.fast_registers)
        free = named(m, "free", lowest_one(~valid[::2]))
        with m.If(self.clear):
            m.d.sync += valid.eq(0)
        stored = [self._entry(m, number, free[number // 2], valid) for number in range(len(valid))]
        changes = [named(m, f"change{number}", register ^ home) for number, (register, home) in enumerate(stored)]
        for index, register in enumerate(self.registers):
            asked = named(m, f"asked{index}", valid & self.asked[index].replicate(len(valid)))
            matches = Cat(bit & (key == register) for bit, (key, _) in zip(asked, stored, strict=True))
            matches = named(m, f"matches{index}", matches)
            m.d.comb += [
                self.matches[index].eq(matches),
                self.changes[index].eq(select(matches, changes)),
                self.leaves[index].eq(matches[::2].any()),
                self.comes[index].eq(matches[1::2].any()),
            ]
        return m

    def _entry(self, m: Module, number: int, free: Value, valid: Signal) -> tuple[Signal, Signal]:
        """Register and home of an entry; in a pair the even one is the fast register's."""
        width = self._cfg.register_bits
        register = Signal(width, name=f"register{number}", reset_less=True)
        home = Signal(width, name=f"home{number}", reset_less=True)
        fast, slow = self.pair.fast, self.pair.slow
        written = self.write & free, [slow, fast] if number % 2 else [fast, slow]
        take(m, self._cfg, f"entry{number}", [register, home], written, also=[valid[number].eq(1)])
        entry, shown = self.entries[number], valid[number].replicate(width)
        m.d.comb += [entry.valid.eq(valid[number]), *_both(entry.register, entry.home, register & shown, home & shown)]
        return register, home


def _both(register: Value, home: Value, of_register: Value, of_home: Value) -> list:
    return [register.eq(of_register), home.eq(of_home)]
