"""Sizes of the sets of the kernel that runs (docs/schemes/owf.md, section 3)."""

from warpfile.hdl.rf.two_sets import SetSizes
from warpfile.spec.schemes.owf import OwfConfig


class KernelState(SetSizes):
    """Takes a kernel when no warp is resident, and keeps what decides where its registers are.

    Members
    -------
    As in :class:`SetSizes`, which keeps:
    private_registers : Out   P, registers of a warp that are not shared.
    paired_warps : Out        n, slots from 0 on whose warps have partners.
    """

    def __init__(self, cfg: OwfConfig) -> None:
        widths = dict(cfg.descriptor)
        super().__init__(cfg, {name: widths[name] for name in ("private_registers", "paired_warps")})
