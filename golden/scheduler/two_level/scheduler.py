"""Two-level scheduler: only a warp that holds a place issues (docs/machine.md, section 4)."""

from __future__ import annotations

from collections.abc import Callable

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import first_from, indices, lowest, ones
from warpfile.golden.long_frame import LongFrame
from warpfile.golden.scheduler.contract import PlacingScheduler
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout

PLACE_COUNTERS = (
    "suspends_long",
    "suspends_barrier",
    "suspends_starved",
    "activations",
    "active_cycles",
    "ready_waits",
    "releasing_cycles",
)


@mypyc_attr(allow_interpreted_subclasses=True)
class TwoLevel(PlacingScheduler):
    """Scheduler (:class:`golden.scheduler.contract.PlacingScheduler`) with an active set."""

    _frame: LongFrame

    def __init__(self, cfg: Config) -> None:
        self._places = Places(cfg)
        self._counters = dict.fromkeys(PLACE_COUNTERS, 0)
        self.may_issue = 0
        self._warps = cfg.warps
        self._all = (1 << cfg.active_warps) - 1
        self._suspend = cfg.suspend
        self._all_back = cfg.resume == "all"
        self._stays_for_load, self._stays = cfg.suspend_load == "needed", cfg.suspend_barrier == "needed"
        self._starved_after = cfg.starved_after
        self._starves = not cfg.gives.keeps_places
        self._skip = int(cfg.active_choice == "round_robin")
        self._active = 0  # warps whose place is active
        self._resumed = 0  # warps
        self._resident = 0  # warps that were launched and have not ended
        self._draining = self._releasing = 0  # places
        self._cycle = 0
        self._idle = 0  # warps on an active place that had no beat in the cycle before
        self._idle_since = [0] * cfg.warps  # the first cycle of those in which it was so
        self._current = self._pointer = 0
        self._yields = 0  # warps
        # What the next clock edge does: places that start to drain and to release, and those that are let go; the warp
        # that gets a place.
        self._drains = self._releases = self._released = 0
        self._activated = -1
        self._word: int | None = None
        self._first, self._at = 0, dict[str, int]()  # lowest bit of the probes, and where they are from there on
        self._at_current = 0
        self._active_cycles = self._ready_waits = self._releasing_cycles = 0

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        sums = {"active_cycles": self._active_cycles, "ready_waits": self._ready_waits}
        return self._counters | sums | {"releasing_cycles": self._releasing_cycles}

    @property
    def places(self) -> Places:
        """See the contract."""
        return self._places

    def observe_at(self, layout: ProbeLayout) -> None:
        """Where the probes are."""
        self._first = layout.offset["placed"]
        self._at = {name: at - self._first for name, at in layout.offset.items()}
        self._at_current = self._at["current"]

    def begin(
        self, frame: LongFrame, collecting: Callable[[int], bool], release: Callable[[int], int], yields: int
    ) -> int:
        """See the contract."""
        self._frame, self._yields, active = frame, yields, self._active
        stuck = frame.marked & frame.touching
        suspends = stuck if self._suspend == "pending" else self._suspends()
        self.may_issue = may_issue = active & ~suspends
        self._active_cycles += ones(active)
        word = self._state() if self._word is None else self._word
        word |= self._current << self._at_current
        self._drains = self._releases = self._released = 0
        waits = frame.waiting | yields
        ready = self._resident & ~self._places.holders & ~waits & ~(frame.outstanding if self._all_back else stuck)
        stopped = may_issue & waits
        starved = self._starved(active & ~frame.buffered) & may_issue if self._starves else 0
        if starved or stopped or may_issue != active:
            word |= self._leave(active & suspends, stopped, starved, ready & frame.buffered)
        if self._draining:
            self._releases = self._drained(collecting)
        if self._releasing:
            self._releasing_cycles += ones(self._releasing)
            self._released = release(self._releasing)
            word |= self._released << self._at["released"]
        if ready:
            word |= self._activate(ready) | ready << self._at["ready"]
        return word << self._first

    def _starved(self, idle: int) -> int:
        """Those of the warps on active places without a beat that have had none for long enough."""
        for warp in indices(idle & ~self._idle):
            self._idle_since[warp] = self._cycle
        latest, self._idle = self._cycle - self._starved_after, idle
        self._cycle += 1
        return sum(1 << warp for warp in indices(idle) if self._idle_since[warp] <= latest) if idle else 0

    def _leave(self, loads: int, stopped: int, starved: int, needing: int) -> int:
        """Note the places that start to drain because their warps wait for a load, are stopped or get no beats."""
        if stopped:
            stopped &= self._yields | ~self._frame.opening()
        long, idle = self._places_of(loads), self._places_of(starved & ~stopped)
        barrier = self._places_of(stopped) if self._suspend != "never" else 0
        stay = (long if self._stays_for_load else 0) | (barrier if self._stays else 0) | idle
        if stay:
            leave = long | barrier | idle
            needed = needing and leave == stay and self._all_active()
            leave ^= stay ^ (stay & -stay if needed else 0)
            long, barrier, idle = long & leave, barrier & leave, idle & leave
        self._drains = long | barrier | idle
        at, counters = self._at, self._counters
        counters["suspends_long"] += long.bit_count()
        counters["suspends_barrier"] += barrier.bit_count()
        counters["suspends_starved"] += idle.bit_count()
        return long << at["suspend_long"] | barrier << at["suspend_barrier"] | idle << at["suspend_starved"]

    def _all_active(self) -> bool:
        """Whether no place is free or about to become free."""
        return self._places.taken == self._all and not self._draining | self._releasing

    def _suspends(self) -> int:
        """Warps that give up their place whether or not their head beat needs a load that is out."""
        if self._suspend == "outstanding":
            return self._frame.outstanding & ~self._frame.at_exit
        if self._suspend == "strands":
            return self._frame.marked & self._frame.outstanding & ~self._frame.at_exit
        return self._frame.marked & ~self._resumed if self._suspend == "always" else 0

    def _places_of(self, warps: int) -> int:
        return sum(1 << self._places.place[warp] for warp in indices(warps)) if warps else 0

    def _drained(self, collecting: Callable[[int], bool]) -> int:
        """Draining places whose warp has nothing under way but what waits for memory."""
        drained, frame = 0, self._frame
        for place in indices(self._draining):
            warp = self._places.warp[place]
            if not collecting(warp) and not frame.registers[warp] & ~frame.longs[warp]:
                drained |= 1 << place
        return drained

    def _activate(self, ready: int) -> int:
        """Note which of the ready warps gets a place."""
        self._ready_waits += ones(ready)
        if self._places.taken == self._all:
            return 0
        self._activated = first_from(ready & self._frame.buffered or ready, self._pointer)
        self._ready_waits -= 1
        self._counters["activations"] += 1
        return 1 << self._at["activate"] + self._activated

    def _state(self) -> int:
        """Probes of registered state that seldom changes."""
        at, places = self._at, self._places
        word = places.taken << at["placed"] | places.packed << at["place_warp"]
        self._word = word | self._draining << at["draining"] | self._releasing << at["releasing"]
        return self._word

    def choose(self, eligible: int) -> int:
        """The first eligible place at or, with round robin, after the current one."""
        assert not eligible & ~self._places.holders, "a warp without a place is eligible"
        return self._places.warp[first_from(self._places_of(eligible), self._current + self._skip)]

    def issued(self, warp: int) -> None:
        """See :class:`golden.scheduler.contract.Scheduler`."""
        self._resumed &= ~(1 << warp)
        self._current = self._places.place[warp]

    def launched(self, warp: int) -> None:
        """The warp has no place yet; it is ready from the next cycle."""
        self._resident |= 1 << warp

    def exited(self, warp: int) -> None:
        """The place is free from the next cycle."""
        self._resident ^= 1 << warp
        self._released |= 1 << self._places.place[warp]

    def edge(self) -> None:
        """Places and states as the next cycle sees them."""
        if self._drains or self._releases:
            for place in indices(self._drains):
                self._active ^= 1 << self._places.warp[place]
            self._draining ^= self._drains | self._releases
            self._releasing |= self._releases
            self._word = None
        if self._activated >= 0:
            self._place(self._activated)
            self._activated = -1
        for place in indices(self._released):
            self._active &= ~(1 << self._places.warp[place])
            self._releasing &= ~(1 << place)
            self._places.free(place)
            self._word = None

    def _place(self, warp: int) -> None:
        """The lowest place that was free in this cycle goes to ``warp``, and the pointer passes it."""
        self._places.give(lowest(~self._places.taken), warp)
        self._active |= 1 << warp
        self._resumed |= 1 << warp
        self._pointer = (warp + 1) % self._warps
        self._word = None
