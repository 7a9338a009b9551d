"""How many registers issued beats have yet to write (docs/schemes/pilot.md, section 12)."""

from amaranth import Module, Mux
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout
from warpfile.hdl.count import count_ones
from warpfile.spec.schemes.pilot import PilotConfig, awaited_bits


class AwaitedResults(wiring.Component):
    """Counts destinations of beats that issue, and results that are accepted.

    Members
    -------
    issue : In(1), beat : In(beat_layout(cfg))   A beat issues.
    accepted : In(write_ports)    Results with a register that are accepted in this cycle.
    count : Out                   Up to the cycle before.
    """

    def __init__(self, cfg: PilotConfig) -> None:
        super().__init__(
            {
                "issue": In(1),
                "beat": In(beat_layout(cfg)),
                "accepted": In(cfg.write_ports),
                "count": Out(awaited_bits(cfg)),
            }
        )

    def elaborate(self, platform) -> Module:
        """One sum; the issue, which is late in its cycle, chooses between two."""
        m = Module()
        left = self.count - count_ones(list(self.accepted))
        more = left + self.beat.dest_count
        m.d.sync += self.count.eq(Mux(self.issue & self.beat.executes, more, left))
        return m
