"""Beats that read, and the one that has read (sections 7.2 and 7.4)."""

from amaranth import Cat, Module, Signal
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.collectors.read_window.beats import reading_layout
from warpfile.spec.schemes.modern import ReadWindowConfig


class WindowStages(wiring.Component):
    """A stage per cycle of the window, and X, which dispatches; a beat goes on in every cycle.

    Members
    -------
    comes : In(1), beat : In(reading_layout(cfg))   A beat leaves Allocate.
    valid : Out(stages), warps : Out(ArrayLayout)   Stages with a beat, X the highest, and their warps.
    out : Out(reading_layout(cfg))   The beat in X.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        layout, stages = reading_layout(cfg), cfg.read_window + 1
        super().__init__(
            {
                "comes": In(1),
                "beat": In(layout),
                "valid": Out(stages),
                "warps": Out(data.ArrayLayout(cfg.warp_bits, stages)),
                "out": Out(layout),
            }
        )

    def elaborate(self, platform) -> Module:
        """A shift register."""
        m = Module()
        m.d.sync += self.valid.eq(Cat(self.comes, self.valid)[: len(self.valid)])
        beat = self.beat
        for number, warp in enumerate(self.warps):
            stage = Signal(reading_layout(self._cfg), name=f"stage{number}", reset_less=True)
            m.d.sync += stage.eq(beat)
            m.d.comb += warp.eq(stage.warp)
            beat = stage
        m.d.comb += self.out.eq(beat)
        return m


class HistoryNames(wiring.Component):
    """Whose the last results of fixed latency are; their words are in the lanes.

    Members
    -------
    comes : In(1), warp : In(warp_bits), register : In(register_bits), mask : In(lanes)   One is accepted.
    valid : In(slots), reader : In(warp_bits), registers : In(ArrayLayout)   Sources of the beat in X.
    forward : Out(slots * ages)      Results for them; bit slot * ages + age - 1.
    masks : Out(ArrayLayout)         Lanes of the results, the youngest first.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        slots, ages = cfg.source_slots, cfg.read_window
        super().__init__(
            {
                "comes": In(1),
                "warp": In(cfg.warp_bits),
                "register": In(cfg.register_bits),
                "mask": In(cfg.lanes),
                "valid": In(slots),
                "reader": In(cfg.warp_bits),
                "registers": In(data.ArrayLayout(cfg.register_bits, slots)),
                "forward": Out(slots * ages),
                "masks": Out(data.ArrayLayout(cfg.lanes, ages)),
            }
        )

    def elaborate(self, platform) -> Module:
        """A shift register with a comparison per source."""
        m = Module()
        cfg, ages, came = self._cfg, self._cfg.read_window, Signal(self._cfg.read_window)
        m.d.sync += came.eq(Cat(self.comes, came)[:ages])
        name, mask = Cat(self.warp, self.register), self.mask
        for age in range(ages):
            held = Signal(len(name), name=f"name{age}", reset_less=True)
            lanes = Signal(cfg.lanes, name=f"mask{age}", reset_less=True)
            m.d.sync += [held.eq(name), lanes.eq(mask)]
            m.d.comb += self.masks[age].eq(lanes)
            for slot, register in enumerate(self.registers):
                same = held == Cat(self.reader, register)
                m.d.comb += self.forward[slot * ages + age].eq(came[age] & self.valid[slot] & same)
            name, mask = held, lanes
        return m
