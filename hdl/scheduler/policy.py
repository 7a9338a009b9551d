"""Warp schedulers that see one eligibility mask: greedy-then-oldest or -youngest, oldest and loose round robin."""

from amaranth import Cat, Const, Module, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import Ages, RoundRobin, oldest_one
from warpfile.hdl.naming import named
from warpfile.hdl.scheduler.contract import scheduler_members
from warpfile.spec.config import Config


class Gto(wiring.Component):
    """The warp that issued last while it can, otherwise the warp that was launched longest ago.

    Ports: :func:`scheduler_members`.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(scheduler_members(cfg))

    def elaborate(self, platform) -> Module:
        """Launch order as an age triangle; the last issuer as a one-hot register, which goes before all others.

        Eligibility is late: the order of warps is computed beside it.
        """
        m = Module()
        count = self._cfg.warps
        m.submodules.ages = ages = Ages(count)
        last = Signal(count)
        aged = named(m, "aged", self._before(ages))
        first = [
            self._goes_before(one, other, last[one] | (aged[count * one + other] & ~last[other]))
            if one != other
            else Const(0, 1)
            for one in range(count)
            for other in range(count)
        ]
        m.d.comb += [
            ages.arrive.eq(self.launch),
            self.grant.eq(oldest_one(self.eligible, named(m, "first", Cat(first)))),
        ]
        with m.If(self.taken):
            m.d.sync += last.eq(self.grant & ~self.exit)
        return m

    def _before(self, ages: Ages) -> Value:
        """Bit ``warp * warps + other``: the other one goes first."""
        return ages.older

    def _goes_before(self, one: int, other: int, in_class: Value) -> Value:
        """Whether one warp goes before another one, given the order within a class: here all are of one."""
        return in_class


class Cggty(Gto):
    """The warp that issued last while it can, otherwise the warp that was launched last (docs/schemes/modern.md).

    Ports: :func:`scheduler_members`.
    """

    def _before(self, ages: Ages) -> Value:
        """The age triangle, read the other way round."""
        count = self._cfg.warps
        return Cat(ages.older[count * other + warp] for warp in range(count) for other in range(count))


class Oldest(wiring.Component):
    """The warp that was launched longest ago.

    Ports: :func:`scheduler_members`.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(scheduler_members(cfg))

    def elaborate(self, platform) -> Module:
        """Launch order as an age triangle."""
        m = Module()
        m.submodules.ages = ages = Ages(self._cfg.warps)
        m.d.comb += [ages.arrive.eq(self.launch), self.grant.eq(oldest_one(self.eligible, ages.older))]
        return m


class Lrr(wiring.Component):
    """The first eligible warp at or after a pointer that moves behind every issuer.

    Ports: :func:`scheduler_members`.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(scheduler_members(cfg))

    def elaborate(self, platform) -> Module:
        """The arbiter is all there is."""
        m = Module()
        m.submodules.arbiter = arbiter = RoundRobin(self._cfg.warps)
        m.d.comb += [
            arbiter.requests.eq(self.eligible),
            arbiter.taken.eq(self.taken),
            self.grant.eq(arbiter.grant),
        ]
        return m
