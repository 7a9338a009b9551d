"""What must hold in every cycle of a run with the register cache, from probes, results and beats alone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tests.golden.invariants import NEVER, bits, require
from tests.golden.rf.rfc.scenario import lines, queued
from tests.golden.scheduler.two_level.invariants import PlaceWatcher
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.rfc import READ_PORTS, RfcConfig
from warpfile.spec.stimulus import Origin, Result, Stimulus

#: What becomes of an accepted result with a register: exactly one of these.
FATES = ("cache_write", "bypass_hint", "bypass_partial", "bypass_full", "long")

#: A register of a warp, as something that a line or a queue has.
Name = tuple[int, int]


@dataclass
class RfcWatcher(PlaceWatcher):
    """Also follows lines, pins and queues. ``cached`` has the register of every line, as of this cycle.

    ``checked`` has the hits of every checked unit, ``unread`` those that it has not read. ``waiting`` has the rows
    in every queue, ``closed`` the banks whose queue takes nothing more in this cycle, ``overtaken`` the registers of
    lines that loads made void in it. ``entered`` and ``sent`` count what went to the cache and to the queues.
    """

    cached: dict[int, Name] = field(default_factory=dict)
    checked: dict[int, int] = field(default_factory=dict)
    unread: dict[int, int] = field(default_factory=dict)
    waiting: dict[int, deque[int]] = field(default_factory=dict)
    looked_up: tuple[int, int, int] | None = None
    closed: set[int] = field(default_factory=set)
    overtaken: set[Name] = field(default_factory=set)
    released_for: dict[int, int] = field(default_factory=dict)
    entered: int = 0
    sent: int = 0
    left: int = 0

    @property
    def rfc(self) -> RfcConfig:
        """The configuration of the scheme."""
        assert isinstance(self.cfg, RfcConfig)
        return self.cfg

    def may_let_go(self, place: int, f: dict[str, int]) -> bool:
        """A place is let go when none of its lines is valid."""
        return not f["held"] & self.own(place)

    def own(self, place: int) -> int:
        """Lines of a place."""
        return (1 << self.rfc.cache_entries) - 1 << place * self.rfc.cache_entries

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        before = self.cached
        self._check_lines(f)
        self._check_looked_up(f)
        self._check_kept(before)
        queue_before = {bank: len(rows) for bank, rows in self.waiting.items()}
        counts = {bank: count for bank, count in enumerate(queued(self.rfc, f)) if count}
        require({b: n for b, n in queue_before.items() if n} == counts, "what is queued stays until its bank takes it")
        self._check_reads(f)
        self._check_results(stimulus, f)
        self._check_ports(f)
        self._follow_check(f)
        self._follow_queues(stimulus, f)

    def _check_lines(self, f: dict[str, int]) -> None:
        """State of the lines by itself."""
        warps = {place: warp for place, warp in enumerate(self.warps_of_places(f)) if f["placed"] >> place & 1}
        self.cached = {}
        for line, register in lines(self.rfc, f).items():
            place = line // self.rfc.cache_entries
            require(place in warps, "only a warp with a place has lines")
            self.cached[line] = (warps[place], register)
        require(len(set(self.cached.values())) == len(self.cached), "a register is in one line at most")
        for probe in ("dead", "evict_first", "pinned"):
            require(not f[probe] & ~f["held"], f"only a line that is held is {probe}")
        pinned = 0
        for unit, slots in self.unread.items():
            warp, beat = self.units[unit]
            for slot in indices(slots):
                pinned |= sum(1 << line for line, name in self.cached.items() if name == (warp, beat.sources[slot]))
        require(f["pinned"] == pinned, "lines are pinned from the check to the read, and stay")
        for place in indices(f["releasing"]):
            require(not f["pinned"] & self.own(place), "no unit reads a line that is sent away")
            self.released_for[place] = self.released_for.get(place, 0) + 1
            require(self.released_for[place] < 300, "a place is released in bounded time")
        self.released_for = {place: n for place, n in self.released_for.items() if f["releasing"] >> place & 1}
        require(self.rfc.replacement != "lru" or not f["head"], "order of use has no head")

    def warps_of_places(self, f: dict[str, int]) -> list[int]:
        """Warp of every place, 0 if none."""
        mask = (1 << self.cfg.warp_bits) - 1
        return [f["place_warp"] >> place * self.cfg.warp_bits & mask for place in range(self.cfg.active_warps)]

    def _check_looked_up(self, f: dict[str, int]) -> None:
        """The check of the cycle before saw the lines as the results left them, which is how they are now."""
        if self.looked_up is not None:
            unit, hit, miss = self.looked_up
            warp, beat = self.units[unit]
            there = {register for w, register in self.cached.values() if w == warp}
            expected = sum(1 << slot for slot, register in enumerate(beat.sources) if register in there)
            require(hit == expected, "hits are the sources that are in lines")
            require(miss == (1 << len(beat.sources)) - 1 & ~hit, "the others are misses")
        self.looked_up = None

    def _check_kept(self, before: dict[int, Name]) -> None:
        """Lines change for a reason that is shown."""
        f = self.before
        if not f:
            return
        shown = f["flush"] | f["flush_dead"] | f["drop"]
        gone = {line for line, name in before.items() if self.cached.get(line) != name}
        voided = gone - set(indices(shown))
        reasons = f["evict"] + f["evict_dead"] + f["long_drop"].bit_count()
        require(set(indices(shown)) <= gone, "what is flushed or dropped is gone")
        require(len(voided) == reasons, "a register leaves its line as a victim or overtaken by a load")
        for line in voided:
            if f["evict"] and before[line] not in self.overtaken:
                self._push(before[line])
        require(all(not f["pinned"] >> line & 1 for line in gone), "a pinned line stays")
        appeared = [line for line, name in self.cached.items() if before.get(line) != name]
        require(len(appeared) == (f["cache_write"] & ~f["cache_write_hit"]).bit_count(), "results appear in lines")

    def home(self, name: Name) -> tuple[int, int]:
        """Bank and place."""
        return self._bank(*name), self.base[name[0]] + name[1]

    def _check_reads(self, f: dict[str, int]) -> None:
        """Bank reads, and slots that wait for a queue."""
        require(not f["interlock"] & f["request"], "a slot that waits for its queue does not ask")
        for index in indices(f["request"] | f["interlock"]):
            unit, slot = divmod(index, self.cfg.source_slots)
            require(unit in self.checked, "a unit asks after its check")
            require(not self.checked[unit] >> slot & 1, "a hit is not read from its bank")
            require(slot not in self.granted[unit], "a slot is granted once")
            warp, beat = self.units[unit]
            bank, row = self.home((warp, beat.sources[slot]))
            is_queued = row in self.waiting.get(bank, ())
            require(is_queued == bool(f["interlock"] >> index & 1), "exactly slots with a queued row wait for it")
        unit_grants: set[int] = set()
        for bank in indices(f["bank_write"]):
            self._access(bank, "write")
        for index in indices(f["grant"]):
            unit, slot = divmod(index, self.cfg.source_slots)
            warp, beat = self.units[unit]
            require(self.cfg.collect == "all" or unit not in unit_grants, "a unit has one fill per cycle")
            self.granted[unit].add(slot)
            unit_grants.add(unit)
            self.reads += 1
            self._access(self._bank(warp, beat.sources[slot]), "read")

    def _check_results(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Every accepted result has one fate, and at most one short and one long one are accepted."""
        accepted = {port: stimulus.results[port] for port in indices(f["write"])}
        fates = 0
        for fate in FATES:
            require(not fates & f[fate], "a result has one fate")
            fates |= f[fate]
        with_register = {port: result for port, result in accepted.items() if result is not None and result.writes}
        require(fates == sum(1 << port for port in with_register), "every accepted result has a fate")
        is_long = {port: self.is_long(result) for port, result in with_register.items()}
        require(list(is_long.values()).count(True) < 2, "one long result is accepted")
        require(list(is_long.values()).count(False) < 2, "one short result is accepted")
        long = sum(1 << port for port, one in is_long.items() if one)
        require(f["long"] | f["long_merge"] == long, "long results are queued, or merged into a line")
        require(not f["long_drop"] & ~f["long"], "a long result that makes a line void is queued")
        require(not f["long_merge"] & ~f["cache_write_hit"], "a merged result is written to the line of its register")
        require(f["cache_write"].bit_count() < 2, "the array has one write port")
        for port, result in accepted.items():
            assert result is not None
            self._complete(result)
            if not result.writes:
                continue
            self.writes += 1
            there = (result.warp, result.register) in self.cached.values()
            require(not f["cache_write_hit"] >> port & 1 or there, "a hit has its register in a line")
            if there and result.full and not is_long[port]:
                require(bool(f["cache_write_hit"] >> port & 1), "a register that is there is written in place")
            require(not f["bypass_partial"] >> port & 1 or not result.full, "whole results are no partial ones")

    def is_long(self, result: Result) -> bool:
        """Whether the result passes the cache by."""
        return self.rfc.long_results == "bypass" and result.origin in (Origin.HIT, Origin.MISS)

    def _complete(self, result: Result) -> None:
        for key in bits(result.warp, 1 << result.register if result.writes else 0, result.tokens):
            require(self.pending[key] == NEVER, "a result is pending until it completes")
            self.pending[key] = self.cycle + 1

    def _check_ports(self, f: dict[str, int]) -> None:
        reads = sum(self.unread[unit].bit_count() for unit in indices(f["near_read"]))
        require(reads + f["evict"] + f["flush"].bit_count() <= READ_PORTS, "the array has three read ports")
        require(f["evict"] + f["evict_dead"] < 2, "there is one victim at most")
        for probe in ("check", "near_read", "flush"):
            require(f[probe] & (f[probe] - 1) == 0, f"there is one {probe} at a time")

    def _follow_check(self, f: dict[str, int]) -> None:
        oldest = next((unit for unit in self.units if unit not in self.checked and self.units[unit][1].sources), None)
        if oldest is not None and self.is_deferred(oldest, f):
            oldest = None
        require(f["check"] == (0 if oldest is None else 1 << oldest), "units are checked in order of allocation")
        reader = next((unit for unit in self.units if unit in self.unread), None)
        require(f["near_read"] == (0 if reader is None else 1 << reader), "units read in order of allocation")
        if reader is not None:
            self.hits += self.unread[reader].bit_count()
            self.granted[reader] |= set(indices(self.unread.pop(reader)))
        if oldest is not None:
            self.checked[oldest] = f["hit"]
            if f["hit"]:
                self.unread[oldest] = f["hit"]
            self.looked_up = (oldest, f["hit"], f["miss"])

    def is_deferred(self, unit: int, f: dict[str, int]) -> bool:
        """Whether the look-up of the unit that is next has to wait."""
        return False

    def _follow_queues(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """At most one entry goes to a queue per cycle, and none to a full one."""
        self.closed = {bank for bank, rows in self.waiting.items() if len(rows) == self.rfc.write_queue}
        for bank in indices(f["bank_write"]):
            require(bool(self.waiting.get(bank)), "what is written was queued")
            self.waiting[bank].popleft()
            self.left += 1
        pushed = [self.cached[line] for line in indices(f["flush"])]
        self.overtaken = {self._name(stimulus, port) for port in indices(f["long_drop"])}
        for port in indices(f["bypass_hint"] | f["bypass_partial"] | f["bypass_full"] | f["long"]):
            pushed.append(self._name(stimulus, port))
        self.entered += f["cache_write"].bit_count()
        self.sent += len(pushed) + f["evict"]
        for name in pushed:
            self._push(name)

    def _name(self, stimulus: Stimulus, port: int) -> Name:
        result = stimulus.results[port]
        assert result is not None
        return result.warp, result.register

    def _push(self, name: Name) -> None:
        bank, row = self.home(name)
        require(bank not in self.closed, "a queue takes one entry per cycle, and none when it is full")
        self.closed.add(bank)
        self.waiting.setdefault(bank, deque()).append(row)

    def _follow_allocation(self, f: dict[str, int], warp: int, beat: Beat) -> None:
        super()._follow_allocation(f, warp, beat)
        self.checked.pop(f["allocate"].bit_length() - 1, None)

    def check_end(self, counters: dict[str, int]) -> None:
        """Check the sums of a whole run against the trace."""
        super().check_end(counters | {"bank_writes": self.writes})
        merges = counters["long_merges"]
        require(
            self.entered + self.sent - counters["evictions"] - counters["flushes"] == self.writes, "nothing is lost"
        )
        sources = ("evictions", "flushes", "bypasses_hint", "bypasses_partial", "bypasses_full", "long_results")
        require(sum(counters[name] for name in sources) == self.sent, "the queues' entries have a source each")
        waiting = sum(map(len, self.waiting.values()))
        # The run ends with the last warp: what is queued then is not written any more.
        require(counters["bank_writes"] + waiting == self.sent, "what is queued is written")
        require(counters["cache_hits"] == self.hits and merges <= counters["cache_write_hits"], "hits are counted")
