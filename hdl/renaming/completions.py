"""Results of one port in flight to the scoreboard, where some are stored later than they are taken."""

from amaranth import Const, Module, Mux, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.beat import completion_layout
from warpfile.hdl.clock_gate import take
from warpfile.hdl.naming import named
from warpfile.spec.config import Config


class Completions(wiring.Component):
    """One completion per cycle: that of the result that is stored, or else the first of those with nothing to store.

    Of these, one that has a register is *late*: it completes ``gives.lead`` (1 or 2) cycles after it was taken, or
    after that. None overtakes one that was taken before it.

    *Room.* At most ``lead`` + 1 results are between X and their banks: in W0, W1 and, with a lead of 2, T. With those
    that wait they are n. One is taken per cycle, so n grows only in cycles in which nothing completes. Without late
    ones none waits then, nor begins to: so n is at most ``lead`` + 1, and so many can wait. Late ones, which only
    ``asks.keeps`` brings, are not due for ``lead`` - 1 cycles after the one in which they are taken. If nothing
    completes, the first was taken that recently, hence fewer than ``lead`` wait, and with the one that is taken n is at
    most 2 ``lead`` + 1.

    Members
    -------
    stored : In(1), store : In(completion_layout(cfg))   A result is stored in this cycle.
    taken : In(1), result : In(completion_layout(cfg))   A result is taken that need not be stored.
    late : In(1)                 It has a register.
    completed : Out(1), completion : Out(completion_layout(cfg))   What completes.
    waiting : Out(1)             Some wait; a register's output.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        lead = cfg.gives.lead
        self._depth = 2 * lead + 1 if cfg.asks.keeps else lead + 1
        self._waits_more = bool(cfg.asks.keeps) and lead > 1
        layout = completion_layout(cfg)
        super().__init__(
            {
                **{name: In(1) for name in ("stored", "taken", "late")},
                **{name: In(layout) for name in ("store", "result")},
                "completed": Out(1),
                "completion": Out(layout),
                "waiting": Out(1),
            }
        )

    def elaborate(self, platform) -> Module:
        """A queue whose first place is the one that leaves."""
        m = Module()
        valid = [Signal(name=f"valid{place}") for place in range(self._depth)]
        held = [Signal(self.result.shape(), name=f"held{place}", reset_less=True) for place in range(self._depth)]
        due: Value = valid[0]
        if self._waits_more:
            young = Signal(name="young")  # the first one is late, and was taken in the cycle before
            due = named(m, "due", due & ~young)
        leaves = named(m, "leaves", due & ~self.stored)
        at_once = named(m, "at_once", self.taken & ~self.late & ~valid[0] & ~self.stored)
        enters = named(m, "enters", self.taken & ~at_once)
        for place in range(self._depth):
            last = place + 1 == self._depth
            behind = Const(0, 1) if last else valid[place + 1]
            before = valid[place - 1] if place else Const(1, 1)
            stays = Mux(leaves, behind, valid[place])
            here = Mux(leaves, valid[place] & ~behind, before & ~valid[place])
            takes = named(m, f"takes{place}", enters & here)
            if self._waits_more and not place:
                m.d.sync += young.eq(takes & self.late)
            m.d.sync += valid[place].eq(stays | takes)
            follows = [] if last else [(leaves, [held[place + 1].as_value()])]
            take(m, self._cfg, f"held{place}", [held[place].as_value()], (takes, [self.result.as_value()]), *follows)
        m.d.comb += [
            self.waiting.eq(valid[0]),
            self.completed.eq(self.stored | due | at_once),
            self.completion.eq(Mux(self.stored, self.store, Mux(valid[0], held[0], self.result))),
        ]
        return m
