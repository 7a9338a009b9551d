"""Instruction buffer of one warp."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout
from warpfile.hdl.clock_gate import take
from warpfile.spec.config import Config


class InstructionBuffer(wiring.Component):
    """Queue of ``cfg.buffer_depth`` beats; the oldest is always in entry 0.

    A beat pushed in one cycle is seen from the next. Without ``ready`` a push changes nothing, even while a beat
    leaves: who sends cannot know of that yet. The user pops only what is valid. Only the valid bits are reset.

    Members
    -------
    push : In(1), beat : In(beat_layout(cfg))   A beat comes.
    ready : Out(1)    An entry is free; a register's output.
    pop : In(1)       The oldest beat leaves.
    valid : Out(1), head : Out(beat_layout(cfg))   The oldest beat, if there is one.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        layout = beat_layout(cfg)
        super().__init__(
            {
                "push": In(1),
                "beat": In(layout),
                "ready": Out(1),
                "pop": In(1),
                "valid": Out(1),
                "head": Out(layout),
            }
        )

    def elaborate(self, platform) -> Module:
        """A shift register whose entries are filled from the front."""
        m = Module()
        depth = self._cfg.buffer_depth
        valid = [Signal(name=f"valid{index}") for index in range(depth)]
        entries = [Signal(beat_layout(self._cfg), name=f"entry{index}", reset_less=True) for index in range(depth)]
        for index in range(depth):
            before = valid[index - 1] if index else 1
            last = index + 1 == depth
            following = 0 if last else valid[index + 1]
            # The entry that is free once this cycle's pop has moved everything up takes the new beat.
            place = Signal(name=f"place{index}")
            with m.If(self.pop):
                m.d.comb += place.eq(0 if last else valid[index] & ~following)
                m.d.sync += valid[index].eq(following | (place & self.push))
            with m.Else():
                m.d.comb += place.eq(before & ~valid[index])
                m.d.sync += valid[index].eq(valid[index] | (place & self.push))
            up = [] if last else [(self.pop, [entries[index + 1].as_value()])]
            taken = (place & self.push, [self.beat.as_value()]), *up
            take(m, self._cfg, f"entry{index}", [entries[index].as_value()], *taken)
        m.d.comb += [self.ready.eq(~valid[-1]), self.valid.eq(valid[0]), self.head.eq(entries[0])]
        return m
