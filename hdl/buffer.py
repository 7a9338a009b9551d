"""Instruction buffer of one warp."""

from amaranth import Module, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import beat_layout
from warpfile.spec.config import Config


class InstructionBuffer(wiring.Component):
    """Queue of ``cfg.buffer_depth`` beats; the oldest is always in entry 0.

    A beat pushed in one cycle is seen from the next. The user pushes only where there is room and pops only what is
    valid. Only the valid bits are reset.

    Members
    -------
    push : In(1), beat : In(beat_layout(cfg))
    pop : In(1)
    valid : Out(1), head : Out(beat_layout(cfg))
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        layout = beat_layout(cfg)
        super().__init__({"push": In(1), "beat": In(layout), "pop": In(1), "valid": Out(1), "head": Out(layout)})

    def elaborate(self, platform) -> Module:
        """A shift register whose entries are filled from the front."""
        m = Module()
        depth = self._cfg.buffer_depth
        valid = [Signal(name=f"valid{index}") for index in range(depth + 1)]
        entries = [Signal(beat_layout(self._cfg), name=f"entry{index}", reset_less=True) for index in range(depth)]
        for index in range(depth):
            before = valid[index - 1] if index else 1
            # The entry that is free once this cycle's pop has moved everything up takes the new beat.
            place = Signal(name=f"place{index}")
            with m.If(self.pop):
                m.d.comb += place.eq(valid[index] & ~valid[index + 1])
                m.d.sync += valid[index].eq(valid[index + 1] | (place & self.push))
            with m.Else():
                m.d.comb += place.eq(before & ~valid[index])
                m.d.sync += valid[index].eq(valid[index] | (place & self.push))
            with m.If(place & self.push):
                m.d.sync += entries[index].eq(self.beat)
            if index + 1 < depth:
                with m.Elif(self.pop):
                    m.d.sync += entries[index].eq(entries[index + 1])
        m.d.comb += [self.valid.eq(valid[0]), self.head.eq(entries[0])]
        return m
