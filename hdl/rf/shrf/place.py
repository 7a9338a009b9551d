"""What beats under way have yet to do with the entries of a place (docs/schemes/shrf.md, sections 4 and 5)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.spec.schemes.shrf import ShrfConfig


class PlaceEntries(wiring.Component):
    """Entries of one place that are to be written.

    What happens in a cycle is seen from the next one.

    Members
    -------
    issues : In(1)                 A beat of the place's warp issues that executes.
    writes : In(entries)           Entries that the offered beat writes.
    written : In(entries)          Entries of this place that a result or a bring is written to.
    to_be_written : Out(entries)   Registered state.
    """

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        members = {name: In(cfg.place_entries) for name in ("writes", "written")}
        super().__init__({"issues": In(1), **members, "to_be_written": Out(cfg.place_entries)})

    def elaborate(self, platform) -> Module:
        """One bit per entry; issue is known last."""
        m = Module()
        issues = self.issues.replicate(self._cfg.place_entries)
        m.d.sync += self.to_be_written.eq((self.to_be_written & ~self.written) | (self.writes & issues))
        return m
