"""Where private and shared registers live (docs/schemes/owf.md, section 6)."""

from amaranth import Module, Mux, Signal
from amaranth.lib.wiring import In

from warpfile.hdl.naming import named
from warpfile.hdl.rf.two_sets import TwoSets
from warpfile.spec.schemes.owf import OwfConfig


class OwfLocation(TwoSets):
    """Private registers of a warp, and the registers that it shares with its partner behind those of both.

    As in :class:`TwoSets`, and:

    Members
    -------
    private_registers : In       Of a warp; the others are shared.
    partnered : In(1)            The warp that is launched has a partner.
    """

    def __init__(self, cfg: OwfConfig) -> None:
        super().__init__(cfg, "private_registers", {"partnered": In(1)})

    def _second(self, m: Module, bases: list[Signal]) -> list[Signal]:
        """Behind the private registers of the even one of two partners come those of the odd one."""
        behind = named(m, "behind", (self.launch.base + self.private_registers)[: self._cfg.place_bits])
        return self._behind_pairs(m, "shared", bases, Mux(self.partnered, behind, self.launch.base))
