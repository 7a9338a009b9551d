"""Which registers are mapped (docs/schemes/corf.md, section 4)."""

from collections.abc import Sequence

from amaranth import Cat, Module, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import decode, select
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


class MappedBits(wiring.Component):
    """A bit per warp and register, in flip-flops, because what a memory holds after reset means nothing.

    Readers come in groups: those of a group look at registers of one warp. ``groups``: how many are in each.

    Members
    -------
    maps : In(1), map_warp, map_register : In   A register that is mapped from the next cycle on.
    unmaps : In(1), unmap_warp, unmap_register : In   One that is not; another one.
    taken : In(warps), bits_taken : Out(register_names)   One-hot or none: a warp of which no register is mapped from
                                 the next cycle on; which of them are.
    warps : In(ArrayLayout), registers : In(ArrayLayout)   Of every group, and of every reader.
    mapped : Out(readers)        Their registers are mapped.
    """

    def __init__(self, cfg: Config, groups: Sequence[int]) -> None:
        self._cfg, self._groups = cfg, tuple(groups)
        warp, register, readers = cfg.warp_bits, cfg.register_bits, sum(groups)
        super().__init__(
            {
                **{name: In(1) for name in ("maps", "unmaps")},
                **{name: In(warp) for name in ("map_warp", "unmap_warp")},
                **{name: In(register) for name in ("map_register", "unmap_register")},
                "taken": In(cfg.warps),
                "bits_taken": Out(cfg.register_names),
                "warps": In(data.ArrayLayout(warp, len(groups))),
                "registers": In(data.ArrayLayout(register, readers)),
                "mapped": Out(readers),
            }
        )

    def elaborate(self, platform) -> Module:
        """A row of bits per warp: of every group the row, of every reader a bit of it."""
        m = Module()
        names = self._cfg.register_names
        rows = [Signal(names, name=f"mapped{warp}") for warp in range(self._cfg.warps)]
        maps = self._one(m, "maps", self.maps, self.map_warp, self.map_register)
        unmaps = self._one(m, "unmaps", self.unmaps, self.unmap_warp, self.unmap_register)
        for row, new, old, taken in zip(rows, maps, unmaps, self.taken, strict=True):
            m.d.sync += row.eq((row | new) & ~old & ~taken.replicate(names))
        m.d.comb += self.bits_taken.eq(select(self.taken, rows))
        mapped, registers = [], iter(self.registers)
        for group, (count, warp) in enumerate(zip(self._groups, self.warps, strict=True)):
            chosen = named(m, f"warp{group}", decode(warp, len(rows)))
            row = named(m, f"row{group}", select(chosen, rows))
            mapped += [(row & decode(next(registers), names)).any() for _ in range(count)]
        m.d.comb += self.mapped.eq(Cat(mapped))
        return m

    def _one(self, m: Module, name: str, there: Value, warp: Value, register: Value) -> list[Value]:
        """Of every warp one bit or none: that of a register."""
        warps = named(m, f"{name}_warp", decode(warp, self._cfg.warps) & there.replicate(self._cfg.warps))
        registers = named(m, f"{name}_register", decode(register, self._cfg.register_names))
        return [registers & bit.replicate(len(registers)) for bit in warps]
