"""The two-level scheduler: a few warps hold a place and may issue, the others wait for one."""

from amaranth import Cat, Const, Module, Mux, Signal, Value
from amaranth.lib import data, wiring
from amaranth.lib.wiring import In, Out

from warpfile.hdl.arbiter import RoundRobin, any_of, decode, encode, lowest_one, prefix_or, select
from warpfile.hdl.naming import named
from warpfile.hdl.scheduler.policy import scheduler_members
from warpfile.spec.config import Config

#: What the scheduler must know of the warps besides their eligibility: first what the frame has a name for.
FRAME_INPUTS = ("resident", "buffered", "waiting", "collecting")
WARP_INPUTS = (*FRAME_INPUTS, "barrier_released", "marked", "touches_long", "short_pending")


def observed_places(cfg: Config) -> dict[str, wiring.Member]:
    """Outputs for the probes: state and events of the places and of the warps that wait for one."""
    names = ("placed", "draining", "releasing", "suspend_long", "suspend_barrier")
    return {
        **{name: Out(cfg.active_warps) for name in names},
        "current": Out(cfg.place_count_bits),
        **{name: Out(cfg.warps) for name in ("ready", "activate")},
    }


class TwoLevel(wiring.Component):
    """Places for active warps, and the choice among them (docs/machine.md, section 4, "The two-level scheduler").

    Members
    -------
    See :func:`scheduler_members`.
    resident, buffered, waiting, collecting : In(warps)   As in the frame.
    barrier_released : In(warps)     Waits in this cycle for the last time.
    marked, touches_long : In(warps) Of the head beat, whether there is one or not.
    short_pending : In(warps)        A register is pending that no load reserved.
    released : In(active_warps)      The operand stage lets go of a place that is releasing.
    runs : Out(warps)                Warps that hold an active place and do not suspend: only they may be eligible.
    places : Out(ArrayLayout)        Warp of each place, one-hot; zero if free.
    placed, draining, releasing : Out(active_warps), current : Out(place_count_bits)   State.
    suspend_long, suspend_barrier : Out(active_warps)   Places that start to drain in this cycle, by reason.
    ready, activate : Out(warps)     Warps that wait for a place, and the one that gets one.
    """

    def __init__(self, cfg: Config) -> None:
        self._cfg = cfg
        super().__init__(
            {
                **scheduler_members(cfg),
                **{name: In(cfg.warps) for name in WARP_INPUTS},
                "released": In(cfg.active_warps),
                "runs": Out(cfg.warps),
                "places": Out(data.ArrayLayout(cfg.warps, cfg.active_warps)),
                **observed_places(cfg),
            }
        )

    def elaborate(self, platform) -> Module:
        """Who suspends, who leaves, who comes, who issues."""
        m = Module()
        resumed = Signal(self._cfg.warps)
        holders = named(m, "holders", any_of(self.places))
        active = named(m, "active", self.placed & ~self.draining & ~self.releasing)
        self._suspend(m, active, resumed)
        target = self._activate(m, holders)
        self._move(m, target)
        self._choose(m)
        issuing = self.grant & self.taken.replicate(self._cfg.warps)
        m.d.sync += resumed.eq((resumed & ~issuing) | self.activate)
        return m

    @property
    def _loading(self) -> Value:
        """Warps that a load keeps from going on."""
        return self.buffered & self.marked & self.touches_long

    def _of_places(self, m: Module, name: str, warps: Value) -> Value:
        """What holds for the warp of each place."""
        return named(m, name, Cat((place & warps).any() for place in self.places))

    def _suspend(self, m: Module, active: Value, resumed: Value) -> None:
        cfg = self._cfg
        suspends = named(
            m,
            "suspends",
            {
                "pending": self._loading,
                "always": self.buffered & self.marked & ~resumed,
                "never": Const(0, cfg.warps),
            }[cfg.suspend],
        )
        long = self._of_places(m, "place_suspends", suspends)
        m.d.comb += [
            self.runs.eq(select(active, list(self.places)) & ~suspends),
            self.suspend_long.eq(active & long),
        ]
        if cfg.suspend != "never":
            waits = self._of_places(m, "place_waits", self.waiting & ~self.barrier_released)
            m.d.comb += self.suspend_barrier.eq(active & ~long & waits)

    def _activate(self, m: Module, holders: Value) -> Value:
        """The place that the next warp gets, one-hot; zero if none is given away."""
        m.submodules.pointer = pointer = RoundRobin(self._cfg.warps)
        free = named(m, "free_place", lowest_one(~self.placed))
        m.d.comb += [
            self.ready.eq(self.resident & ~holders & ~self.waiting & ~self._loading),
            pointer.requests.eq(self.ready),
            pointer.taken.eq(self.activate.any()),
            self.activate.eq(pointer.grant & free.any().replicate(self._cfg.warps)),
        ]
        return named(m, "target", free & self.activate.any().replicate(self._cfg.active_warps))

    def _move(self, m: Module, target: Value) -> None:
        """States of the places; the warp's number is kept, its one-hot form is made of it."""
        busy = self._of_places(m, "place_busy", self.collecting | self.short_pending)
        ends = self._of_places(m, "place_ends", self.exit)
        drained = named(m, "drained", self.draining & ~busy)
        left = named(m, "left", ends | (self.releasing & self.released))
        m.d.sync += [
            self.placed.eq((self.placed & ~left) | target),
            self.draining.eq((self.draining & ~drained) | self.suspend_long | self.suspend_barrier),
            self.releasing.eq((self.releasing & ~self.released) | drained),
        ]
        coming = named(m, "coming", encode(self.activate, self._cfg.warp_bits))
        for number, place in enumerate(self.places):
            warp = Signal(self._cfg.warp_bits, name=f"warp{number}", reset_less=True)
            with m.If(target[number]):
                m.d.sync += warp.eq(coming)
            m.d.comb += place.eq(decode(warp, self._cfg.warps) & self.placed[number].replicate(self._cfg.warps))

    def _choose(self, m: Module) -> None:
        """From the current place on, or from behind it."""
        count = self._cfg.active_warps
        eligible = self._of_places(m, "place_eligible", self.eligible)
        current = named(m, "current_place", decode(self.current, count))
        greedy = named(m, "greedy", eligible & current) if self._cfg.active_choice == "greedy" else current & 0
        above = named(m, "above", eligible & (prefix_or(current) << 1)[:count])
        first = named(m, "first", Mux(above.any(), lowest_one(above), lowest_one(eligible)))
        chosen = named(m, "chosen", Mux(greedy.any(), greedy, first))
        m.d.comb += self.grant.eq(select(chosen, list(self.places)))
        with m.If(self.taken):
            m.d.sync += self.current.eq(encode(chosen, self._cfg.place_count_bits))
