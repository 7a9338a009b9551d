"""Loose round robin that prefers warps whose next load is in the register file (docs/schemes/larf.md, section 19)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import first_above, named_prefix_or
from warpfile.hdl.naming import named
from warpfile.hdl.scheduler.contract import foreseeing_members, scheduler_members
from warpfile.spec.schemes.las import LasConfig


class Las(wiring.Component):
    """A flag per warp, one pointer, a count of flagged issues in a row.

    Ports: :func:`scheduler_members` and :func:`foreseeing_members`.
    """

    def __init__(self, cfg: LasConfig) -> None:
        self._cfg = cfg
        super().__init__({**scheduler_members(cfg), **foreseeing_members(cfg)})

    def elaborate(self, platform) -> Module:
        """Both choices at once, because eligibility comes late."""
        m = Module()
        warps = self._cfg.warps
        above = Signal(warps)
        tired = self._count(m)
        first = named(m, "first", self.eligible & (self.flagged ^ tired.replicate(warps)))
        preferred = first_above(m, "first_above", first, above)
        other = first_above(m, "eligible_above", self.eligible, above)
        m.d.comb += self.grant.eq(Mux(first.any(), preferred, other))
        issues = named(m, "issues", self.grant & self.taken.replicate(warps))
        cleared = (issues & self.shareable) | self.launch | self.exit
        m.d.sync += self.flagged.eq((self.flagged | self.foreseen) & ~cleared)
        with m.If(self.taken):
            m.d.sync += above.eq(named_prefix_or(m, "up_to", self.grant) << 1)
        return m

    def _count(self, m: Module) -> Value:
        """Whether so many flagged warps issued in a row that another one goes first."""
        limit = self._cfg.flag_limit
        row = Signal(range(limit + 1), name="in_a_row")
        tired = named(m, "tired", row == limit)
        flagged = named(m, "issuer_flagged", (self.grant & self.flagged).any())
        with m.If(self.taken):
            m.d.sync += row.eq(Mux(flagged, row + ~tired, 0))
        return tired
