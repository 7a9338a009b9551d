"""The watcher of a partitioned file that moves registers: every access of MOVE, in its cycle."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.invariants import NEVER, require
from tests.golden.rf.pilot.invariants import Map, PilotWatcher
from warpfile.golden.arbiter import indices
from warpfile.spec.schemes.pilot import State

#: A home of a warp and whether it is written, or None: the cycle in which MOVE goes on to the next slot.
Step = tuple[int, int, bool] | None


@dataclass
class MovingWatcher(PilotWatcher):
    """``script``: what is left to be done in MOVE; ``free``: the cycle in which the access under way is over."""

    script: list[Step] = field(default_factory=list)
    free: int = 0
    applied: bool = False

    @property
    def stands(self) -> bool:
        """Registers move, or are about to."""
        return self.state in (State.DRAIN, State.MOVE, State.REMAP)

    def _check_state(self, f: dict[str, int]) -> None:
        super()._check_state(f)
        require(not (self.stands and f["launch"] | f["issue"]), "no warp issues or is launched while registers move")
        awaited = sum(kind == "register" and cycle == NEVER for (_, kind, _), cycle in self.pending.items())
        require(f["awaited"] == awaited, "a result that is issued and not accepted is awaited")
        if self.state != State.MOVE:
            require(not f["move_grant"] | f["move_warp"] | f["move_pair"] | f["move_access"], "registers move in MOVE")

    def _has_new_map(self, f: dict[str, int]) -> bool:
        return super()._has_new_map(f) or (self.state == State.MOVE and self.applied)

    def _check_written(self, f: dict[str, int], before: tuple[Map, Map], maps: list[Map]) -> None:
        was = self.before.get("pilot_state")
        cleared = was == State.MOVE and self.state == State.REMAP and not maps[0]
        same = maps[0] == before[0] or was in (None, State.LOAD, State.REMAP)
        require(same or cleared or self.kernel, "the table is written in LOAD and REMAP, and cleared between")
        require(not maps[1] and not f["versions"], "there is one table")
        if f["current_version"]:
            require(maps[0] == self.sorted_map(f), "it is that of the pilot in the end")
        elif self.state not in (State.IDLE, State.LOAD, State.REMAP):
            require(maps[0] == self.listed_map(), "it is that of the list at first")
        self.at_launch = dict.fromkeys(indices(f["resident"]), maps[0])

    def _follow_inputs(self, stimulus):  # type: ignore[no-untyped-def]
        self.maps = (self.maps[0], self.maps[0])
        versions = self.versions
        super()._follow_inputs(stimulus)
        self.maps, self.versions = (self.maps[0], {}), versions

    def _check_banks(self, stimulus, f: dict[str, int]) -> None:  # type: ignore[no-untyped-def]
        super()._check_banks(stimulus, f)
        if self.state == State.MOVE:
            self._check_move(f)

    def _check_move(self, f: dict[str, int]) -> None:
        """The next step of the script, in the first cycle in which it can be."""
        if self.cycle == self.since:
            self._plan(f)
        if self.cycle < self.free:
            require(not f["move_grant"], "one access after the other")
            return
        step = self.script[0]
        if step is None:
            require(not f["move_grant"], "a slot without more pairs takes a cycle")
            self.script.pop(0)
            return
        warp, home, writes = step
        bank, row = self.place_of(warp, home)
        kind = "write" if writes else "read"
        free = self._is_free(bank, kind, self.length(row))
        require(f["move_grant"] == free, "an access starts when its bank is free")
        if free:
            require(f["move_warp"] == warp, "warps move one after the other")
            self._access(bank, kind, self.length(row))
            self.free = self.cycle + self.length(row)
            self.sampled["moves_slow" if row >= self.fast_rows else f"moves_fast_{self.mode}"] += 1
            self.script.pop(0)

    @property
    def mode(self) -> str:
        """Name of the mode of this cycle."""
        return "high" if self.now["high_mode"] else "low"

    def _plan(self, f: dict[str, int]) -> None:
        swaps = [(low, high) for low, high in self.maps[0].items() if low < self.own.fast_registers]
        self.script = []
        for warp in range(self.cfg.warps):
            for low, high in swaps if f["resident"] >> warp & 1 else ():
                self.script += [(warp, low, False), (warp, high, False), (warp, high, True), (warp, low, True)]
            self.script.append(None)
        self.free = self.cycle

    def _behind(self, state: State, following: State) -> State:
        self.applied = state == State.REMAP
        following = super()._behind(state, following)
        return State.DRAIN if following == State.REMAP else State.MOVE if state == State.REMAP else following

    def _follow_kernel(self, f: dict[str, int]) -> None:
        state = self.state
        super()._follow_kernel(f)
        if self.kernel:
            self.applied = False
        elif state == State.DRAIN and not f["request"] | f["awaited"] | f.get("check", 0):
            self._enter(State.MOVE)
        elif state == State.MOVE and not self.script:
            self._enter(State.RUN if self.applied else State.REMAP)

    def check_end(self, counters: dict[str, int]) -> None:
        """Also what has moved."""
        super().check_end(counters)
        for name in ("moves_fast_high", "moves_fast_low", "moves_slow"):
            require(counters[name] == self.sampled[name], f"{name} counts what it says")
        require(counters["moves_slow"] == 2 * counters["migrated_pairs"], "a pair is read and written")
