"""What must hold in every cycle of any run, checked from the probes and the stimulus alone."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field

from tests.golden.dealing import beats_of, instructions_of, warps_of
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.environment import Result, Stimulus
from warpfile.spec.trace import Kind, Port
from warpfile.spec.workload import Workload


class Broken(AssertionError):
    """An invariant does not hold."""


def require(holds: bool, rule: str) -> None:
    """Raise :class:`Broken` unless the rule holds."""
    if not holds:
        raise Broken(rule)


NEVER = 1 << 62  #: not yet accepted


def takes_unit(beat: Beat) -> bool:
    """Whether a beat needs a collector unit."""
    return beat.mask != 0 and beat.port != Port.NONE


def bits(warp: int, registers: int, tokens: int) -> list[tuple[int, str, int]]:
    """Scoreboard bits of a warp by name."""
    named = [(warp, "register", number) for number in indices(registers)]
    return named + [(warp, "token", number) for number in indices(tokens)]


@dataclass
class Watcher:
    """Follows beats through the machine with a bookkeeping of its own.

    ``buffers`` per warp slot, ``units`` per collector unit: warp and beat. ``busy`` holds per bank and kind of access
    the last cycle in which an access keeps it, ``way_out`` per bank the cycles in which rows leave it, ``pending`` the
    registers and tokens under way with the first cycle in which they are seen to be complete. ``refuses``: the operand
    stage may hold warps or refuse beats. ``hits`` counts operands that need no read. What depends on the collector
    units is in ``_check_units`` and ``_follow_allocation``.
    """

    cfg: Config
    workload: Workload
    refuses: bool = False
    cycle: int = 0
    cta: dict[int, int] = field(default_factory=dict)
    base: dict[int, int] = field(default_factory=dict)
    stream: dict[int, int] = field(default_factory=dict)
    launched: set[int] = field(default_factory=set)
    buffers: dict[int, deque[Beat]] = field(default_factory=dict)
    units: dict[int, tuple[int, Beat]] = field(default_factory=dict)
    granted: dict[int, set[int]] = field(default_factory=dict)
    last_payload: dict[tuple[int, int], int] = field(default_factory=dict)
    busy: dict[tuple[int, str], int] = field(default_factory=dict)
    way_out: dict[int, set[int]] = field(default_factory=dict)
    pending: dict[tuple[int, str, int], int] = field(default_factory=dict)
    before: dict[str, int] = field(default_factory=dict)
    arrived: int = 0
    reads: int = 0
    writes: int = 0
    hits: int = 0

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        self._check_masks(f)
        self._check_units(f)
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
        require(not f["waiting"] & ~f["resident"], "only resident warps wait")
        require(f["allocate"] & (f["allocate"] - 1) == 0, "one unit is allocated at a time")
        require(not f["grant"] & ~f["request"], "only requests are granted")
        require(not f["write"] & f["write_wait"], "a result is accepted or waits")
        require(not f["dispatch"] & ~f["offer"], "only an offered beat dispatches")
        require(bool(f["issue"] or not f["issue_warp"]), "no warp is named where nothing issues")
        eligible = f["clear"] & ~f["waiting"] & f["room"]
        if f["issue"]:
            require(bool(eligible >> f["issue_warp"] & 1), "a clear, running warp with room issues")
        require(bool(f["issue"] or self.refuses or not eligible), "some eligible warp issues")
        buffered = sum(1 << warp for warp, buffer in self.buffers.items() if buffer)
        require(buffered == f["buffered"], "beats stay in their buffer until they issue")
        full = sum(1 << warp for warp, buffer in self.buffers.items() if len(buffer) == self.cfg.buffer_depth)
        ready = (1 << self.cfg.warps) - 1 & ~full
        require(ready == f["decode_ready"], "there is room until so many beats were sent that have not issued")

    def _check_units(self, f: dict[str, int]) -> None:
        require(not f["allocate"] & f["occupied"], "an occupied unit is not allocated")
        occupied = sum(1 << unit for unit in self.units)
        require(occupied == f["occupied"], "units are occupied from allocation to dispatch")
        full = len(self.units) == self.cfg.collectors
        stuck = sum(1 << warp for warp, buffer in self.buffers.items() if buffer and full and takes_unit(buffer[0]))
        require(f["buffered"] & ~stuck == f["room"], "room is a free unit, or a head beat that needs none")

    def _check_barriers(self, f: dict[str, int]) -> None:
        waited = self.before.get("waiting", 0)
        require(f["waiting"] & ~waited == self.arrived, "exactly the warp that issued a barrier starts to wait")
        self.arrived = 0
        ended = waited & ~f["waiting"]
        for warp in indices(ended):
            mates = sum(1 << w for w, k in self.cta.items() if k == self.cta[warp])
            missing = mates & self.before["resident"] & ~self.before["waiting"]
            require(not missing, "a barrier opens when all warps of its CTA wait")

    def _bank(self, warp: int, register: int) -> int:
        row, bank = divmod(self.base[warp] + register, self.cfg.banks)
        return (bank + {"none": 0, "warp": warp, "row": row}[self.cfg.bank_skew]) % self.cfg.banks

    def _result_bank(self, result: Result) -> int:
        """Where an accepted result is written."""
        return self._bank(result.warp, result.register)

    def _access(self, bank: int, kind: str, length: int | None = None) -> None:
        """An access starts that takes so many cycles, ``bank_cycles`` without a number."""
        length = self.cfg.bank_cycles if length is None else length
        require(
            self._is_free(bank, kind, length), "a port of a bank serves one access at a time, and one row leaves it"
        )
        kept = length if self.cfg.bank_occupancy == "length" else 1
        self.busy[bank, self._bank_port(kind)] = self.cycle + kept - 1
        if kind == "read":
            self.way_out.setdefault(bank, set()).add(self.cycle + length)

    def _bank_port(self, kind: str) -> str:
        return kind if self.cfg.bank_ports == "1R1W" else "access"

    def _is_free(self, bank: int, kind: str, length: int) -> bool:
        """Whether such an access may start."""
        leaves_alone = kind == "write" or self.cycle + length not in self.way_out.get(bank, set())
        return leaves_alone and self.busy.get((bank, self._bank_port(kind)), -1) < self.cycle

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        for port in indices(f["write"]):
            result = stimulus.results[port]
            require(result is not None, "only a valid result is accepted")
            assert isinstance(result, Result)
            if result.writes:
                self.writes += 1
                self._access(self._result_bank(result), "write")
            for key in bits(result.warp, 1 << result.register if result.writes else 0, result.tokens):
                require(self.pending[key] == NEVER, "a result is pending until it completes")
                self.pending[key] = self.cycle + self.cfg.bank_cycles
        unit_grants: set[int] = set()
        for index in indices(f["grant"]):
            unit, slot = divmod(index, self.cfg.source_slots)
            warp, beat = self.units[unit]
            require(slot not in self.granted[unit], "a slot is granted once")
            require(self.cfg.collect == "all" or unit not in unit_grants, "a unit has one fill per cycle")
            self.granted[unit].add(slot)
            unit_grants.add(unit)
            self.reads += 1
            self._access(self._bank(warp, beat.sources[slot]), "read")

    def _follow_dispatch(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        for port in indices(f["offer"]):
            unit = f[f"dispatch_unit{port}"]
            warp, beat = self.units[unit]
            require(f[f"dispatch_payload{port}"] == beat.payload, "a unit presents the beat it was given")
            require(port == self.cfg.port_of[beat.port], "a beat goes to the port of its class")
            require(len(self.granted[unit]) == len(beat.sources), "a beat is presented with all its operands")
            require(bool(f["dispatch"] >> port & 1) == bool(stimulus.ready >> port & 1), "a ready port takes the beat")
            if f["dispatch"] >> port & 1:
                key = (self.stream[warp], port)
                require(self.last_payload.get(key, -1) < beat.payload, "a warp's beats leave a port in order")
                self.last_payload[key] = beat.payload
                del self.units[unit]

    def _follow_issue(self, f: dict[str, int]) -> None:
        if not f["issue"]:
            return
        warp = f["issue_warp"]
        beat = self.buffers[warp].popleft()
        self.arrived = 1 << warp if beat.kind == Kind.BARRIER else 0
        self._check_pending(warp, beat)
        require(bool(f["allocate"]) == takes_unit(beat), "exactly the beats that need a unit take one")
        if f["allocate"]:
            self._follow_allocation(f, warp, beat)
        if f["exit"]:
            require(not self.buffers[warp], "EXIT is the last beat of a warp")
            require(all(w != warp for w, _ in self.units.values()), "EXIT waits for the warp's units")
            late = [key for key, cycle in self.pending.items() if key[0] == warp and cycle > self.cycle]
            require(not late, "EXIT waits for the warp's results")
            del self.cta[warp]

    def _follow_allocation(self, f: dict[str, int], warp: int, beat: Beat) -> None:
        unit = f["allocate"].bit_length() - 1
        require(f["occupied"] & (f["allocate"] - 1) == f["allocate"] - 1, "the lowest free unit takes the beat")
        self.units[unit], self.granted[unit] = (warp, beat), set()

    def _check_pending(self, warp: int, beat: Beat) -> None:
        dests = sum(1 << register for register in range(beat.dest, beat.dest + beat.dest_count))
        sources = sum(1 << register for register in beat.sources)
        for key in bits(warp, sources | dests, beat.token_reads | beat.token_writes):
            require(self.pending.get(key, 0) <= self.cycle, "a beat waits until what it names is complete")
        if beat.mask:
            self.pending.update(dict.fromkeys(bits(warp, dests, beat.token_writes), NEVER))

    def _follow_inputs(self, stimulus: Stimulus) -> None:
        if stimulus.launch is not None:
            launch = stimulus.launch
            self.cta[launch.warp], self.base[launch.warp] = launch.cta, launch.base
            self.stream[launch.warp], self.buffers[launch.warp] = launch.stream, deque()
            self.launched.add(launch.stream)
        if stimulus.beat is not None:
            self.buffers[stimulus.beat_warp].append(stimulus.beat)

    def check_end(self, counters: dict[str, int]) -> None:
        """Check the sums of a whole run against the trace."""
        beats = beats_of(self.cfg, self.workload)
        units = [beat for beat in beats if takes_unit(beat)]
        require(not self.units and not self.cta, "everything drains")
        require(sorted(self.launched) == warps_of(self.cfg, self.workload.trace), "the domain runs its warps")
        require(self.reads + self.hits == sum(len(b.sources) for b in units), "every executed source is read once")
        require(self.writes == sum(b.dest_count for b in units), "every result is written once")
        expected = {
            "beats": len(beats),
            "instructions": instructions_of(self.cfg, self.workload.trace),
            "bank_reads": self.reads,
            "bank_writes": self.writes,
            "dispatches": len(units),
        }
        require({name: counters[name] for name in expected} == expected, "the counters agree with the trace")
