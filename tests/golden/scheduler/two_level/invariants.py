"""A second reading of the places (docs/machine.md, section 4), from probes and beats alone."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.invariants import Watcher, require
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.environment import Stimulus
from warpfile.spec.trace import Drain, Kind, Space

STATES = ("active", "draining", "releasing")


def loads(beat: Beat) -> bool:
    """Whether the beat brings registers from global or local memory."""
    return beat.is_load and beat.dest_count > 0 and beat.space in (Space.GLOBAL, Space.LOCAL, Space.TEXTURE)


def is_marked(cfg: Config, beat: Beat) -> bool:
    """Whether the beat may suspend its warp."""
    return cfg.suspend_hint is None or bool(beat.hints >> cfg.suspend_hint & 1)


def named(beat: Beat) -> set[int]:
    """Sources and destinations."""
    return {*beat.sources, *range(beat.dest, beat.dest + beat.dest_count)}


@dataclass
class PlaceWatcher(Watcher):
    """Also follows the places. ``held`` has warp and state of every place that is taken."""

    refuses: bool = True
    held: dict[int, tuple[int, str]] = field(default_factory=dict)
    resumed: set[int] = field(default_factory=set)
    long: set[tuple[int, int]] = field(default_factory=set)
    idle: dict[int, int] = field(default_factory=dict)
    current: int = 0
    pointer: int = 0

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        self._check_places(f)
        if f["issue"]:
            beat = self.buffers[f["issue_warp"]][0]
            if loads(beat) and beat.mask and self.cfg.long_from == "issue":
                self.long |= {(f["issue_warp"], beat.dest + k) for k in range(beat.dest_count)}
        super().check(stimulus, f)
        if missed := stimulus.missed:
            told = {(missed.warp, missed.dest + k) for k in range(missed.dest_count)}
            require(all((w, "register", r) in self.pending for w, r in told), "only a load that has issued misses")
            self.long |= told
        self.long = {(w, r) for w, r in self.long if self.pending[w, "register", r] > self.cycle}

    def _pending_registers(self, warp: int) -> set[int]:
        keys = [key for key, until in self.pending.items() if until > self.cycle]
        return {register for w, kind, register in keys if (w, kind) == (warp, "register")}

    def is_stuck(self, warp: int) -> bool:
        """The head beat is marked and touches a register that waits for memory, or has to wait for all of them."""
        buffer = self.buffers.get(warp)
        if not buffer or not is_marked(self.cfg, buffer[0]):
            return False
        if buffer[0].drain == Drain.EMPTY:
            return self._has_load(warp)
        return any((warp, register) in self.long for register in named(buffer[0]))

    def _is_away(self, warp: int) -> bool:
        """A warp without a place waits for a load."""
        return self._has_load(warp) if self.cfg.resume == "all" else self.is_stuck(warp)

    def _has_load(self, warp: int) -> bool:
        return any(w == warp for w, _ in self.long)

    def _suspends(self, warp: int) -> bool:
        buffer = self.buffers.get(warp)
        if self.cfg.suspend == "outstanding":
            return self._has_load(warp) and not (buffer and buffer[0].kind == Kind.EXIT)
        if self.cfg.suspend == "strands":
            marked = bool(buffer) and is_marked(self.cfg, buffer[0]) and buffer[0].kind != Kind.EXIT
            return marked and self._has_load(warp)
        if self.cfg.suspend == "always":
            return bool(buffer) and is_marked(self.cfg, buffer[0]) and warp not in self.resumed
        return self.cfg.suspend == "pending" and self.is_stuck(warp)

    def _stopped(self, warp: int, f: dict[str, int]) -> bool:
        """At a barrier that does not open in this cycle."""
        if not f["waiting"] >> warp & 1:
            return False
        return any(not f["waiting"] >> w & 1 for w, cta in self.cta.items() if cta == self.cta[warp])

    def _is_drained(self, warp: int) -> bool:
        if any(w == warp for w, _ in self.units.values()):
            return False
        return all((warp, register) in self.long for register in self._pending_registers(warp))

    def may_let_go(self, place: int, f: dict[str, int]) -> bool:
        """Whether the operand stage lets go of a releasing place; the baseline does at once."""
        return True

    def _check_places(self, f: dict[str, int]) -> None:
        self._check_state(f)
        active = {place: warp for place, (warp, state) in self.held.items() if state == "active"}
        suspends = {place for place, warp in active.items() if self._suspends(warp)}
        drained = {p for p, (w, state) in self.held.items() if state == "draining" and self._is_drained(w)}
        freed = {p for p, (_, state) in self.held.items() if state == "releasing" and self.may_let_go(p, f)}
        holders = {warp for warp, _ in self.held.values()}
        ready = {w for w in self.cta if not (w in holders or f["waiting"] >> w & 1 or self._is_away(w))}
        free = [place for place in range(self.cfg.active_warps) if place not in self.held]
        stopped = {place for place, warp in active.items() if self._stopped(warp, f)} - suspends
        empty = {place for place, warp in active.items() if not self.buffers.get(warp)}
        starved = {place for place in empty if self.idle.get(place, 0) == self.cfg.starved_after}
        starved -= suspends | stopped
        needing = {warp for warp in ready if self.buffers.get(warp)}
        leaves, stops, starved = self._leaving(suspends, stopped, starved, len(active) if needing else 0)
        self.idle = {place: min(self.idle.get(place, 0) + 1, self.cfg.starved_after) for place in empty}
        order = [*range(self.pointer, self.cfg.warps), *range(self.pointer)]
        chosen = next((w for w in order if w in (needing or ready)), None) if free else None
        expected = {
            "suspend_long": leaves,
            "suspend_barrier": stops,
            "suspend_starved": starved,
            "released": freed,
            "ready": ready,
            "activate": set() if chosen is None else {chosen},
        }
        for probe, members in expected.items():
            require(set(indices(f[probe])) == members, f"{probe} is {members}")
        self._check_choice(f, {w: p for p, w in active.items() if p not in suspends})
        for place in leaves | stops | starved:
            self.held[place] = (self.held[place][0], "draining")
        for place in drained:
            self.held[place] = (self.held[place][0], "releasing")
        for place in freed:
            del self.held[place]
        if chosen is not None:
            self.held[free[0]] = (chosen, "active")
            self.resumed.add(chosen)
            self.pointer = (chosen + 1) % self.cfg.warps

    def _leaving(self, loads: set[int], stops: set[int], starved: set[int], active: int) -> tuple[set[int], ...]:
        """Those that start to drain, by reason; ``active`` places if a warp needs one, 0 otherwise."""
        if self.cfg.suspend == "never":
            stops = set()
        rules = ((loads, self.cfg.suspend_load), (stops, self.cfg.suspend_barrier), (starved, "needed"))
        at_once = set().union(*(places for places, when in rules if when == "always"))
        stay = set().union(*(places for places, when in rules if when == "needed"))
        # Of those that stay the lowest, for a ready warp that no other place is made free for.
        one = set(sorted(stay)[:1]) if active == self.cfg.active_warps and not at_once else set()
        return tuple(places & (at_once | one) for places, _ in rules)

    def _check_state(self, f: dict[str, int]) -> None:
        bits = self.cfg.warp_bits
        warps = sum(warp << place * bits for place, (warp, _) in self.held.items())
        require(f["placed"] == sum(1 << place for place in self.held), "places are taken and freed as the rules say")
        require(f["place_warp"] == warps, "the lowest free place goes to the first ready warp")
        for state in STATES[1:]:
            places = sum(1 << place for place, (_, now) in self.held.items() if now == state)
            require(f[state] == places, f"the {state} places are those whose time has come")
        require(f["current"] == self.current, "the current place issued last")

    def _check_choice(self, f: dict[str, int], places: dict[int, int]) -> None:
        """``places`` are those of the warps that may issue."""
        eligible = f["clear"] & ~f["waiting"] & f["room"]
        candidates = {place for warp, place in places.items() if eligible >> warp & 1}
        require(bool(f["issue"]) == bool(candidates), "some active warp that can issues")
        if not f["issue"]:
            return
        place = places[f["issue_warp"]]
        start, count = self.current + (self.cfg.active_choice == "round_robin"), self.cfg.active_warps
        first = min(candidates, key=lambda candidate: (candidate - start) % count)
        require(place == first, "the first place at or after the current one issues")
        self.current = place
        self.resumed.discard(f["issue_warp"])
        if f["exit"]:
            del self.held[place]
