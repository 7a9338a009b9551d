"""Control: the beat that issued in the last tick, and how far apart beats of fixed latency issue."""

from amaranth import Cat, Module, Mux, Signal
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.collectors.read_window.beats import issued_layout
from warpfile.spec.schemes.modern import ReadWindowConfig


class ControlStage(wiring.Component):
    """Holds a beat of fixed or variable latency until the next tick.

    Members
    -------
    tick : In(1)                     Time goes on: the beat leaves, another may come.
    comes : In(1), beat : In(issued_layout(cfg))   A beat issues that goes further than this.
    fixed : In(1), fma : In(1)       It is of fixed latency; of the multiply-add unit.
    returns : In(1)                  It gets a result.
    valid : Out(1), out : Out(issued_layout(cfg))   The beat.
    busy : Out(2)                    Units that cannot start a beat of fixed latency in this tick: other, multiply-add.
    result_busy : Out(2)             Because of the results of the last ones there may start no beat at all, and none
                                     that has several.
    """

    def __init__(self, cfg: ReadWindowConfig) -> None:
        self._cfg = cfg
        layout = issued_layout(cfg)
        names = ("tick", "comes", "fixed", "fma", "returns")
        super().__init__(
            {
                **{name: In(1) for name in names},
                "beat": In(layout),
                "valid": Out(1),
                "out": Out(layout),
                "busy": Out(2),
                "result_busy": Out(2),
            }
        )

    def elaborate(self, platform) -> Module:
        """The beat and the counts."""
        m = Module()
        held, results = Signal(issued_layout(self._cfg), reset_less=True), Signal(2)
        starts = self.comes & self.fixed
        m.d.comb += [self.out.eq(held), self.result_busy.eq(Cat(results[1], results.any()))]
        with m.If(self.tick):
            m.d.sync += self.valid.eq(self.comes)
            with m.If(self.comes):
                m.d.sync += held.eq(self.beat)
            with m.If(starts & self.returns):
                m.d.sync += results.eq(Mux(self.beat.dest_count > 1, self.beat.dest_count - 1, 1))
            with m.Elif(results.any()):
                m.d.sync += results.eq(results - 1)
            if self._cfg.unit_interval > 1:
                m.d.sync += self.busy.eq(Mux(starts, Cat(~self.fma, self.fma), 0))
        return m
