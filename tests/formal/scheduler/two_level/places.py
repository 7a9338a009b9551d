"""Proofs of the two-level scheduler: who has a place, who comes and goes, who issues."""

from collections.abc import Iterator

from amaranth import Cat, Const, Mux, Signal, Value
from amaranth.hdl import Assert, Assume, Cover

from tests.formal.collectors.malekeh.parts import ConfiguredProperties
from tests.formal.properties import Fairness, Miswired, Proof, at_most_one, choice, constant, past
from warpfile.hdl.arbiter import any_of
from warpfile.hdl.scheduler.two_level.scheduler import TwoLevel
from warpfile.spec.config import Config

#: Of places that are kept unless needed, by output.
_ONLY = {
    "suspend_long": "only a place whose warp has a load out is given up for one",
    "suspend_barrier": "only a place whose warp waits is given up at a barrier",
    "suspend_starved": "only a place without a beat for so long is given up for lack of one",
}
_NEED = "for a ready warp with a beat, when no other place becomes free"
_KEPT = "while a warp needs a place, one is free or leaves, or none has stopped or is starved"
_WAITS = "or because its warp waits"
_READY = "ready warps are resident, have no place, and do not wait"
_FIRST = "one with a beat, if there is any"
FREE, ACTIVE, DRAINING, RELEASING = range(4)  #: what a place goes through


class PlaceProperties(ConfiguredProperties):
    """All places in one cycle, and any one of them from cycle to cycle, beside the states of docs/machine.md."""

    def check(self, m, part):
        cfg = self._cfg
        self.place, self.state = constant(m, "place", cfg.active_warps), Signal(2)
        self.holders = [part.places[place] for place in range(cfg.active_warps)]
        self.active = part.placed & ~part.draining & ~part.releasing
        self._promised(m, part)
        self._suspends(m, part)
        self._held(m, part)
        self._activated(m, part)
        self._follow(m, part)
        self._issue(m, part)

    def _promised(self, m, part) -> None:
        """By the frame and by the operand stage; only its EXIT makes a warp not resident.

        A head beat that touches a long register is not clear, a proof of the scoreboard; only ``pending`` builds on it.
        """
        may_issue = part.runs & part.buffered & ~part.waiting
        if self._cfg.suspend == "pending":
            may_issue &= ~part.touches_long
        m.d.comb += [
            Assume((part.eligible & ~may_issue) == 0),
            Assume(~part.taken | part.grant.any()),
            Assume((part.exit == 0) | (part.taken & (part.exit == part.grant))),
            Assume((part.barrier_released & ~part.waiting) == 0),
            Assume((part.released & ~part.releasing) == 0),
            Assume((any_of(self.holders) & ~part.resident) == 0),
        ]

    def _of_places(self, warps: Value) -> Value:
        """What holds for the warp of each place."""
        return Cat((holder & warps).any() for holder in self.holders)

    def _suspends(self, m, part) -> None:
        """Warps whose marked beat gives up their place, and places that start to drain."""
        cfg, self.resumed = self._cfg, Signal(self._cfg.warps, name="resumed_shadow")
        issuing = Mux(part.taken, part.grant, 0)
        m.d.sync += self.resumed.eq((self.resumed | part.activate) & ~(issuing & ~part.activate))
        marked = part.buffered & part.marked
        self.suspends = Signal(cfg.warps, name="suspends_shadow")
        m.d.comb += self.suspends.eq(
            part.outstanding & ~(part.buffered & part.at_exit)
            if cfg.suspend == "outstanding"
            else {
                "pending": marked & part.touches_long,
                "strands": marked & part.outstanding & ~part.at_exit if cfg.suspend == "strands" else 0,
                "always": marked & ~self.resumed,
                "never": 0,
            }[cfg.suspend]
        )
        long = self.active & self._of_places(self.suspends)
        stopped = self.active & ~long & self._of_places(part.waiting & ~part.barrier_released)
        starved = self._starved(m, part) & ~long & ~stopped
        stay, leaves, staying = Const(0), Const(0), self.active
        for starts, places, when, text in (
            (part.suspend_long, long, cfg.suspend_load, "a place drains for its warp's marked beat"),
            (part.suspend_barrier, stopped if cfg.suspend != "never" else 0, cfg.suspend_barrier, _WAITS),
            (part.suspend_starved, starved, "needed", ""),
        ):
            if when == "always":
                m.d.comb += Assert(starts == places, text)
                staying &= ~places
            else:
                m.d.comb += Assert((starts & ~places) == 0, _ONLY[starts.name])
                stay, leaves = stay | places, leaves | starts
        self._gives_way(m, part, leaves, stay, staying)

    def _starved(self, m, part) -> Value:
        """Active places whose warps have no beat and had none in any of so many cycles before, all on that place."""
        after, hungry = self._cfg.starved_after, self.active & ~self._of_places(part.buffered)
        self.hunger = [Signal(after, name=f"hunger{place}") for place in range(self._cfg.active_warps)]
        m.d.sync += [before.eq(Cat(now, before)) for before, now in zip(self.hunger, hungry, strict=True)]
        return hungry & Cat(before.all() for before in self.hunger)

    def _gives_way(self, m, part, leaves: Value, stopped: Value, staying: Value) -> None:
        """One place drains for a warp that needs it; so no ready warp waits while all places have stopped warps."""
        needed = (part.ready & part.buffered).any()
        m.d.comb += [
            Assert(at_most_one(leaves), "one at a time"),
            Assert((leaves == 0) | (needed & staying.all()), _NEED),
            Assert((leaves == 0) | (((leaves - 1) & stopped) == 0), "the lowest"),
            Assert(~needed | ~stopped.any() | leaves.any() | ~staying.all(), _KEPT),
        ]
        if self._cfg.active_warps < self._cfg.warps:  # otherwise every warp has a place
            m.d.comb += [
                Cover(stopped.all() & leaves.any(), "all places have stopped or are starved"),
                Cover(part.suspend_starved.any(), "a place is given up for lack of a beat"),
            ]

    def _held(self, m, part) -> None:
        count, here = self._cfg.active_warps, any_of(self.holders)
        active = any_of(Mux(self.active[place], holder, 0) for place, holder in enumerate(self.holders))
        both = [(self.holders[a] & self.holders[b]).any() for a in range(count) for b in range(a)]
        m.d.comb += [
            *(Assert(at_most_one(holder), "a place has at most one warp") for holder in self.holders),
            Assert(Cat(holder.any() for holder in self.holders) == part.placed, "a place is free or has a warp"),
            Assert(~any_of(both), "a warp has at most one place"),
            Assert((part.draining & part.releasing) == 0, "a place is in one state"),
            Assert(((part.draining | part.releasing) & ~part.placed) == 0, "a free place is in none"),
            Assert((part.runs & ~(part.open & active)) == 0, "only a warp on an active place runs"),
            Assert((part.open & active & ~self.suspends & ~part.runs) == 0, "it does unless it suspends"),
            Assert((part.grant & ~active) == 0, "only a warp on an active place issues"),
            Assert((part.grant & self.suspends) == 0, "no warp issues that suspends"),
        ]
        self.ready = Signal(self._cfg.warps, name="ready_shadow")
        marked = part.buffered & part.marked
        loading = part.outstanding if self._cfg.sees_outstanding else marked & part.touches_long
        m.d.comb += self.ready.eq(part.resident & ~here & ~part.waiting & ~loading)

    def _activated(self, m, part) -> None:
        """A free place goes to a warp that is ready, in turn."""
        needy, free = self.ready & part.buffered, ~part.placed
        self.fair = Fairness(m, needy, part.activate, part.activate.any())
        m.d.comb += [
            Assert(part.ready == self.ready, _READY),
            Assert(at_most_one(part.activate) & ((part.activate & ~self.ready) == 0), "one ready warp gets a place"),
            Assert((needy == 0) | ((part.activate & ~needy) == 0), _FIRST),
            Assert(part.activate.any() == (self.ready.any() & free.any()), "a free place goes to a ready warp at once"),
            Cover(self.fair.passed == self._cfg.warps - 1, "every other warp gets a place before"),
        ]

    def _follow(self, m, part) -> None:
        """The states of one place, and its warp."""
        self.holder = Signal(self._cfg.warps, name="holder_shadow")
        held = Cat(self.holders).word_select(self.place, self._cfg.warps)
        comes = part.activate.any() & ((~part.placed & ((2 << self.place) - 1)) == 1 << self.place)
        starts = (part.suspend_long | part.suspend_barrier | part.suspend_starved).bit_select(self.place, 1)
        busy = (held & (part.collecting | part.short_pending)).any()
        self.left = past(m, part.released.bit_select(self.place, 1), "released")
        with m.Switch(self.state):
            with m.Case(FREE):
                m.d.sync += [self.state.eq(Mux(comes, ACTIVE, FREE)), self.holder.eq(Mux(comes, part.activate, 0))]
            with m.Case(ACTIVE):
                ends = (self.holder & part.exit).any()
                m.d.sync += self.state.eq(Mux(ends, FREE, Mux(starts, DRAINING, ACTIVE)))
                m.d.sync += self.holder.eq(Mux(ends, 0, self.holder))
            with m.Case(DRAINING):
                m.d.sync += self.state.eq(Mux(busy, DRAINING, RELEASING))
            with m.Case(RELEASING), m.If(part.released.bit_select(self.place, 1)):
                m.d.sync += [self.state.eq(FREE), self.holder.eq(0)]
        self._states(m, part, held)

    def _states(self, m, part, held: Value) -> None:
        placed, draining, releasing = (
            bits.bit_select(self.place, 1) for bits in (part.placed, part.draining, part.releasing)
        )
        m.d.comb += [
            Assert(placed == (self.state != FREE), "a place is free after an EXIT or when it is let go, only then"),
            Assert(
                draining == (self.state == DRAINING), "it drains while the warp is collecting or waits for a result"
            ),
            Assert(releasing == (self.state == RELEASING), "then it is releasing until the operand stage lets go"),
            Assert(held == self.holder, "it keeps its warp till then; the lowest free one gets the next"),
        ]
        again = past(m, self.left, "left") & placed
        if self._cfg.suspend != "never":
            m.d.comb += Cover(again & part.placed.all() & part.ready.any(), "a place changes hands")

    def _issue(self, m, part) -> None:
        """In the order of the places, from the one that issued last or from behind it."""
        count, places = self._cfg.active_warps, range(self._cfg.active_warps)
        self.current = Signal(range(max(2, count)), name="current_shadow")
        granted, asks = self._of_places(part.grant), self._of_places(part.eligible)
        with m.If(part.taken):
            m.d.sync += self.current.eq(any_of(Mux(granted[place], place, 0) for place in places))
        first = 0 if self._cfg.active_choice == "greedy" else 1
        way = [Mux(place >= self.current + first, 0, count) + place for place in places]
        before = [granted[b] & asks[a] & (way[a] < way[b]) for a in places for b in places if a != b]
        choice(m, part.eligible, part.grant)
        m.d.comb += [
            Assert(part.current == self.current, "the current place is the one that issued last"),
            Assert(~any_of(before), "no place that goes before is skipped"),
        ]
        if self._cfg.active_choice == "greedy":
            same = granted.bit_select(self.current, 1) == asks.bit_select(self.current, 1)
            m.d.comb += Assert(same, "the warp that issued last goes on while it is eligible")
        last = asks.all() & (self.current == count - 1)
        m.d.comb += Cover(last & granted[-1 if first == 0 else 0], "the last place, and the next one in turn")

    def help(self, m, part, state):
        m.d.comb += [
            Assert(state("resumed") == self.resumed, "the same warps have been resumed"),
            Assert(self.current < self._cfg.active_warps, "the current place is one"),
        ]
        if self._cfg.suspend != "never":
            m.d.comb += [Assert(holds, "cycles without a beat are counted") for holds in self._counted(state)]
        self.fair.help(m, state("pointer", "above"))

    def _counted(self, state) -> Iterator[Value]:
        """The counter of every place is how many cycles without a beat came last."""
        after = self._cfg.starved_after
        for place, before in enumerate(self.hunger):
            idle = state(f"idle{place}")
            yield idle <= after
            yield from ((idle >= count) == before[:count].all() for count in range(1, after + 1))


def _proof(size: str, wrong: dict, *, regress: bool = False, **changes) -> Proof:
    small = {"warps": 4, "lanes": 1, "register_names": 8, "payload_bits": 16, "active_warps": 2}
    cfg = Config(**(small | {"scheduler": "two_level", "starved_after": 2} | changes))

    def broken(change):
        return lambda: PlaceProperties(Miswired(TwoLevel(cfg), **change), cfg, helped=False)

    def hasty() -> PlaceProperties:
        return PlaceProperties(TwoLevel(cfg.replace(starved_after=cfg.starved_after - 1)), cfg, helped=False)

    starves = {_ONLY["suspend_starved"]: hasty} if cfg.suspend != "never" else {}
    return Proof(
        "hdl.scheduler.two_level.scheduler.TwoLevel",
        f"{cfg.active_warps} places for {cfg.warps} warps, {size}",
        lambda: PlaceProperties(TwoLevel(cfg), cfg),
        {message: broken(change) for message, change in wrong.items()} | starves,
        reach=2 * cfg.warps + 4,
        regress=regress,
    )


_GREEDY = {
    "only a warp on an active place issues": {"eligible": lambda warps: warps | 1},
    "only a warp on an active place runs": {"runs": lambda warps: warps | 1},
    "it does unless it suspends": {"open": lambda warps: warps & ~1},
    "no warp issues that suspends": {"grant": lambda warps: warps | 1},
    "then it is releasing until the operand stage lets go": {"released": lambda places: places | 1},
    "a requester waits for at most count - 1 others": {"resident": lambda warps: warps & ~1},
    "the warp that issued last goes on while it is eligible": {"taken": lambda taken: Const(0)},
    _NEED: {"suspend_starved": lambda places: places | 1},
    _KEPT: {"suspend_starved": lambda _: Const(0, 2)},
    _READY: {"waiting": lambda warps: warps & ~1},
    _FIRST: {"buffered": lambda warps: warps & ~1},
}
_ROUND_ROBIN = {
    "no place that goes before is skipped": {"taken": lambda taken: Const(0)},
    "a warp has at most one place": {"places": lambda places: places | 1 | 1 << 4},  # the first of four warps
}

_NEEDED = {
    _NEED: {"suspend_barrier": lambda places: places | 1},
    _KEPT: {"suspend_barrier": lambda _: Const(0, 2)},
}

_NEEDED_FOR_LOADS = {
    _NEED: {"suspend_long": lambda places: places | 1},
    _KEPT: {"suspend_long": lambda _: Const(0, 2)},
    _READY: {"outstanding": lambda warps: warps & ~1},
}

_STRANDS = {"suspend": "strands", "resume": "all"}
PROOFS = (
    _proof("greedy, pending", _GREEDY),
    _proof(
        "greedy, outstanding, places kept at loads and barriers",
        _NEEDED_FOR_LOADS,
        suspend="outstanding",
        resume="all",
        suspend_load="needed",
        suspend_barrier="needed",
    ),
    _proof("greedy, strands", {"no warp issues that suspends": {"at_exit": lambda warps: warps | 1}}, **_STRANDS),
    _proof("greedy, pending, places kept at barriers", _NEEDED, suspend_barrier="needed"),
    _proof(
        "round robin, always",
        _ROUND_ROBIN | {"no warp issues that suspends": {"marked": lambda warps: warps & ~1}},
        active_choice="round_robin",
        suspend="always",
    ),
    _proof(
        "round robin, never", _ROUND_ROBIN, regress=True, active_choice="round_robin", suspend="never", active_warps=4
    ),
    _proof("greedy, pending", _GREEDY, regress=True, warps=8, active_warps=4),
)
