"""Loose round robin that prefers warps whose next load is in the register file (docs/schemes/larf.md, section 19)."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import named_prefix_or, oldest_one
from warpfile.hdl.naming import named
from warpfile.hdl.scheduler.contract import lookahead_members, scheduler_members
from warpfile.spec.schemes.las import LasConfig


class Las(wiring.Component):
    """A flag per warp, one pointer, a count of flagged issues in a row.

    Ports: :func:`scheduler_members` and :func:`lookahead_members`.
    """

    def __init__(self, cfg: LasConfig) -> None:
        self._cfg = cfg
        super().__init__({**scheduler_members(cfg), **lookahead_members(cfg)})

    def elaborate(self, platform) -> Module:
        """Eligibility is late: the order of warps is computed beside it."""
        m = Module()
        warps = self._cfg.warps
        above = Signal(warps)
        tired = self._count(m)
        m.d.comb += self.grant.eq(oldest_one(self.eligible, self._before(m, above, tired)))
        issues = named(m, "issues", self.grant & self.taken.replicate(warps))
        cleared = (issues & self.shareable) | self.launch | self.exit
        m.d.sync += self.flagged.eq((self.flagged | self.lookahead_hit) & ~cleared)
        with m.If(self.taken):
            m.d.sync += above.eq(named_prefix_or(m, "up_to", self.grant) << 1)
        return m

    def _before(self, m: Module, above: Value, tired: Value) -> Value:
        """Bit ``one * warps + other``: the first goes before the other, by flag, then by pointer, then by number."""
        ranks = [Cat(~after, flag ^ ~tired) for after, flag in zip(above, self.flagged, strict=True)]
        lower = {
            (one, other): named(m, f"warp{one}_before{other}", ranks[one] <= ranks[other])
            for other in range(len(ranks))
            for one in range(other)
        }
        pairs = [(one, other) for one in range(len(ranks)) for other in range(len(ranks))]
        before = (lower[pair] if pair in lower else ~lower.get(pair[::-1], Const(1, 1)) for pair in pairs)
        return named(m, "before", Cat(before))

    def _count(self, m: Module) -> Value:
        """Whether so many flagged warps issued in a row that another one goes first."""
        limit = self._cfg.flag_limit
        row = Signal(range(limit + 1), name="in_a_row")
        tired = named(m, "tired", row == limit)
        flagged = named(m, "issuer_flagged", (self.grant & self.flagged).any())
        with m.If(self.taken):
            m.d.sync += row.eq(Mux(flagged, row + ~tired, 0))
        return tired
