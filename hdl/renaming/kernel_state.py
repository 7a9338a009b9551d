"""When a file with a renaming table takes a kernel (docs/schemes/corf.md, section 8)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In

from warpfile.hdl.rf.kernel import kernel_members, no_warp_resident
from warpfile.spec.config import Config


class KernelState(wiring.Component):
    """Takes a kernel when no warp is resident or swept.

    Members
    -------
    See :func:`hdl.rf.kernel.kernel_members`, and:
    clean : In(1)                No warp is swept or waits for that.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__({**kernel_members(cfg), "clean": In(1)})

    def elaborate(self, platform) -> Module:
        """A count of the residents, and whether a kernel was taken."""
        m = Module()
        m.d.comb += [
            self.kernel_ready.eq(no_warp_resident(m, self._cfg, self) & self.clean),
            self.taken.eq(self.kernel_valid & self.kernel_ready),
        ]
        with m.If(self.taken):
            m.d.sync += self.launch_ready.eq(1)
        return m
