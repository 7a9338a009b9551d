"""Dispatch: which unit's beat an execution port takes, and in which order units were allocated."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import Ages, RoundRobin, any_of, oldest_one, select
from warpfile.hdl.stamp import stamp
from warpfile.spec.config import Config


class DispatchArbiter(wiring.Component):
    """One ready unit per cycle for one execution port: round robin or oldest allocated first.

    Members
    -------
    ready : In(units)             Units that are ready and belong to this port.
    older : In(units ** 2)        Order of allocation.
    taken : In(1)                 The port takes the presented unit; a round-robin pointer moves.
    chosen : Out(units)           One-hot in the same cycle, zero if none is ready.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        units = cfg.asks.units
        super().__init__({"ready": In(units), "older": In(units**2), "taken": In(1), "chosen": Out(units)})

    def elaborate(self, platform) -> Module:
        """One of the two arbiters."""
        m = Module()
        if self._cfg.dispatch_arbitration == "oldest":
            m.d.comb += self.chosen.eq(oldest_one(self.ready, self.older))
            return m
        m.submodules.round_robin = arbiter = RoundRobin(self._cfg.asks.units)
        m.d.comb += [arbiter.requests.eq(self.ready), arbiter.taken.eq(self.taken), self.chosen.eq(arbiter.grant)]
        return m


def allocation_order(m: Module, cfg: Config, allocate: Value, *, also: bool = False) -> Value:
    """Order in which units took their beats (:class:`Ages`), where an arbiter, a look-up or a copied slot goes by it.

    Zero where nothing does. ``allocate``: the unit that takes a beat, one-hot. ``also``: the collectors go by it.
    """
    looks_up = cfg.gives.later or cfg.gives.renamed or cfg.gives.brings
    if "oldest" not in (cfg.bank_arbitration, cfg.dispatch_arbitration) and not looks_up and not also:
        return Const(0, cfg.asks.units**2)
    m.submodules.ages = ages = Ages(cfg.asks.units)
    m.d.comb += ages.arrive.eq(allocate)
    return ages.older


def dispatch_units(m: Module, cfg: Config, collectors: wiring.Component, units: list, older: Value) -> Value:
    """Drive ``dispatch`` and ``chosen`` of collectors. Returns the units whose beat leaves.

    Every unit has ``ready`` and, of its beat, ``port`` and ``out``.
    """
    leaving = Signal(len(units), name="leaving")
    taken = []
    clocked = cfg.dispatch_arbitration != "oldest"
    for port, out in enumerate(collectors.dispatch):
        arbiter = stamp(m, f"dispatch{port}", "dispatch_arbiter", lambda: DispatchArbiter(cfg), clocked=clocked)
        m.d.comb += [
            arbiter.ready.eq(Cat(unit.ready & (unit.port == port) for unit in units)),
            arbiter.older.eq(older),
            arbiter.taken.eq(out.valid & out.ready),
            collectors.chosen[port].eq(arbiter.chosen),
            out.valid.eq(arbiter.chosen.any()),
            out.payload.eq(select(arbiter.chosen, [unit.out.as_value() for unit in units])),
        ]
        taken.append(arbiter.chosen & out.ready.replicate(len(units)))
    m.d.comb += leaving.eq(any_of(taken))
    return leaving
