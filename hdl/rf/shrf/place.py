"""What beats under way have yet to do with the entries of a place (docs/schemes/shrf.md, sections 4 and 5)."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.spec.schemes.shrf import ShrfConfig


class PlaceEntries(wiring.Component):
    """Entries of one place that are to be written, and those that are read in the cycle after an issue.

    What happens in a cycle is seen from the next one.

    Members
    -------
    issues : In(1)                 A beat of the place's warp issues that executes.
    writes, nears : In(entries)    Entries that the offered beat writes, and those that it reads.
    written : In(entries)          Entries of this place that a result or a bring is written to.
    to_be_written, to_be_read : Out(entries)   Registered state.
    """

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        inputs, outputs = ("writes", "nears", "written"), ("to_be_written", "to_be_read")
        members = {name: In(cfg.place_entries) for name in inputs}
        super().__init__({"issues": In(1), **members, **{name: Out(cfg.place_entries) for name in outputs}})

    def elaborate(self, platform) -> Module:
        """Two bits per entry; issue is known last."""
        m = Module()
        issues = self.issues.replicate(self._cfg.place_entries)
        m.d.sync += [
            self.to_be_written.eq((self.to_be_written & ~self.written) | (self.writes & issues)),
            self.to_be_read.eq(self.nears & issues),
        ]
        return m
