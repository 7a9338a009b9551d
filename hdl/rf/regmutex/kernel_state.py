"""Sizes of the sets of the kernel that runs (docs/schemes/regmutex.md, section 4)."""

from amaranth import Cat, Module
from amaranth.lib.wiring import Out

from warpfile.hdl.rf.two_sets import SetSizes
from warpfile.spec.schemes.regmutex import RegMutexConfig


class KernelState(SetSizes):
    """Takes a kernel when no warp is resident, and keeps its descriptor.

    Members
    -------
    As in :class:`SetSizes`, which keeps:
    base_registers, extended_registers : Out   Registers of both sets.
    pool : Out(place_bits)                     First place behind the base sets; these two only with a pool.
    extended : Out(register_names)             Registers that are not in the base set.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        widths = {**dict(cfg.descriptor), "pool": cfg.place_bits}
        kept = ("base_registers",) if cfg.paired else ("base_registers", "extended_registers", "pool")
        super().__init__(cfg, {name: widths[name] for name in kept}, {"extended": Out(cfg.register_names)})

    def _begin(self, m: Module) -> None:
        """The mask is made once, since it decides who may issue."""
        names = range(self._cfg.register_names)
        m.d.sync += self.extended.eq(Cat(self.kernel.base_registers <= name for name in names))
