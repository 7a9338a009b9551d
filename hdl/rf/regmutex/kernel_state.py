"""Sizes of the sets of the kernel that runs (docs/schemes/regmutex.md, section 4)."""

from amaranth import Cat, Module
from amaranth.lib import wiring
from amaranth.lib.wiring import Out

from warpfile.hdl.rf.kernel import kernel_members, no_warp_resident
from warpfile.spec.schemes.regmutex import RegMutexConfig


class KernelState(wiring.Component):
    """Takes a kernel when no warp is resident, and keeps its descriptor.

    Members
    -------
    See :func:`hdl.rf.kernel.kernel_members`, and, from the cycle after a kernel was taken:
    base_registers, extended_registers : Out   Registers of both sets.
    pool : Out(place_bits)                     First place behind the base sets; these two only with a pool.
    extended : Out(register_names)             Registers that are not in the base set.
    """

    def __init__(self, cfg: RegMutexConfig) -> None:
        self._cfg = cfg
        widths = {**dict(cfg.descriptor), "pool": cfg.place_bits}
        self._kept = ("base_registers",) if cfg.paired else ("base_registers", "extended_registers", "pool")
        kept = {name: Out(widths[name]) for name in self._kept}
        super().__init__({**kernel_members(cfg), **kept, "extended": Out(cfg.register_names)})

    def elaborate(self, platform) -> Module:
        """Registers for what is needed later; the mask is made once, since it decides who may issue."""
        m = Module()
        names = range(self._cfg.register_names)
        m.d.comb += [
            self.kernel_ready.eq(no_warp_resident(m, self._cfg, self)),
            self.taken.eq(self.kernel_valid & self.kernel_ready),
        ]
        with m.If(self.taken):
            m.d.sync += [getattr(self, name).eq(self.kernel[name]) for name in self._kept]
            m.d.sync += self.extended.eq(Cat(self.kernel.base_registers <= name for name in names))
            m.d.sync += self.launch_ready.eq(1)
        return m
