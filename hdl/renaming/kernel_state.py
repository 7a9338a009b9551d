"""When a file with a renaming table takes a kernel (docs/schemes/corf.md, section 8)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.rf.kernel import kernel_members, nobody_resident
from warpfile.spec.config import Config


class KernelState(wiring.Component):
    """Takes a kernel when no warp is resident and the table is as after reset.

    Members
    -------
    See :func:`hdl.rf.kernel.kernel_members`, and:
    clean : In(1)                The table is clear, and no warp is swept or waits for that.
    registers : Out              Registers of a warp of the kernel, from the cycle after it was taken on.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        members = {"clean": In(1), "registers": Out(cfg.register_names.bit_length())}
        super().__init__({**kernel_members(cfg), **members})

    def elaborate(self, platform) -> Module:
        """A count of the residents, and what is kept of the kernel."""
        m = Module()
        m.d.comb += [
            self.kernel_ready.eq(nobody_resident(m, self._cfg, self) & self.clean),
            self.taken.eq(self.kernel_valid & self.kernel_ready),
        ]
        with m.If(self.taken):
            m.d.sync += [self.registers.eq(self.kernel.registers), self.launch_ready.eq(1)]
        return m
