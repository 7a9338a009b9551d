"""What must hold in every cycle of operand windows: who enters, who has to leave, and the sums of a run."""

from __future__ import annotations

from dataclasses import dataclass

from tests.golden.collectors.bow.following import BowFollower, SharedState
from tests.golden.dealing import beats_of, instructions_of, warps_of
from tests.golden.invariants import NEVER, require, takes_unit
from tests.golden.machines import Bow
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Stimulus
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.trace import Kind
from warpfile.spec.workload import Workload


@dataclass
class BowWatcher(BowFollower):
    """Follows a model of operand windows. ``look`` before its step, ``check`` after it."""

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        self._check_masks(f)
        self._check_barriers(f)
        self._check_banks(stimulus, f)
        self._follow_dispatch(stimulus, f)
        self._follow_issue(f)
        self._follow_inputs(stimulus)
        self.before = f
        self.cycle += 1

    def _check_masks(self, f: dict[str, int]) -> None:
        require(not f["buffered"] & ~f["resident"], "a slot without a warp has no beats")
        require(not f["clear"] & ~f["buffered"], "only a buffered beat is clear")
        require(not f["write"] & f["write_wait"], "a result is accepted or waits")
        require(not f["grant"] & ~f["request"], "only requests are granted")
        require(not f["evicted"] & ~f["evict"], "only what asks is evicted")
        require(not f["dispatch"] & ~f["offer"], "only an offered beat dispatches")
        running = f["clear"] & ~f["waiting"]
        eligible = running & f["room"]
        require(bool(f["issue"] or f["refused"]) == bool(eligible), "some eligible warp is offered")
        require(not (f["issue"] and f["refused"]), "an offer is accepted or refused")
        if f["issue"]:
            require(bool(eligible >> f["issue_warp"] & 1), "a clear, running warp with room issues")
        stalls = [f["stall_slot"], f["stall_evict"], f["stall_entry"]]
        require(sum(stalls) == running & ~f["room"], "whoever is clear and has no room has one reason")
        require(sum(1 << w for w, b in self.buffers.items() if b) == f["buffered"], "beats wait in their buffer")
        for warp in self.inside:
            rest = sum(1 << one.number % self.windows.window for one in self.undispatched(warp))
            window = f["undispatched"] >> warp * self.windows.window & ((1 << self.windows.window) - 1)
            require(rest == window, "a beat is undispatched from its entry to its dispatch")

    def _follow_issue(self, f: dict[str, int]) -> None:
        for bank, port in self.denied:
            require(self.busy.get((bank, port), -1) >= self.cycle, "a bank serves somebody who asks")
        self.denied.clear()
        for warp, states in self.states.items():
            self._check_victims(warp, states, f)
        used = f["hit"] | f["miss"]
        if not f["issue"]:
            require(not used | f["discard"], "nothing enters where nothing issues")
            return
        warp = f["issue_warp"]
        beat = self.buffers[warp].popleft()
        self.arrived = 1 << warp if beat.kind == Kind.BARRIER else 0
        self._check_pending(warp, beat)
        require(not f["hit"] & f["miss"] and used == (1 << len(beat.sources)) - 1 if beat.mask else not used, "sources")
        if beat.kind == Kind.EXIT:
            self._exit(warp, f)
        else:
            self._enter(warp, beat, f)

    def _check_victims(self, warp: int, states: dict[int, tuple[str, int]], f: dict[str, int]) -> None:
        victims = list(self.entries_of(f["victim"], warp))
        require(len(victims) <= 1, "one entry has to leave at a time")
        names = {number: register for register, (_, number) in states.items()}
        for entry in victims:
            require(bool((f["clear"] & ~f["waiting"]) >> warp & 1), "only a beat that could enter is made room for")
            require(not (f["issue"] and f["issue_warp"] == warp), "who has room needs no victim")
            state = self.entry_state(warp, entry) if warp not in self.met else "unknown"
            if state != "unknown":
                require(state in ("clean", "dirty", "owed"), "only a clean or dirty entry has to leave")
                head = self.buffers[warp][0].sources
                require(names[entry] not in head or self.is_stale(warp, names[entry]), "no hit has to leave")
                pinned = {r for one in self.undispatched(warp) for r in one.beat.sources}
                require(names[entry] not in pinned, "nothing that is still read has to leave")
            self.leaving.append((warp, entry, state))
        stalled = (f["stall_entry"] | f["stall_evict"]) >> warp & 1
        if stalled and not victims and not any(state == "evicting" for state, _ in states.values()):
            stale = any(state == "owed" and self.is_stale(warp, name) for name, (state, _) in states.items())
            moving = self.undispatched(warp) or stale or warp in self.met
            require(bool(moving), "a window that lacks room has something on its way")

    def _enter(self, warp: int, beat: Beat, f: dict[str, int]) -> None:
        x, window, states = self.next[warp], self.windows.window, self.states[warp]
        sources = beat.sources if beat.mask else ()
        dests = set(range(beat.dest, beat.dest + beat.dest_count)) if beat.mask else set()
        for older in self.undispatched(warp):
            writes = range(older.beat.dest, older.beat.dest + older.beat.dest_count)
            require(older.number > x - window, "a slot is used again when its beat has left")
            require(not dests & {*older.beat.sources, *writes}, "no writer beside an older reader or writer")
            require(not set(sources) & set(writes), "no reader beside an older writer")
        for slot, register in enumerate(sources):
            state = states.get(register, ("none", -1))[0]
            stale = self.is_stale(warp, register)
            require(state != "evicting" and not (state == "owed" and stale), "a source is written before it is read")
            usable = state in ("fill", "clean", "dirty", "owed") and not stale
            if f["hit"] >> slot & 1:
                require(usable, "a hit is in the window and not stale")
            else:
                require(not usable or (state == "clean" and warp in self.met), "what is in the window is a hit")
                self.wanted[warp].append(register)
                self.filled[warp, register] = NEVER
        self._check_discards(warp, states, f)
        self.forwarded += f["hit"].bit_count()
        self.last.update({(warp, register): x for register in {*sources, *dests}})
        self.inside[warp] = [*self.inside[warp][1 - window :], SharedState(x, beat, self.cycle, dests)]
        self.next[warp] = x + 1

    def _check_discards(self, warp: int, states: dict[int, tuple[str, int]], f: dict[str, int]) -> None:
        gone = set(self.entries_of(f["discard"], warp))
        due = {n for r, (state, n) in states.items() if state == "dirty" and self.is_stale(warp, r)}
        if warp not in self.met:
            require(gone == due, "what is stale and not owed is discarded")

    def _exit(self, warp: int, f: dict[str, int]) -> None:
        require(not self.buffers[warp], "EXIT is the last beat of a warp")
        require(not self.undispatched(warp) and not self.wanted[warp], "EXIT waits for the warp's beats")
        late = [key for key, cycle in self.pending.items() if key[0] == warp and cycle > self.cycle]
        require(not late, "EXIT waits for the warp's results")
        owed = sum(state in ("dirty", "owed", "evicting") for state, _ in self.states[warp].values())
        self.forgotten += owed - (f["evicted"] >> warp & 1)
        self.lanes.forget(warp)
        del self.cta[warp], self.inside[warp], self.wanted[warp]

    def _follow_inputs(self, stimulus: Stimulus) -> None:
        super()._follow_inputs(stimulus)
        if stimulus.launch is not None:
            warp = stimulus.launch.warp
            self.inside[warp], self.wanted[warp], self.next[warp] = [], [], 0
            self.last = {key: value for key, value in self.last.items() if key[0] != warp}

    def check_end(self, counters: dict[str, int]) -> None:
        """Check the sums of a whole run against the trace."""
        beats = beats_of(self.cfg, self.workload)
        executed = [beat for beat in beats if beat.mask]
        require(not self.cta and not self.inside, "everything drains")
        require(sorted(self.launched) == warps_of(self.cfg, self.workload.trace), "the domain runs its warps")
        sources = sum(len(beat.sources) for beat in executed)
        require(self.reads + self.hits + self.forwarded == sources, "every executed source is read once or forwarded")
        require(self.results == sum(beat.dest_count for beat in executed), "every result is accepted once")
        gone = counters["bank_writes"] + counters["bypassed_writes"] + self.forgotten
        require(self.results == gone, "every result is written once, or bypassed, or owed at the end")
        expected = {
            "beats": len(beats),
            "instructions": instructions_of(self.cfg, self.workload.trace),
            "bank_reads": self.reads,
            "bypassed_reads": self.forwarded,
            "results": self.results,
            "dispatches": sum(map(takes_unit, beats)),
        }
        require({name: counters[name] for name in expected} == expected, "the counters agree with the trace")


def make_watcher(cfg: BowConfig, workload: Workload, model: Bow) -> BowWatcher:
    """A watcher of a model that has not begun."""
    return BowWatcher(cfg, workload, refuses=True, model=model)
