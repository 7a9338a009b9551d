"""The wait threshold of caching collector units, which follows the issue rate (docs/schemes/malekeh.md, section 4)."""

from amaranth import Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.naming import named
from warpfile.spec.config import index_bits
from warpfile.spec.schemes.malekeh import THRESHOLD_BITS, MalekehConfig

LARGEST = (1 << THRESHOLD_BITS) - 1
#: State -> (move, next state) after a small and after a large change of the issue rate.
MOVES = {
    1: (("up", 2), ("up", 2)),
    2: (("up", 2), ("up", 3)),
    3: (("up", 2), ("down_twice", 4)),
    4: (("up", 5), ("down", 4)),
    5: (("stay", 6), ("down", 4)),
    6: (("stay", 6), ("up", 3)),
}
#: Where the threshold cannot climb or fall further, its search is over.
SETTLED = 6


class WaitThreshold(wiring.Component):
    """Counts the beats of each interval and moves the threshold where their number changed little or much.

    Members
    -------
    issue : In(1)
    threshold : Out(THRESHOLD_BITS), state : Out(3)   New values are seen from the first cycle of the next interval.
    interval_end : Out(1)                             Last cycle of an interval.
    """

    def __init__(self, cfg: MalekehConfig) -> None:
        self._cfg = cfg
        super().__init__(
            {
                "issue": In(1),
                "threshold": Out(THRESHOLD_BITS, init=cfg.wait_threshold),
                "state": Out(3, init=1),
                "interval_end": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """The interval's clock; what follows the issue rate is built only where the threshold does."""
        m = Module()
        cycle = Signal(index_bits(self._cfg.interval))
        m.d.comb += self.interval_end.eq(cycle == self._cfg.interval - 1)
        m.d.sync += cycle.eq(Mux(self.interval_end, 0, cycle + 1))
        if self._cfg.wait_control == "adaptive":
            self._move(m, self._change(m))
        else:
            m.d.comb += [self.threshold.eq(self._cfg.wait_threshold), self.state.eq(1)]
        return m

    def _change(self, m: Module) -> Value:
        """Whether this interval's number of beats differs from the last one's by more than its share.

        Whether a beat issues is known late, so that it only chooses between what would be without it and with it.
        """
        issued = Signal(self._cfg.issue_count_bits)
        before = Signal(self._cfg.issue_count_bits)
        more = named(m, "more", (issued + 1)[: len(issued)])
        now = named(m, "now", Mux(self.issue, more, issued))
        m.d.sync += issued.eq(Mux(self.interval_end, 0, now))
        with m.If(self.interval_end):
            m.d.sync += before.eq(now)
        return named(m, "large_change", Mux(self.issue, *(self._large(m, count, before) for count in (more, issued))))

    def _large(self, m: Module, count: Value, before: Value) -> Value:
        difference = named(m, f"difference_{count.name}", count - before)
        magnitude = named(m, f"magnitude_{count.name}", Mux(difference[-1], -difference, difference)[: len(count)])
        return named(m, f"large_{count.name}", (magnitude << self._cfg.large_bits) > before)

    def _move(self, m: Module, large: Value) -> None:
        step = self._cfg.wait_step
        targets = {
            "stay": self.threshold,
            "up": Mux(self.threshold > LARGEST - step, LARGEST, self.threshold + step),
            "down": Mux(self.threshold < step, 0, self.threshold - step),
            "down_twice": Mux(self.threshold < 2 * step, 0, self.threshold - 2 * step),
        }
        moved = {name: named(m, f"threshold_{name}", value[:THRESHOLD_BITS]) for name, value in targets.items()}
        with m.If(self.interval_end), m.Switch(self.state):
            for state, ((small, after_small), (big, after_large)) in MOVES.items():
                if state == 2:
                    after_small = Mux(self.threshold == LARGEST, SETTLED, after_small)
                if state == 4:
                    after_large = Mux(self.threshold == 0, SETTLED, after_large)
                with m.Case(state) if state != SETTLED else m.Default():
                    m.d.sync += [
                        self.threshold.eq(Mux(large, moved[big], moved[small])),
                        self.state.eq(Mux(large, after_large, after_small)),
                    ]
