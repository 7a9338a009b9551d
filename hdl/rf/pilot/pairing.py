"""Which pair of registers changes homes next (docs/schemes/pilot.md, section 5)."""

from amaranth import Cat, Module
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of, encode, lowest_one, select
from warpfile.hdl.naming import named
from warpfile.hdl.rf.pilot.layouts import hot_layout, pair_layout
from warpfile.hdl.rf.pilot.swap_table import entry_layout
from warpfile.spec.schemes.pilot import PilotConfig


class Pairing(wiring.Component):
    """The pair of one register of a hot list. Combinational.

    Members
    -------
    hot : In(hot_layout(cfg)), turn : In(fast_registers)   The list, and whose turn it is, one-hot or zero.
    entries : In(ArrayLayout)             Of the table that is written, as the turns before have left it.
    write : Out(1), pair : Out            Whether the register moves, and in whose place.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "hot": In(hot_layout(cfg)),
                "turn": In(cfg.fast_registers),
                "entries": In(data.ArrayLayout(entry_layout(cfg), 2 * cfg.fast_registers)),
                "write": Out(1),
                "pair": Out(pair_layout(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """The lowest fast register that is not hot and has not moved."""
        m = Module()
        fast = range(self._cfg.fast_registers)
        stays = [any_of(one.valid & (one.register == number) for one in self.hot) for number in fast]
        moved = [any_of(one.valid & (one.register == number) for one in list(self.entries)[::2]) for number in fast]
        leaves = named(m, "leaves", lowest_one(~(Cat(*stays) | Cat(*moved))))
        far = Cat(one.valid & (one.register >= len(fast)) for one in self.hot)
        m.d.comb += [
            self.write.eq((self.turn & far).any()),
            self.pair.fast.eq(encode(leaves, self._cfg.register_bits)),
            self.pair.slow.eq(select(self.turn, [one.register for one in self.hot])),
        ]
        return m
