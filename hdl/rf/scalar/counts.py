"""How many registers are scalar, for observation alone (docs/schemes/scalar.md, section 9)."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.count import count_ones
from warpfile.hdl.naming import named
from warpfile.spec.schemes.scalar import ScalarConfig


class ScalarCounts(wiring.Component):
    """Counts the registers that are scalar.

    A counter per warp, which a launch clears, and their sum: the bits are thousands, and few change in a cycle.

    Members
    -------
    launched : In(warps)   One-hot, the warp that is launched.
    warps : In(ArrayLayout)   Warps of the clients of :class:`hdl.rf.scalar.registers.ScalarRegisters`.
    rises : In(clients)    Whose register becomes scalar.
    falls : In(clients)    Whose register ceases to be.
    count : Out   Registers that are scalar, of all warps.
    """

    def __init__(self, cfg: ScalarConfig) -> None:
        self._cfg = cfg
        clients = cfg.write_ports + 1
        super().__init__(
            {
                "launched": In(cfg.warps),
                "warps": In(data.ArrayLayout(cfg.warp_bits, clients)),
                **{name: In(clients) for name in ("rises", "falls")},
                "count": Out((cfg.warps * cfg.register_names).bit_length()),
            }
        )

    def elaborate(self, platform) -> Module:
        """What is set is added, what is cleared is subtracted."""
        m = Module()
        total: Value = Const(0, 1)
        for warp in range(self._cfg.warps):
            count = Signal(self._cfg.register_names.bit_length(), name=f"count{warp}")
            own = named(m, f"of_warp{warp}", Cat(number == warp for number in self.warps))
            m.d.sync += count.eq(count + count_ones(list(self.rises & own)) - count_ones(list(self.falls & own)))
            with m.If(self.launched[warp]):
                m.d.sync += count.eq(0)
            total = named(m, f"to_warp{warp}", total + count)
        m.d.comb += self.count.eq(total)
        return m
