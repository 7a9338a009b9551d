"""A second reading of the cache, from probes, results and beats alone, and what must hold of it in every cycle."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.invariants import NEVER, bits, require
from tests.golden.rf.ltrf.moving import LOSSES, Moves, Share, Step, masked, patience
from tests.golden.scheduler.two_level.invariants import PlaceWatcher, loads
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.ltrf import EMPTY, FREE, FULL, MOVING, OPEN, PARTS, PREFETCH, RECALL, RELEASING, LtrfConfig
from warpfile.spec.stimulus import Result, Stimulus


@dataclass
class LtrfWatcher(PlaceWatcher):
    """Also follows places, banks, what moves and results. ``shares`` is what each place has of the cache, ``moves``
    what is under way, ``parked`` the port of the parked result in work with its main bank and its first cycle.
    ``sets`` and ``lives`` are what is kept of every warp, ``unchecked`` the units that wait for their look-up, and
    ``places_of`` what it found; ``stepped`` has the steps of this cycle by place.
    """

    shares: list[Share] = field(init=False)
    moves: Moves = field(init=False)
    parked: tuple[int, int, int] | None = None
    sets: dict[int, set[int]] = field(default_factory=dict)
    lives: dict[int, set[int]] = field(default_factory=dict)
    unchecked: list[int] = field(default_factory=list)
    places_of: dict[int, list[int]] = field(default_factory=dict)
    stepped: dict[int, list[Step]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.shares, self.moves = [Share() for _ in range(self.cfg.active_warps)], Moves(self.ltrf)

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
        """A place is let go when nothing is cached or under way."""
        return self.shares[place].state == RELEASING and not self.shares[place].cached and not self._busy(place)

    def _busy(self, place: int) -> bool:
        """Whether something of a place is under way."""
        return bool(self.shares[place].entry) or self.moves.under_way(place)

    def _check_choice(self, f: dict[str, int], places: dict[int, int]) -> None:
        """Only warps whose place is open issue."""
        super()._check_choice(f, {warp: p for warp, p in places.items() if self.shares[p].state == OPEN})

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self._check_cache(f)
        self._check_reads(f)
        done, starts = self._check_results(stimulus, f)
        parked = None if self.parked is None else self.parked[1]
        warps = self.warps_of(f)
        self._check_steps(stimulus, f, warps)
        self._check_saves(f, warps)
        seen = self.moves.turn(
            self.cycle, set(indices(f["channel_read"])), parked, None if starts is None else starts[1]
        )
        require({name: f[name] for name in seen} == seen, "banks take, grant and pass what they have to")
        self._enter(warps)
        if done:
            assert self.parked is not None
            self.moves.mains[self.parked[1]].latch, self.parked = FULL, None
        self.parked = starts or self.parked

    def _enter(self, warps: dict[int, int]) -> None:
        """Steps of the cycle before get into tables and directory, those of this cycle into the entry."""
        for p, share in enumerate(self.shares):
            for step in share.entry:
                bank = share.bank[step.register] if step.out else step.bank
                if step.out:
                    share.occupied.discard(bank)
                share.bank[step.register] = bank
                if step.moves:
                    self.moves.enter(p, bank, self._bank(warps[p], step.register), out=step.out)
            share.entry = self.stepped.pop(p, [])

    def _check_cache(self, f: dict[str, int]) -> None:
        """States and banks of all places, as they are when the cycle begins."""
        count = self.ltrf.interval_registers
        require(not f["error"], "whatever is looked up is there")
        for p, share in enumerate(self.shares):
            require(f["place_state"] >> 3 * p & 7 == share.state, f"place {p} is in state {share.state}")
            held = f["bank_occupied"] >> p * count & (1 << count) - 1
            require(held == masked(share.occupied), "banks of registers are occupied")
            require(share.state != OPEN or not self._busy(p), "nothing moves in an open place")
            share.check(self.cycle - patience(self.ltrf))
        require(f["recalled"] == masked({p for p, share in enumerate(self.shares) if share.recalled}), "who came back")
        known = self.moves.registered(self.cycle)
        require({name: f[name] for name in known} == known, "what moves is where it has to be")

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
        asking = self.moves.loading()
        urgent = {bank for bank, one in asking.items() if one.lost == LOSSES}
        require(not urgent & granted, "a channel that lost often goes before the units")
        require(f["channel_read"] == masked(urgent | asking.keys() - granted), "channels read where no unit does")
        requests = (divmod(index, self.cfg.source_slots) for index in indices(f["request"]))
        refused = {self.places_of[number][slot] for number, slot in requests} - granted
        require(
            self.cfg.collect == "one" or refused <= urgent,
            "a bank serves a unit that asks, unless a channel goes first",
        )
        if unit is not None:
            self.places_of[unit] = banks

    def _look_up(self, f: dict[str, int], unit: int) -> list[int]:
        warp, beat = self.units[unit]
        share = self.shares[next(p for p, w in self.warps_of(f).items() if w == warp)]
        require({*beat.sources} <= share.cached, "all sources are in the cache")
        self.places_of.pop(unit, None)
        return [share.bank[register] for register in beat.sources]

    def _check_results(self, stimulus: Stimulus, f: dict[str, int]) -> tuple[bool, tuple[int, int, int] | None]:
        """Of the write ports of the cache fills go first, then results, the highest first.

        Returns whether the parked result has its last beat, and the one that starts: port, main bank and cycle.
        """
        stores = self.moves.stores(self.cycle)
        taken, accepted, starts = set(stores), set(), None
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
                starts = (port, main, self.cycle) if self.moves.mains[main].latch == FREE else None
        require(f["cache_write"] == masked(into), "results are written where a port is free, the highest first")
        require(f["parked"] == (0 if starts is None else 1 << starts[0]), "one result is parked at a time")
        require(f["channel_write"] == masked(stores), "fills write behind their last beats")
        done = self.parked is not None and self.cycle == self.parked[2] + self.ltrf.crossbar_beats
        accepted |= into | ({self.parked[0]} if done and self.parked else set())
        require(f["write"] == masked(accepted), "the others wait")
        for port in accepted:
            self._complete(stimulus.results[port])
        return done, starts

    def _complete(self, result: Result | None) -> None:
        assert result is not None
        self.writes += result.writes
        for key in bits(result.warp, 1 << result.register if result.writes else 0, result.tokens):
            require(self.pending[key] == NEVER, "a result is pending until it completes")
            self.pending[key] = self.cycle + 1

    def _check_steps(self, stimulus: Stimulus, f: dict[str, int], warps: dict[int, int]) -> None:
        """What each place does in this cycle by its state."""
        seen: dict[str, int] = dict.fromkeys(("step_out", "step_in", "step_moves", "step_register"), 0)
        known = self._begins(stimulus, f, warps)
        ready = [p for p, share in enumerate(self.shares) if share.state == EMPTY and p in warps]
        for p, share in enumerate(self.shares):
            if share.state == RELEASING and f["released"] >> p & 1:
                share.leave(self.cycle)
            elif share.state in (MOVING, RELEASING) and p not in known:
                self._step(p, share, seen)
        require({name: f[name] for name in seen} == seen, "in every part the lowest register steps")
        require(f["start"] == (1 << ready[0] if ready else 0), "one place starts, the lowest")
        require(f["released_place"] == f["released"], "both know of it")
        if ready:
            share, warp = self.shares[ready[0]], warps[ready[0]]
            share.turn(RECALL if warp in self.sets else OPEN, self.cycle)
            share.working, share.live = set(), set()

    def _step(self, place: int, share: Share, seen: dict[str, int]) -> None:
        done = share.cached == share.working and not self._busy(place)
        self.stepped[place] = share.steps(place, self.ltrf)
        if share.state == MOVING and done:
            share.turn(OPEN, self.cycle)
        for register, out, _, moves in self.stepped[place]:
            at = PARTS * place + register % PARTS
            seen["step_out" if out else "step_in"] |= 1 << at
            seen["step_moves"] |= moves << at
            seen["step_register"] |= register << at * self.cfg.register_bits

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
                    spared = state == RECALL and self._is_spared(warps[p])
                    share.working, share.recalled = set() if spared else set(self.sets[warps[p]]), state == RECALL
                    require(len(share.working) <= self.ltrf.interval_registers, "an interval fits the cache")
                    shown = masked(share.working)
                    known.add(p)
        for p in known:
            self.shares[p].turn(MOVING, self.cycle)
        require(f["working_set"] == shown, "the interval is the operand, or what it was")
        return known

    def _is_spared(self, warp: int) -> bool:
        """Whether a warp that comes back does not bring its interval back."""
        heads = self.buffers[warp]
        return self.ltrf.recall == "spared" and bool(heads) and heads[0].pseudo

    def _check_saves(self, f: dict[str, int], warps: dict[int, int]) -> None:
        """One open place that is to be let go begins to be."""
        asked = [p for p in indices(f["releasing"]) if f["place_state"] >> 3 * p & 7 == OPEN]
        require(f["save"] == (1 << asked[0] if asked else 0), "one place starts to be released, the lowest")
        live = 0
        if asked:
            share, warp = self.shares[asked[0]], warps[asked[0]]
            require(all(w != warp for w, _ in self.units.values()), "no unit collects what is taken away")
            self.lives[warp], live = set(share.live), masked(share.live)
            share.turn(RELEASING, self.cycle)
        require(not self.ltrf.liveness or f["live_set"] == live, "what is live is kept")

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
        require(self.moves.is_over and self.parked is None, "transfers end")
        require(all(share.state == EMPTY for share in self.shares), "all places are let go")
