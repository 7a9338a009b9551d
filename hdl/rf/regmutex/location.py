"""Where a register lives whose number says in which of two sets it is (docs/schemes/regmutex.md, section 6)."""

from amaranth import Module, Signal
from amaranth.lib.wiring import In

from warpfile.hdl.naming import named
from warpfile.hdl.rf.contract import Members
from warpfile.hdl.rf.two_sets import TwoSets
from warpfile.spec.schemes.regmutex import RegMutexConfig


class RegMutexLocation(TwoSets):
    """Base sets, and extended sets that go with the sections.

    As in :class:`TwoSets`, and:

    Members
    -------
    base_registers : In          Registers of the base set.
    present : In(warps)          Warps whose extended set has a place.
    pool : In(place_bits), extended_registers : In   First place of the pool, and the size of a section.
    takes : In(warps), number : In(warp_bits)   This warp has that section from the next cycle on. These four only with
                                 ``sharing`` = ``pool``.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        self._paired = cfg.paired
        members: Members = {}
        if not cfg.paired:
            count = In(dict(cfg.descriptor)["extended_registers"])
            members = {"extended_registers": count, "pool": In(cfg.place_bits)}
            members |= {"takes": In(cfg.warps), "number": In(cfg.warp_bits)}
        super().__init__(cfg, "base_registers", members)

    def _second(self, m: Module, bases: list[Signal]) -> list[Signal]:
        """The odd one of a pair has its section right behind its base set."""
        if not self._paired:
            return self._of_pool(m)
        behind = named(m, "behind", (self.launch.base + self.base_registers)[: self._cfg.place_bits])
        return self._behind_pairs(m, "extended", bases, behind)

    def _of_pool(self, m: Module) -> list[Signal]:
        """The lowest free section is multiplied out in every cycle, before it is known whether a warp takes it."""
        first = named(m, "first", (self.pool - self.base_registers)[: self._cfg.place_bits])
        section = named(m, "section", (first + self.number * self.extended_registers)[: self._cfg.place_bits])
        extended = [Signal(self._cfg.place_bits, name=f"extended{warp}") for warp in range(self._cfg.warps)]
        for warp, place in enumerate(extended):
            with m.If(self.takes[warp]):
                m.d.sync += place.eq(section)
        return extended
