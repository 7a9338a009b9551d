"""Choice of the collector unit that an execution port takes."""

from amaranth import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, oldest_one
from warpfile.spec.config import Config


class DispatchArbiter(wiring.Component):
    """One ready unit per cycle for one execution port: round robin or oldest allocated first.

    Members
    -------
    ready : In(collectors)        Units that are ready and belong to this port.
    older : In(collectors ** 2)
    taken : In(1)                 The port takes the presented unit; a round-robin pointer moves.
    chosen : Out(collectors)      One-hot in the same cycle, zero if none is ready.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {"ready": In(cfg.collectors), "older": In(cfg.collectors**2), "taken": In(1), "chosen": Out(cfg.collectors)}
        )

    def elaborate(self, platform) -> Module:
        """One of the two arbiters."""
        m = Module()
        if self._cfg.dispatch_arbitration == "oldest":
            m.d.comb += self.chosen.eq(oldest_one(self.ready, self.older))
            return m
        m.submodules.round_robin = arbiter = RoundRobin(self._cfg.collectors)
        m.d.comb += [arbiter.requests.eq(self.ready), arbiter.taken.eq(self.taken), self.chosen.eq(arbiter.grant)]
        return m
