"""Whether a head beat waits for an entry of its place (docs/schemes/shrf.md, section 5, "Hold")."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import any_of
from warpfile.hdl.beat import beat_layout
from warpfile.hdl.naming import named
from warpfile.hdl.rf.shrf.named_entries import result_entry, source_entries
from warpfile.spec.schemes.shrf import ShrfConfig


class HeadHold(wiring.Component):
    """The hazards of one warp's head beat on entries. Combinational, from registered state.

    Members
    -------
    head : In(beat_layout), buffered : In(1)   The head beat; there is one.
    to_be_written : In(entries)                State of the entries of the warp's place; zero without a place.
    hold : Out(1)                              The head beat executes, and names an entry that it has to wait for.
    """

    def __init__(self, cfg: ShrfConfig) -> None:
        self._cfg = cfg
        to_be_written = In(cfg.place_entries)
        super().__init__(
            {"head": In(beat_layout(cfg)), "buffered": In(1), "to_be_written": to_be_written, "hold": Out(1)}
        )

    def elaborate(self, platform) -> Module:
        """Entries that it names against those to be written."""
        m = Module()
        sources, result = source_entries(self._cfg, self.head), result_entry(self._cfg, self.head.hints)
        uses = named(m, "uses", any_of(sources) | result)
        m.d.comb += self.hold.eq(self.buffered & self.head.executes & (uses & self.to_be_written).any())
        return m
