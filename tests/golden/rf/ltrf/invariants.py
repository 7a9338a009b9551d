"""A second reading of the cache, from probes, results and beats alone, and what must hold of it in every cycle."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.invariants import NEVER, bits, require
from tests.golden.rf.ltrf.moving import LOSSES, Job, Share, masked, patience
from tests.golden.scheduler.two_level.invariants import PlaceWatcher, loads
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.ltrf import (
    BEATS,
    EMPTY,
    LOAD,
    MOVING,
    OPEN,
    PREFETCH,
    RECALL,
    RELEASING,
    STORE,
    LtrfConfig,
)
from warpfile.spec.stimulus import Result, Stimulus


@dataclass
class LtrfWatcher(PlaceWatcher):
    """Also follows places, banks, transfers and results. ``shares`` is what each place has of the cache, ``jobs`` are
    the transfers under way by bank of the cache, ``parked`` is the port of the parked result with its main bank and the
    cycle in which it started. ``main`` has the last busy cycle of main banks, ``sets`` and ``lives`` what is kept of
    every warp, ``unchecked`` the units that wait for their look-up, and ``places_of`` what it found.
    """

    shares: list[Share] = field(init=False)
    jobs: dict[int, Job] = field(default_factory=dict)
    parked: tuple[int, int, int] | None = None
    main: dict[int, int] = field(default_factory=dict)
    sets: dict[int, set[int]] = field(default_factory=dict)
    lives: dict[int, set[int]] = field(default_factory=dict)
    unchecked: list[int] = field(default_factory=list)
    places_of: dict[int, list[int]] = field(default_factory=dict)
    turn: int = 0
    operand: int = 0

    def __post_init__(self) -> None:
        self.shares = [Share(free=list(range(self.ltrf.interval_registers))) for _ in range(self.cfg.active_warps)]

    @property
    def ltrf(self) -> LtrfConfig:
        """The configuration of the scheme."""
        assert isinstance(self.cfg, LtrfConfig)
        return self.cfg

    def warps_of(self, f: dict[str, int]) -> dict[int, int]:
        """Warp of every place that has one."""
        size = self.cfg.warp_bits
        return {p: f["place_warp"] >> p * size & (1 << size) - 1 for p in indices(f["placed"])}

    def may_let_go(self, place: int, f: dict[str, int]) -> bool:
        """A place is let go when its banks are free and its last transfer has ended."""
        return self.shares[place].state == RELEASING and self.shares[place].is_done

    def _check_choice(self, f: dict[str, int], places: dict[int, int]) -> None:
        """Only warps whose place is open issue."""
        super()._check_choice(f, {warp: p for warp, p in places.items() if self.shares[p].state == OPEN})

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self._check_cache(f)
        self._check_channels(f)
        self._check_reads(f)
        self._check_results(stimulus, f)
        self._check_transfer(f)
        warps = self.warps_of(f)
        self._check_steps(stimulus, f, warps)
        self._check_saves(f, warps)
        self._follow_jobs(f)

    def _check_cache(self, f: dict[str, int]) -> None:
        """States and banks of all places, as they are when the cycle begins."""
        count, size = self.ltrf.interval_registers, self.ltrf.cache_bank_bits
        require(not f["error"], "whatever is looked up is there")
        for p, share in enumerate(self.shares):
            require(f["place_state"] >> 3 * p & 7 == share.state, f"place {p} is in state {share.state}")
            free = sum(bank << k * size for k, bank in enumerate(share.free))
            require(
                f["bank_free"] >> p * count * size & (1 << count * size) - 1 == free, "free banks are in their order"
            )
            held = f["bank_occupied"] >> p * count & (1 << count) - 1
            require(held == masked(share.occupied), "banks of registers are occupied")
            require(not share.occupied & {*share.free}, "a bank is free or occupied")
            require(len(share.occupied) + len({*share.free}) == count, "every bank is one of both")
            share.check(self.cycle - patience(self.ltrf))
        require(f["recalled"] == masked({p for p, share in enumerate(self.shares) if share.recalled}), "who came back")

    def _check_channels(self, f: dict[str, int]) -> None:
        """Phases by the cycle in which each transfer was granted and served, and the main banks that they keep."""
        phases = {bank: job.phase(self.cycle, self.ltrf) for bank, job in self.jobs.items()}
        word = sum(phase << 3 * bank for bank, phase in phases.items())
        require(f["channel_phase"] == word, "phases are as long as they have to be")
        busy = {main for main, last in self.main.items() if last >= self.cycle}
        require(f["main_busy"] == masked(busy), "a main bank is busy from the grant to the end of its access")
        beats = masked({bank for bank, phase in phases.items() if phase == BEATS})
        beats |= (self.parked is not None) << self.ltrf.interval_registers
        require(f["main_beat"] == beats, "the crossbar is used in its beats")

    def _check_reads(self, f: dict[str, int]) -> None:
        """Look-ups in order of allocation; of the read ports of the cache the urgent channels go first."""
        unit = self.unchecked.pop(0) if self.unchecked else None
        require(
            f["check"] == (0 if unit is None else 1 << unit), "units are looked up in the order of their allocation"
        )
        banks = [] if unit is None else self._look_up(f, unit)
        word = sum(bank << slot * self.ltrf.cache_bank_bits for slot, bank in enumerate(banks))
        require(f["look_up_banks"] == word, "the banks are those of the table")
        granted: set[int] = set()
        for index in indices(f["grant"]):
            number, slot = divmod(index, self.cfg.source_slots)
            bank = self.places_of[number][slot]
            require(bank not in granted, "a bank of the cache is read once")
            require(slot not in self.granted[number], "a slot is granted once")
            granted.add(bank)
            self.granted[number].add(slot)
            self.reads += 1
        asking = {bank: job for bank, job in self.jobs.items() if job.phase(self.cycle, self.ltrf) == LOAD}
        urgent = {bank for bank, job in asking.items() if job.lost == LOSSES}
        require(not urgent & granted, "a channel that lost often goes before the units")
        require(f["channel_read"] == masked(urgent | asking.keys() - granted), "channels read where no unit does")
        if unit is not None:
            self.places_of[unit] = banks

    def _look_up(self, f: dict[str, int], unit: int) -> list[int]:
        warp, beat = self.units[unit]
        share = self.shares[next(p for p, w in self.warps_of(f).items() if w == warp)]
        require({*beat.sources} <= share.cached, "all sources are in the cache")
        self.places_of.pop(unit, None)
        return [share.bank[register] for register in beat.sources]

    def _check_results(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Of the write ports of the cache urgent channels go first, then results, the highest first."""
        asking = {bank: job for bank, job in self.jobs.items() if job.phase(self.cycle, self.ltrf) == STORE}
        taken = {bank for bank, job in asking.items() if job.lost == LOSSES}
        written, accepted, starts = set(taken), set(), None
        places = {warp: p for p, warp in self.warps_of(f).items()}
        into = set()
        for port in range(len(stimulus.results) - 1, -1, -1):
            result = stimulus.results[port]
            if result is None:
                continue
            place = places.get(result.warp)
            if not result.writes:
                accepted.add(port)
            elif place is not None:
                share = self.shares[place]
                if share.state != OPEN or f["releasing"] >> place & 1:
                    continue
                require(result.register in share.cached, "a result finds its register in the cache")
                if share.bank[result.register] not in taken:
                    taken.add(share.bank[result.register])
                    into.add(port)
                    share.written(result.register)
            elif self.parked is None and starts is None:
                main = self._bank(result.warp, result.register)
                starts = (port, main, self.cycle) if self.main.get(main, -1) < self.cycle else None
        require(f["cache_write"] == masked(into), "results are written where a port is free, the highest first")
        require(f["parked"] == (0 if starts is None else 1 << starts[0]), "one result is parked at a time")
        require(f["channel_write"] == masked(written | asking.keys() - taken), "channels write where no result does")
        accepted |= into | self._follow_parked(starts)
        require(f["write"] == masked(accepted), "the others wait")
        for port in accepted:
            self._complete(stimulus.results[port])

    def _follow_parked(self, starts: tuple[int, int, int] | None) -> set[int]:
        """Ports whose parked result has its last beat now."""
        beats, after = self.ltrf.crossbar_beats, 0 if self.ltrf.main_pipelined else self.cfg.bank_cycles
        done = set()
        if self.parked is not None and self.cycle == self.parked[2] + beats:
            done, self.parked = {self.parked[0]}, None
        if starts is not None:
            self.parked, self.main[starts[1]] = starts, self.cycle + beats + after
        return done

    def _complete(self, result: Result | None) -> None:
        assert result is not None
        self.writes += result.writes
        for key in bits(result.warp, 1 << result.register if result.writes else 0, result.tokens):
            require(self.pending[key] == NEVER, "a result is pending until it completes")
            self.pending[key] = self.cycle + 1

    def _check_transfer(self, f: dict[str, int]) -> None:
        """The candidates fit or do not; the first place in turn is granted."""
        warps = self.warps_of(f)
        fitting, unfit = {}, set()
        for p, share in enumerate(self.shares):
            if share.candidate is None:
                continue
            main = self._bank(warps[p], share.candidate)
            if share.bank[share.candidate] not in self.jobs and self.main.get(main, -1) < self.cycle:
                fitting[p] = main
            else:
                unfit.add(p)
        require(f["unfit"] == masked(unfit), "what does not fit waits")
        order = [(self.turn + k) % self.cfg.active_warps for k in range(self.cfg.active_warps)]
        chosen = next((p for p in order if p in fitting), None)
        require(f["transfer"] == (0 if chosen is None else 1 << chosen), "places are granted in turn")
        for p, share in enumerate(self.shares):
            if p == chosen:
                self._grant(f, p, fitting[p])
            elif share.candidate is None:
                share.nominate()

    def _grant(self, f: dict[str, int], place: int, main: int) -> None:
        share = self.shares[place]
        register = share.candidate
        assert register is not None
        back = share.state == RELEASING or register not in share.working
        require((f["transfer_register"], f["transfer_back"]) == (register, back), "the lowest register goes first")
        require(back or not share.pending - share.working, "no fill goes before a write-back")
        share.works += 1
        self.turn = (place + 1) % self.cfg.active_warps
        share.nominate()
        job = Job(place, share.bank[register], main, back, self.cycle)
        self.jobs[job.bank] = job
        self.main[main] = job.keeps_main(self.ltrf)

    def _check_steps(self, stimulus: Stimulus, f: dict[str, int], warps: dict[int, int]) -> None:
        """What each place does in this cycle by its state."""
        seen: dict[str, int] = dict.fromkeys(("step_out", "step_in", "step_moves", "step_register", "given_back"), 0)
        known = self._begins(stimulus, f, warps)
        littered = {p for p, share in enumerate(self.shares) if share.state == EMPTY and share.occupied}
        ready = [p for p, s in enumerate(self.shares) if s.state == EMPTY and p not in littered and p in warps]
        for p, share in enumerate(self.shares):
            if p in littered or (share.state == RELEASING and share.occupied):
                share.give(min(share.occupied))
                seen["given_back"] |= 1 << p
            elif share.state == RELEASING and f["released"] >> p & 1:
                share.leave(self.cycle)
            elif share.state == MOVING and p not in known:
                share.step(p, seen, self.ltrf, self.cycle)
        require({name: f[name] for name in seen} == seen, "places step one by one")
        require(f["start"] == (1 << ready[0] if ready else 0), "one place starts, the lowest")
        require(f["released_place"] == f["released"], "both know of it")
        if ready:
            share, warp = self.shares[ready[0]], warps[ready[0]]
            share.turn(RECALL if warp in self.sets else OPEN, self.cycle)
            share.working, share.live = set(), set()

    def _begins(self, stimulus: Stimulus, f: dict[str, int], warps: dict[int, int]) -> set[int]:
        """Places that get to know their interval in this cycle."""
        known, shown = set(), 0
        for state in (RECALL, PREFETCH):
            for p, share in enumerate(self.shares):
                if share.state == state:
                    if state == PREFETCH:
                        assert stimulus.operand is not None
                        self.sets[warps[p]] = set(indices(stimulus.operand))
                    else:
                        share.live = set(self.lives[warps[p]])
                    share.working, share.recalled = set(self.sets[warps[p]]), state == RECALL
                    require(len(share.working) <= self.ltrf.interval_registers, "an interval fits the cache")
                    shown = masked(share.working)
                    known.add(p)
        for p in known:
            self.shares[p].turn(MOVING, self.cycle)
        require(f["working_set"] == shown, "the interval is the operand, or what it was")
        return known

    def _check_saves(self, f: dict[str, int], warps: dict[int, int]) -> None:
        """One open place that is to be let go saves what is needed."""
        asked = [p for p in indices(f["releasing"]) if f["place_state"] >> 3 * p & 7 == OPEN]
        require(f["save"] == (1 << asked[0] if asked else 0), "one place starts to be released, the lowest")
        saved = live = 0
        if asked:
            share, warp = self.shares[asked[0]], warps[asked[0]]
            require(all(w != warp for w, _ in self.units.values()), "nobody collects what is taken away")
            share.pending = share.kept(share.working, self.ltrf) - share.incoming
            self.lives[warp] = set(share.live)
            saved, live = masked(share.pending), masked(share.live)
            share.turn(RELEASING, self.cycle)
        require(f["save_set"] == saved, "what is needed is saved")
        require(not self.ltrf.liveness or f["live_set"] == live, "what is live is kept")

    def _follow_jobs(self, f: dict[str, int]) -> None:
        served = f["channel_read"] | f["channel_write"]
        for bank, job in list(self.jobs.items()):
            if job.begun == self.cycle:
                continue
            if served >> bank & 1:
                job.served = self.cycle
                if job.back:
                    self.main[job.main] = job.keeps_main(self.ltrf)
            elif job.phase(self.cycle, self.ltrf) in (LOAD, STORE):
                job.lost = min(LOSSES, job.lost + 1)
            if job.is_over(self.cycle, self.ltrf):
                self.shares[job.place].works -= 1
                del self.jobs[bank]

    def _follow_issue(self, f: dict[str, int]) -> None:
        entered = 0
        if f["issue"]:
            place = next(p for p, w in self.warps_of(f).items() if w == f["issue_warp"])
            entered = self._issued(self.buffers[f["issue_warp"]][0], place, bool(f["exit"]))
        require(f["enter"] == entered, "a PREFETCH that issues is seen")
        super()._follow_issue(f)

    def _issued(self, beat: Beat, place: int, leaves: bool) -> int:
        share = self.shares[place]
        dests = set(range(beat.dest, beat.dest + beat.dest_count))
        require(f"{share.state}" == f"{OPEN}", "a warp issues while its place is open")
        if beat.mask:
            require({*beat.sources} | dests <= share.working, "an instruction names registers of its interval")
        if leaves:
            share.leave(self.cycle)
        elif beat.pseudo:
            require(not share.incoming, "nothing is in flight at a PREFETCH")
            share.turn(PREFETCH, self.cycle)
            return 1 << place
        elif beat.mask:
            hint = beat.hints >> self.cfg.hint_at("dead") if self.ltrf.liveness and beat.converged else 0
            share.live -= {register for slot, register in enumerate(beat.sources) if hint >> slot & 1}
            share.live |= dests
            share.incoming |= dests if loads(beat) and beat.full else set()
        return 0

    def _follow_allocation(self, f: dict[str, int], warp: int, beat: Beat) -> None:
        super()._follow_allocation(f, warp, beat)
        if beat.sources:
            self.unchecked.append(f["allocate"].bit_length() - 1)

    def _follow_inputs(self, stimulus: Stimulus) -> None:
        super()._follow_inputs(stimulus)
        if stimulus.launch is not None:
            self.sets.pop(stimulus.launch.warp, None)

    def check_end(self, counters: dict[str, int]) -> None:
        """Everything came to an end."""
        super().check_end(counters)
        require(not self.jobs and self.parked is None, "transfers end")
        require(all(share.state == EMPTY for share in self.shares), "all places are let go")
