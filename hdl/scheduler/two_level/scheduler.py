"""The two-level scheduler: a few warps hold a place and may issue, the others wait for one."""

from collections.abc import Iterator
from functools import reduce
from operator import or_

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import wiring

from warpfile.hdl.arbiter import RoundRobin, any_of, decode, encode, lowest_one, oldest_one, prefix_or, select
from warpfile.hdl.naming import named
from warpfile.hdl.scheduler.contract import place_members, scheduler_members
from warpfile.spec.config import Config


class TwoLevel(wiring.Component):
    """Places for active warps, and the choice among them (docs/machine.md, section 4, "The two-level scheduler").

    Members
    -------
    See :func:`scheduler_members` and :func:`place_members`.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__({**scheduler_members(cfg), **place_members(cfg)})

    def elaborate(self, platform) -> Module:
        """Which warp suspends, which leaves, which comes, which issues."""
        m = Module()
        resumed = Signal(self._cfg.warps)
        holders = named(m, "holders", any_of(self.places))
        active = named(m, "active", self.placed & ~self.draining & ~self.releasing)
        needy = named(m, "needy", self.ready & self.buffered)
        self._suspend(m, active, resumed, needy.any())
        target = self._activate(m, holders, needy)
        self._move(m, target)
        self._choose(m)
        issuing = self.grant & self.taken.replicate(self._cfg.warps)
        m.d.sync += resumed.eq((resumed & ~issuing) | self.activate)
        return m

    @property
    def _away(self) -> Value:
        """Warps without a place that wait for loads."""
        return self.outstanding if self._cfg.sees_outstanding else self._loading

    @property
    def _loading(self) -> Value:
        """Warps that a load keeps from going on."""
        return self.buffered & self.marked & self.touches_long

    def _of_places(self, m: Module, name: str, warps: Value) -> Value:
        """What holds for the warp of each place."""
        return named(m, name, Cat((place & warps).any() for place in self.places))

    def _suspend(self, m: Module, active: Value, resumed: Value, needed: Value) -> None:
        suspends = named(m, "suspends", self._suspends(resumed))
        long = self._of_places(m, "place_suspends", suspends)
        # A head beat that touches a long register has a hazard, so that its warp is not eligible anyway.
        stops = Const(0, self._cfg.warps) if self._cfg.suspend == "pending" else suspends
        m.d.comb += self.runs.eq(self.open & select(active, list(self.places)) & ~stops)
        stays, going = [], []
        for starts, places, when in self._leaving(m, active, long):
            if when == "needed":
                stays.append((starts, places))
            else:
                m.d.comb += starts.eq(places)
                going.append(starts)
        if stays:
            one = self._gives_way([places for _, places in stays], going, needed)
            m.d.comb += [starts.eq(one if len(stays) == 1 else places & one) for starts, places in stays]

    def _leaving(self, m: Module, active: Value, long: Value) -> Iterator[tuple[Value, Value, str]]:
        """By reason: who starts to drain, an output, among those that would leave, and whether always or if needed."""
        yield self.suspend_long, active & long, self._cfg.suspend_load
        if self._cfg.suspend != "never":
            waits = self._of_places(m, "place_waits", self.waiting & ~self.barrier_released)
            stopped = named(m, "stopped", active & ~long & waits)
            yield self.suspend_barrier, stopped, self._cfg.suspend_barrier
            # With ``never`` every warp has a place, so that no place is needed.
            if not self._cfg.gives.keeps_places:
                yield self.suspend_starved, self._starved(m, active, long | waits), "needed"

    def _starved(self, m: Module, active: Value, kept: Value) -> Value:
        """Active places whose warps had no beat for too long and have none, unless something else keeps them."""
        hungry = named(m, "hungry", active & ~self._of_places(m, "place_buffered", self.buffered))
        long_enough = Cat(self._idle(m, f"idle{place}", empty) for place, empty in enumerate(hungry))
        return named(m, "starved", hungry & ~kept & long_enough)

    def _idle(self, m: Module, name: str, hungry: Value) -> Value:
        """Count the cycles of a place without a beat; whether that was so for ``starved_after`` of them."""
        most = self._cfg.starved_after
        idle = Signal(range(most + 1), name=name)
        # It never goes beyond, so that the ones of the largest number are set in no other.
        full = named(m, f"{name}_full", (idle & most) == most)
        m.d.sync += idle.eq(Mux(hungry, idle + ~full, 0))
        return full

    def _suspends(self, resumed: Value) -> Value:
        if self._cfg.suspend == "outstanding":
            return self.outstanding & ~(self.buffered & self.at_exit)
        if self._cfg.suspend == "strands":
            return self.outstanding & self.buffered & self.marked & ~self.at_exit
        return {
            "pending": self._loading,
            "always": self.buffered & self.marked & ~resumed,
            "never": Const(0, self._cfg.warps),
        }[self._cfg.suspend]

    def _gives_way(self, stay: list[Value], going: list[Value], needed: Value) -> Value:
        """One of the places that stay unless needed, if a warp needs it and no other place is free or about to be."""
        staying = self.placed & ~self.draining & ~self.releasing
        for places in going:
            staying &= ~places
        return lowest_one(reduce(or_, stay)) & (needed & staying.all()).replicate(self._cfg.active_warps)

    def _activate(self, m: Module, holders: Value, needy: Value) -> Value:
        """The place that the next warp gets, one-hot; zero if none is given away."""
        m.submodules.pointer = pointer = RoundRobin(self._cfg.warps, others=True)
        free = named(m, "free_place", lowest_one(~self.placed))
        comes = named(m, "comes", self.ready.any() & free.any())  # any warp
        m.d.comb += [
            self.ready.eq(self.resident & ~holders & ~self.waiting & ~self._away),
            pointer.requests.eq(needy),
            pointer.others.eq(self.ready & ~self.buffered),
            pointer.taken.eq(comes),
            self.activate.eq(pointer.grant & free.any().replicate(self._cfg.warps)),
        ]
        return named(m, "target", free & comes.replicate(self._cfg.active_warps))

    def _move(self, m: Module, target: Value) -> None:
        """States of the places. Of each the one-hot warp is kept, because everything begins with it in a cycle."""
        busy = self._of_places(m, "place_busy", self.collecting | self.short_pending)
        ends = self._of_places(m, "place_ends", self.exit)
        drained = named(m, "drained", self.draining & ~busy)
        starts = self.suspend_long | self.suspend_barrier | self.suspend_starved
        left = named(m, "left", ends | (self.releasing & self.released))
        m.d.sync += [
            self.placed.eq((self.placed & ~left) | target),
            self.draining.eq((self.draining & ~drained) | starts),
            self.releasing.eq((self.releasing & ~self.released) | drained),
        ]
        for number, place in enumerate(self.places):
            with m.If(left[number]):
                m.d.sync += place.eq(0)
            with m.Elif(target[number]):
                m.d.sync += place.eq(self.activate)

    def _choose(self, m: Module) -> None:
        """From the current place on, or from behind it. Eligibility is late: the order of warps is known beside it."""
        count = self._cfg.active_warps
        reached = named(m, "reached", prefix_or(decode(self.current, count)))
        if self._cfg.active_choice != "greedy":
            reached = named(m, "passed", (reached << 1)[:count])
        before = [
            reached[one] | ~reached[other] if one < other else reached[one] & ~reached[other]
            for one in range(count)
            for other in range(count)
        ]
        eligible = self._of_places(m, "place_eligible", self.eligible)
        chosen = named(m, "chosen", oldest_one(eligible, named(m, "before", Cat(before))))
        m.d.comb += self.grant.eq(select(chosen, list(self.places)))
        with m.If(self.taken):
            m.d.sync += self.current.eq(encode(chosen, self._cfg.place_count_bits))
