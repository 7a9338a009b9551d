"""What must hold in every cycle of a run with the partitioned file, from probes, results and beats alone."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace

from tests.golden.invariants import NEVER, Watcher, bits, require
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Result, Stimulus
from warpfile.spec.schemes.pilot import COUNT_BITS, PilotConfig, State

#: Pairs of register and home that differ.
Map = dict[int, int]


def fields_of(word: int, count: int, *widths: int) -> list[tuple[int, ...]]:
    """The records of an array of ``count``, each of fields of these widths, from the lowest bit on."""
    found = []
    for _ in range(count):
        record = []
        for width in widths:
            record.append(word & (1 << width) - 1)
            word >>= width
        found.append(tuple(record))
    require(not word, "an array has no bits beyond its records")
    return found


def swapped(fast: int, members: list[int], marker: int) -> Map:
    """The map of a list: its slow registers, in order, change places with the fast ones that it lacks, ascending."""
    moved = [register for register in members if register != marker and register >= fast]
    pairs = list(zip([register for register in range(fast) if register not in members], moved, strict=False))
    return dict(pairs) | {slow: low for low, slow in pairs}


@dataclass
class PilotWatcher(Watcher):
    """Also follows kernel, maps, pilot and epochs.

    ``maps`` are those of the two tables now, ``at_launch`` the map of every resident warp when it came, ``counts`` what
    the pilot accessed by its beats, ``taken_by_pilot`` by the banks. ``keeps``: the list of the kernel is kept.
    ``arriving`` has per input of the units, and ``completing`` per port, when data come and results complete.
    """

    now: dict[str, int] = field(default_factory=dict)
    maps: tuple[Map, Map] = ({}, {})
    at_launch: dict[int, Map] = field(default_factory=dict)
    state: int = State.IDLE
    since: int = 0
    kernel: bool = False
    pilot: int | None = None
    versions: int = 0
    counts: Counter[int] = field(default_factory=Counter)
    keeps: bool = False
    renamed: tuple[tuple[int, int], ...] = ()
    held: int = 0
    taken_by_pilot: int = 0
    sampled: Counter[str] = field(default_factory=Counter)
    arriving: dict[int, set[int]] = field(default_factory=dict)
    completing: dict[int, set[int]] = field(default_factory=dict)
    epoch_cycle: int = 0
    epoch_issued: int = 0
    high: bool = True

    @property
    def own(self) -> PilotConfig:
        """The configuration of the scheme."""
        assert isinstance(self.cfg, PilotConfig)
        return self.cfg

    @property
    def stands(self) -> bool:
        """Whether no warp issues, none comes, and epochs stand."""
        return False

    @property
    def registers(self) -> int:
        """Registers per thread."""
        return self.workload.registers

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        self.now = f
        self._check_state(f)
        self._check_tables(f)
        self._check_profile(f)
        self._check_epochs(f)
        super().check(stimulus, f)
        self._follow_kernel(f)

    def _check_state(self, f: dict[str, int]) -> None:
        require(f["pilot_state"] == self.state, "states follow one another as the kernel does")
        require(f["profiling"] == (self.state == State.PROFILE), "the pilot is profiled in PROFILE")
        require(not f["launch"] or self.state not in (State.IDLE, State.LOAD), "no launch before the list is there")
        require(f["current_version"] == self._has_new_map(f), "RUN has the pilot's map")
        require(bool(f["quiet"]), "nothing inside has to come to an end")
        require(f["pilot_warp"] == (self.pilot or 0), "the pilot is the first warp of the kernel")
        require(f["versions"] == self.versions, "a warp has the version of its launch from the next cycle on")

    def _has_new_map(self, f: dict[str, int]) -> bool:
        return self.own.piloted and self.state == State.RUN and not self.keeps

    def _misleads(self) -> bool:
        """Whether the pilot has not accessed all that the list names."""
        hot = set(self.workload.kernel.descriptor.values()) - {self.own.marker}
        return self.own.checks_map and any(not self.counts[register] for register in hot)

    def _check_tables(self, f: dict[str, int]) -> None:
        """Every version is a bijection that is its own inverse, and is written only while no warp uses it."""
        before, n = self.maps, self.own.fast_registers
        entries = fields_of(f["swap_table"], 4 * n, 1, self.cfg.register_bits, self.cfg.register_bits)
        maps = []
        for table in (entries[: 2 * n], entries[2 * n :]):
            valid = [(register, home) for is_valid, register, home in table if is_valid]
            require(all(not any(record) for record in table[len(valid) :]), "valid entries come first")
            found = dict(valid)
            require(len(found) == len(valid), "a register has one entry")
            require(all(found.get(home) == register for register, home in valid), "the map is its own inverse")
            require(all(min(pair) < n <= max(pair) for pair in valid), "a pair swaps a fast and a slow register")
            maps.append(found)
        self.maps = (maps[0], maps[1])
        self._check_written(f, before, maps)
        for warp in indices(f["resident"]):
            mapped = self.maps[f["versions"] >> warp & 1]
            require(self.at_launch.setdefault(warp, mapped) == mapped, "a warp's map stays from launch to exit")

    def _check_written(self, f: dict[str, int], before: tuple[Map, Map], maps: list[Map]) -> None:
        """When tables change, and to what."""
        require(maps[0] == before[0] or self.before.get("pilot_state") in (None, State.LOAD) or self.kernel, "LOAD")
        require(maps[1] == before[1] or self.before["pilot_state"] == State.REMAP or self.kernel, "REMAP")
        require(maps[0] == before[0] or not f["resident"], "no warp is resident while table 0 is written")
        require(maps[1] == before[1] or not f["versions"] & f["resident"], "no warp uses table 1 while it is written")
        if self.state not in (State.IDLE, State.LOAD):
            require(maps[0] == self.listed_map(), "the first table is that of the list")
        if f["current_version"]:
            require(maps[1] == self.sorted_map(f), "the second table is that of the pilot")

    def listed_map(self) -> Map:
        """The map of the kernel's list."""
        n = self.own.fast_registers
        given = [self.workload.kernel.descriptor.get(f"hot{k}", self.own.marker) for k in range(n)]
        return swapped(n, given, self.own.marker)

    def sorted_map(self, f: dict[str, int]) -> Map:
        """The map of what is in the sorter."""
        n = self.own.fast_registers
        slots = fields_of(f["sorted"], n, 1, self.cfg.register_bits, COUNT_BITS)
        return swapped(n, [register for valid, register, _ in slots if valid], self.own.marker)

    def home(self, warp: int, register: int) -> int:
        """Where the warp's map has a register."""
        return self.at_launch[warp].get(register, register)

    def row_of(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row, by the reference design's own formula: fast homes of all warps first, then the slow ones."""
        return self.place_of(warp, self.home(warp, register))

    def place_of(self, warp: int, home: int) -> tuple[int, int]:
        """Bank and row of a home of a warp."""
        n = self.own.fast_registers
        if home < n:
            return (warp * n + home) % self.cfg.banks, (warp * n + home) // self.cfg.banks
        row, bank = divmod(warp * (self.registers - n) + home - n, self.cfg.banks)
        return bank, self.fast_rows + row

    @property
    def fast_rows(self) -> int:
        """Rows that the fast homes of all warps take in every bank."""
        rows, rest = divmod(self.cfg.warps * self.own.fast_registers, self.cfg.banks)
        return rows + bool(rest)

    def length(self, row: int) -> int:
        """Cycles that an access takes that starts now."""
        if row >= self.fast_rows:
            return self.own.slow_cycles
        return self.cfg.bank_cycles if self.now["high_mode"] else self.own.low_cycles

    def check_places(self) -> None:
        """No two registers of resident warps are in one place."""
        places = [self.row_of(warp, register) for warp in self.at_launch for register in range(self.registers)]
        require(len(set(places)) == len(places), "every register has a place of its own")
        require(all(row < self.cfg.rows for _, row in places), "every place is in a bank")

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        shown = {name: f[name] for name in ("fast_write", "slow_write", "result_lookup", "result_hit", "fast_grant")}
        expected = dict.fromkeys(shown, 0)
        for port in indices(f["write"]):
            result = stimulus.results[port]
            assert isinstance(result, Result)
            last = self.cycle + self.cfg.bank_cycles - 1
            if result.writes:
                last = self._write(port, result, expected)
            while last in self.completing.setdefault(port, set()):
                last += 1
            self.completing[port].add(last)
            for key in bits(result.warp, 1 << result.register if result.writes else 0, result.tokens):
                require(self.pending[key] == NEVER, "a result is pending until it completes")
                self.pending[key] = last + 1
        units: set[int] = set()
        for index in indices(f["grant"]):
            expected["fast_grant"] |= self._grant(index, units) << index
        require(shown == expected, "accesses are shown by the partition that serves them")

    def _write(self, port: int, result: Result, expected: dict[str, int]) -> int:
        """A result is stored; returns the last cycle of its access."""
        bank, row = self.row_of(result.warp, result.register)
        length = self.length(row)
        self._access(bank, "write", length)
        self.writes += 1
        self.taken_by_pilot += result.warp == self.pilot and self.state == State.PROFILE
        self._sample("writes", row)
        expected["fast_write" if row < self.fast_rows else "slow_write"] |= 1 << port
        expected["result_lookup"] |= 1 << port
        expected["result_hit"] |= (self.home(result.warp, result.register) != result.register) << port
        return self.cycle + length - 1

    def _grant(self, index: int, units: set[int]) -> bool:
        """A slot is served; returns whether by the fast partition."""
        unit, slot = divmod(index, self.cfg.source_slots)
        warp, beat = self.units[unit]
        require(slot not in self.granted[unit], "a slot is granted once")
        require(self.cfg.collect == "all" or unit not in units, "a unit is granted by one bank at a time")
        self.granted[unit].add(slot)
        units.add(unit)
        self.reads += 1
        bank, row = self.row_of(warp, beat.sources[slot])
        length = self.length(row)
        self._access(bank, "read", length)
        arriving = self.arriving.setdefault(index if self.cfg.collect == "all" else unit, set())
        require(self.cycle + length not in arriving, "an input is filled once in a cycle")
        arriving.add(self.cycle + length)
        self.taken_by_pilot += warp == self.pilot and self.state == State.PROFILE
        self._sample("reads", row)
        return row < self.fast_rows

    def _sample(self, kind: str, row: int) -> None:
        mode = "_high" if self.now["high_mode"] else "_low"
        self.sampled[f"fast_{kind}{mode}" if row < self.fast_rows else f"slow_{kind}"] += 1

    def _check_profile(self, f: dict[str, int]) -> None:
        """Counts, scan and sorter against what the pilot's beats access."""
        require(f["counted"] == self.held, "a beat of the pilot is counted in the cycle after its issue")
        self.held = 0
        step = self.cycle - self.since
        scanned = self._saturated(step) if self.state == State.SORT else 0
        require(f["scanned"] == scanned, "the counts are scanned one after the other")
        if self.state in (State.IDLE, State.LOAD, State.PROFILE) or not self.own.piloted:
            require(not f["sorted"], "nothing is sorted before the scan")
            return
        known = range(min(self.registers, self.own.marker))[: step if self.state == State.SORT else None]
        order = sorted(known, key=lambda register: (-self._saturated(register), register))
        wanted = [(1, register, self._saturated(register)) for register in order[: self.own.fast_registers]]
        slots = fields_of(f["sorted"], self.own.fast_registers, 1, self.cfg.register_bits, COUNT_BITS)
        require(slots == wanted + [(0, 0, 0)] * (len(slots) - len(wanted)), "the sorter is a stable sort")

    def _saturated(self, register: int) -> int:
        return min(self.counts[register], (1 << COUNT_BITS) - 1)

    def _check_epochs(self, f: dict[str, int]) -> None:
        running = self.state not in (State.IDLE, State.LOAD) and not self.stands
        require(f["high_mode"] == self.high, "the mode changes at the end of an epoch alone, by what was issued")
        require(f["epoch_cycle"] == self.epoch_cycle, "epochs follow one another")
        require(f["epoch_issued"] == self.epoch_issued, "every issue counts in its epoch")
        last = running and self.epoch_cycle == self.own.epoch - 1
        require(f["epoch_end"] == last, "an epoch ends in its last cycle")
        if running:
            self.epoch_cycle += 1
            self.epoch_issued += f["issue"]
        if last:
            self.sampled["epochs_high" if self.high else "epochs_low"] += 1
            self.high = self.epoch_issued >= self.own.epoch_threshold
            self.epoch_cycle = self.epoch_issued = 0

    def _follow_issue(self, f: dict[str, int]) -> None:
        if self.own.rename_latency:
            self._check_lookup(self.renamed)
        self.renamed = ()
        if f["issue"]:
            self._check_renamed(f["issue_warp"], self.buffers[f["issue_warp"]][0])
        super()._follow_issue(f)
        if f["exit"]:
            del self.at_launch[f["issue_warp"]]

    def _check_renamed(self, warp: int, beat: Beat) -> None:
        sources = beat.sources if beat.mask else ()
        self.renamed = tuple((register, self.home(warp, register)) for register in sources)
        if not self.own.rename_latency:
            self._check_lookup(self.renamed)
        if warp == self.pilot and self.state == State.PROFILE and beat.mask:
            accessed = [*beat.sources, *range(beat.dest, beat.dest + beat.dest_count)]
            self.counts.update(register for register in accessed if register != self.own.marker)
            self.held = sum(register != self.own.marker for register in accessed)

    def _check_lookup(self, renamed: tuple[tuple[int, int], ...]) -> None:
        homes = [home for _, home in renamed]
        hits = sum((home != register) << slot for slot, (register, home) in enumerate(renamed))
        require(self.now["source_lookup"] == (1 << len(homes)) - 1, "sources of a beat that executes are renamed")
        require(self.now["source_hit"] == hits, "those that are swapped hit")
        shown = fields_of(self.now["source_home"], self.cfg.source_slots, self.cfg.register_bits)
        require([home for (home,) in shown][: len(homes)] == homes, "sources are sent to their homes")

    def _follow_inputs(self, stimulus: Stimulus) -> None:
        launch = stimulus.launch if self.now["launch"] else None
        super()._follow_inputs(replace(stimulus, launch=launch))
        if launch is None:
            return
        if self.state == State.PROFILE and not self.now["resident"]:
            self.pilot = launch.warp
        self.versions = self.versions & ~(1 << launch.warp) | self.now["current_version"] << launch.warp
        self.at_launch[launch.warp] = self.maps[self.now["current_version"]]
        self.check_places()

    def _follow_kernel(self, f: dict[str, int]) -> None:
        """The state of the next cycle."""
        lasts = {
            State.LOAD: (self.own.fast_registers, State.PROFILE if self.own.piloted else State.RUN),
            State.SORT: (min(self.registers, self.own.marker), State.REMAP),
            State.REMAP: (self.own.fast_registers, State.RUN),
        }
        self.kernel = bool(f["kernel"])
        ends = self.state == State.SORT and self.cycle - self.since == lasts[State.SORT][0] and not self.kernel
        self.keeps = not self.kernel and (self.keeps or (ends and self._misleads()))
        require(f.get("list_kept", 0) == (ends and self.keeps), "a list is kept where the pilot misleads")
        if self.kernel:
            require(not f["resident"] and self.state != State.LOAD, "a kernel begins when no warp is resident")
            self._enter(State.LOAD)
            return
        cycles, following = lasts.get(State(self.state), (0, 0))
        if self.state == State.PROFILE and f["exit"] and f["issue_warp"] == self.pilot:
            self._enter(State.SORT)
        elif cycles and self.cycle - self.since == cycles:
            self._enter(self._behind(State(self.state), following))

    def _behind(self, state: State, following: State) -> State:
        """What comes behind a state."""
        return State.RUN if state == State.SORT and self.keeps else following

    def _enter(self, state: int) -> None:
        self.state, self.since = state, self.cycle

    def check_end(self, counters: dict[str, int]) -> None:
        """Also the counters of the file."""
        super().check_end(counters)
        names = [f"fast_{kind}_{mode}" for kind in ("reads", "writes") for mode in ("high", "low")]
        for name in (*names, "slow_reads", "slow_writes", "epochs_high", "epochs_low"):
            require(counters[name] == self.sampled[name], f"{name} counts what it says")
        reads = sum(counters[name] for name in ("fast_reads_high", "fast_reads_low", "slow_reads"))
        writes = sum(counters[name] for name in ("fast_writes_high", "fast_writes_low", "slow_writes"))
        require((reads, writes) == (self.reads, self.writes), "every access is in one partition")
        if self.state not in (State.IDLE, State.LOAD, State.PROFILE):
            require(counters["pilot_accesses"] == self.taken_by_pilot, "counted is what the banks did for the pilot")
        launches = counters["warps_old_map"] + counters["warps_new_map"]
        require(launches == len(self.launched), "every launch has a version")
