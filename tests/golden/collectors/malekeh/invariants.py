"""What must hold in every cycle of any run of the caching units (on top of ``invariants``)."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from tests.golden.collectors.malekeh.reference import Expected, expect
from tests.golden.collectors.malekeh.scenario import malekeh_layout
from tests.golden.collectors.malekeh.view import UnitView, units_of
from tests.golden.invariants import NEVER, Watcher, require
from tests.golden.machines import Malekeh
from tests.golden.watching import watched
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Environment, Stimulus
from warpfile.spec.schemes.malekeh import MalekehConfig
from warpfile.spec.trace import Trace
from warpfile.spec.workload import prepare

TAKES = ("own", "empty", "far", "near")
REFUSALS = ("wait", "busy")
OUTCOMES = ("unowned", "far", "outdone", "met", "partial", "crowded", "cache")
CACHED = ("cache_hit", "cache_empty", "cache_far", "cache_near")


@dataclass
class CachingWatcher(Watcher):
    """Checks one cycle after the other, from the probes; contents of entries and rows are looked up in the model."""

    model: Malekeh | None = None
    refuses: bool = True
    allocated: list[int] = field(default_factory=list)
    dispatched: list[int] = field(default_factory=list)
    views: list[UnitView] = field(default_factory=list)
    largest_threshold: int = 0
    stored: dict[tuple[int, int], int] = field(default_factory=dict)
    expected: list[UnitView] = field(default_factory=list)
    ready_from: dict[tuple[int, int], int] = field(default_factory=dict)

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it. To be called after the model's step."""
        assert isinstance(self.cfg, MalekehConfig)
        before, self.views = self.views, units_of(self.cfg, f)
        if before:
            self._check_change(before)
        self._check_entries(f)
        self._check_results(stimulus, f)
        self._check_reference(stimulus, f)
        self._check_ready(f)
        self._check_offer_of_units(f)
        self._check_choice(f)
        self._check_wait(f)
        super().check(stimulus, f)
        self._check_contents(stimulus, f)

    def _check_units(self, f: dict[str, int]) -> None:
        busy = sum(1 << unit for unit in self.units)
        require(busy == f["busy"], "units are busy from allocation to dispatch")
        require(not f["allocate"] & f["busy"], "a busy unit is not allocated")
        for unit, (warp, _) in self.units.items():
            require(self.views[unit].owner == warp, "a busy unit belongs to its beat's warp")
        collecting = sum(1 << warp for warp, _ in self.units.values())
        require(f["room"] == f["buffered"] & ~collecting, "room is a unit that is not busy, or none")

    def _check_entries(self, f: dict[str, int]) -> None:
        owners = [view.owner for view in self.views if view.owner >= 0]
        require(len(owners) == len(set(owners)), "a warp owns at most one unit")
        prefer = sum(1 << view.owner for view in self.views if view.owner >= 0 and view.used)
        require(prefer == f["prefer"], "preferred are the owners of a unit that is not empty")
        for unit, view in enumerate(self.views):
            require(len(view.kept) == len(set(view.kept)), "a register is in one entry only")
            require(sorted(view.rank) == list(range(len(view.rank))), "ranks are a permutation")
            require(not view.used or view.owner >= 0, "a unit without an owner is empty")
            require(all(view.near[e] <= (e in view.used) for e in range(len(view.near))), "an empty entry is far")
            locked = {view.registers[entry] for entry, lock in enumerate(view.locked) if lock}
            sources = set(self.units[unit][1].sources) if unit in self.units else set()
            require(locked == sources, "locked are exactly the sources of the unit's beat")
            require(0 < view.lfsr < 256, "an LFSR is never zero")

    def _check_change(self, before: list[UnitView]) -> None:
        """From the last cycle to this one."""
        f = self.before
        for unit, (old, new) in enumerate(zip(before, self.views, strict=True)):
            if old.busy:
                require(old.owner == new.owner, "a busy unit keeps its owner")
                for entry, lock in enumerate(old.locked):
                    require(
                        not lock or old.registers[entry] == new.registers[entry], "a locked entry keeps its register"
                    )
            elif not f["allocate"] >> unit & 1:
                require(new.owner in (old.owner, -1), "an owner changes by allocation, or leaves")
                require(new.owner == old.owner or bool(f["exit"]), "an owner leaves by its EXIT")
            count = len(old.registers)
            emptied = f["invalidate"] >> unit * count & (1 << count) - 1
            require(not any(old.locked[entry] for entry in indices(emptied)), "a locked entry is not emptied")
            require(all(old.registers[entry] >= 0 for entry in indices(emptied)), "an empty entry is not emptied")

    def _check_results(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        accepted = sum(1 << port for port in indices(f["write"]) if stimulus.results[port].writes)  # type: ignore[union-attr]
        for whole, kinds in ((accepted, OUTCOMES), (f["cache"], CACHED)):
            require(sum(f[kind] for kind in kinds) == whole, "outcomes divide the results")
            require(sum(f[kind].bit_count() for kind in kinds) == whole.bit_count(), "outcomes are disjoint")
        cached = [stimulus.results[port].warp for port in indices(f["cache"])]  # type: ignore[union-attr]
        require(len(cached) == len(set(cached)), "a unit takes one result per cycle")
        owners = [self.views[unit].owner for unit in indices(f["allocate"])]
        met = [stimulus.results[port].warp for port in indices(f["met"])]  # type: ignore[union-attr]
        require(not set(owners) & set(cached), "a unit that takes a beat takes no result")
        require(met in ([], owners), "a result meets a beat in its unit")

    def _check_reference(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Events of this cycle and state of the next, against a second reading of the page."""
        for view, expected in zip(self.views, self.expected, strict=False):
            require(replace(view, ready=0) == replace(expected, ready=0), "entries follow the steps of the cycle")
        results = {port: stimulus.results[port] for port in indices(f["write"])}
        results = {port: result for port, result in results.items() if result is not None and result.writes}
        beat = self.buffers[f["issue_warp"]][0] if f["issue"] else None
        expected = expect(self.views, f, results, beat, self._bank)
        self.expected = expected.views
        self._check_events(expected, f)

    def _check_events(self, expected: Expected, f: dict[str, int]) -> None:
        assert isinstance(self.cfg, MalekehConfig)
        entries = self.cfg.unit_entries
        for outcome in (*OUTCOMES[:-1], *CACHED):
            ports = sum(1 << port for port, name in expected.outcomes.items() if name == outcome)
            require(f[outcome] == ports, f"the results that are {outcome}")
        for name, pairs in (("invalidate", expected.emptied), ("lost", expected.lost)):
            require(f[name] == sum(1 << unit * entries + entry for unit, entry in pairs), f"entries in {name}")
        require(f["hit"] == sum(1 << slot for slot in expected.hit), "a source that is kept hits")
        for kind in ("empty", "far", "near"):
            slots = sum(1 << slot for slot, name in expected.replaced.items() if name == kind)
            require(f[f"miss_{kind}"] == slots, f"misses that replace {kind}")

    def _check_ready(self, f: dict[str, int]) -> None:
        for unit, view in enumerate(self.views):
            slots = range(len(self.units[unit][1].sources)) if unit in self.units else ()
            ready = sum(1 << slot for slot in slots if self.ready_from.get((unit, slot), NEVER) <= self.cycle)
            require(view.ready == ready, "hits are ready at once, misses when their data are in")
        for index in indices(f["grant"]):
            self.ready_from[divmod(index, self.cfg.source_slots)] = self.cycle + self.cfg.bank_cycles + 1

    def _check_offer_of_units(self, f: dict[str, int]) -> None:
        """The port's oldest unit whose sources are all ready, and no other."""
        ready = [
            unit for unit in self.allocated if self.views[unit].ready == (1 << len(self.units[unit][1].sources)) - 1
        ]
        for port in range(self.cfg.ports):
            mine = [unit for unit in ready if self.cfg.port_of[self.units[unit][1].port] == port]
            require(bool(mine) == bool(f["offer"] >> port & 1), "a ready unit is presented")
            require(f[f"dispatch_unit{port}"] == (mine[0] if mine else 0), "the unit allocated first is presented")
        for port in indices(f["dispatch"]):
            unit = f[f"dispatch_unit{port}"]
            self.allocated.remove(unit)
            self.dispatched = [*(one for one in self.dispatched if one != unit), unit]

    def _expected_choice(self, f: dict[str, int], warp: int) -> tuple[int, str]:
        order = self._dispatch_order
        own = [unit for unit, view in enumerate(self.views) if view.owner == warp]
        free = [unit for unit, view in enumerate(self.views) if not view.busy]
        empty = [unit for unit in free if not self.views[unit].used]
        far = [unit for unit in free if not any(self.views[unit].near)]
        if own or empty or far:
            return next((units[0], kind) for units, kind in ((own, "own"), (empty, "empty"), (far, "far")) if units)
        if not free:
            return -1, "busy"
        if f["wait_count"] > f["threshold"]:
            return min(free, key=order.index), "near"
        return -1, "wait"

    @property
    def _dispatch_order(self) -> list[int]:
        never = [unit for unit in range(self.cfg.collectors) if unit not in self.dispatched]
        return never + self.dispatched

    def _check_choice(self, f: dict[str, int]) -> None:
        events = [f"take_{kind}" for kind in TAKES] + [f"refuse_{kind}" for kind in REFUSALS]
        happened = [name for name in events if f[name]]
        require(len(happened) <= 1, "an offer has one outcome")
        require(not (f["issue"] and any(f[f"refuse_{kind}"] for kind in REFUSALS)), "a refused beat does not issue")
        eligible = f["clear"] & ~f["waiting"] & f["room"]
        candidates = eligible & f["prefer"] or eligible
        if f["issue"]:
            require(bool(candidates >> f["issue_warp"] & 1), "preferred warps issue first")
        if not f["allocate"]:
            require(not any(f[name] for name in ("lost", "hit", "miss")), "only a taken unit hits, misses or loses")
            if not f["issue"] and eligible:
                require(bool(happened), "an eligible warp that does not issue is refused")
            return
        found = f["allocate"].bit_length() - 1, happened[0].removeprefix("take_")
        require(found == self._expected_choice(f, f["issue_warp"]), "the unit is chosen by the rule")
        require(
            f["miss_empty"] + f["miss_far"] + f["miss_near"] == f["miss"], "misses are divided by what they replace"
        )

    def _check_wait(self, f: dict[str, int]) -> None:
        self.largest_threshold = max(self.largest_threshold, f["threshold"])
        require(f["wait_count"] <= self.largest_threshold + 1, "no more waits than one above the threshold")
        require(1 <= f["threshold_state"] <= 6, "the threshold machine has six states")
        if self.before:
            taken = any(self.before[f"take_{kind}"] for kind in ("empty", "far", "near"))
            expected = 0 if taken else min(127, self.before["wait_count"] + self.before["refuse_wait"])
            require(f["wait_count"] == expected, "refusals in wait are counted, other allocations forget them")
            if taken:
                self.largest_threshold = f["threshold"]
            if not self.before["interval_end"]:
                require(f["threshold"] == self.before["threshold"], "the threshold moves after an interval")

    def _follow_allocation(self, f: dict[str, int], warp: int, beat: Beat) -> None:
        unit = f["allocate"].bit_length() - 1
        assert isinstance(self.cfg, MalekehConfig)
        written = f["invalidate"] >> unit * self.cfg.unit_entries
        for register in (beat.sources[slot] for slot in indices(f["hit"])):
            require(not written >> self.views[unit].registers.index(register) & 1, "no hit is emptied")
        require(f["hit"] | f["miss"] == (1 << len(beat.sources)) - 1, "every source hits or misses")
        require(not f["hit"] & f["miss"], "no source hits and misses")
        self.units[unit], self.granted[unit] = (warp, beat), set(indices(f["hit"]))
        self.hits += f["hit"].bit_count()
        for slot in range(len(beat.sources)):
            self.ready_from[unit, slot] = self.cycle + 1 if f["hit"] >> slot & 1 else NEVER
        self.allocated.append(unit)

    def _check_contents(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Rows are what was written last, and entries equal their rows (after the cycle)."""
        assert self.model is not None
        file = self.model.file
        for port in indices(f["write"]):
            result = stimulus.results[port]
            if result is not None and result.writes:
                self.stored[file.location.place(result.warp, result.register)] = result.row
        for (bank, row), value in self.stored.items():
            require(file.banks.rows[bank][row] == value, "every result reaches its bank")
        for unit in self.model.collectors.units.units:
            waiting = {place for slot, place in enumerate(unit.places) if not unit.ready >> slot & 1}
            for register, entry in unit.entries.where.items():
                bank, row = file.location.place(unit.owner, register)
                held = unit.entries.values[entry]
                require(entry in waiting or held == file.banks.rows[bank][row], "an entry equals its row")

    def check_end(self, counters: dict[str, int]) -> None:
        """Check the sums of a whole run."""
        super().check_end(counters)
        require(counters["sources"] == counters["source_hits"] + self.reads, "what misses is read, nothing else")
        require(counters["source_hits"] == self.hits, "hits are counted")


def watch_malekeh(cfg: MalekehConfig, trace: Trace, kind: type[Malekeh] = Malekeh, limit: int = 60_000) -> Malekeh:
    """Run to the end under the watcher."""
    layout, workload = malekeh_layout(cfg), prepare(cfg, trace)
    environment, model = Environment(cfg, workload, layout), kind(cfg, layout)
    watcher = CachingWatcher(cfg, workload, model=model)
    for _ in watched(model, environment, layout, watcher, limit):
        pass
    return model
