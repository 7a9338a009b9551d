"""A second reading of scalar registers, from probes, results and the trace's values, and what must hold of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tests.golden.invariants import Watcher, require
from warpfile.golden.arbiter import indices
from warpfile.spec.stimulus import Result, Stimulus

IDLE, READS, WAITS, WRITES = range(4)


@dataclass
class ScalarWatcher(Watcher):
    """The frame's invariants over collector units. ``scalar``: registers with their warp; ``rows``: what each holds."""

    scalar: set[tuple[int, int]] = field(default_factory=set)
    rows: dict[tuple[int, int], int] = field(default_factory=dict)
    phase: int = IDLE
    expanding: tuple[int, int] = (0, 0)
    arrival: int = 0

    # -- values

    def alike(self, row: int, mask: int) -> bool:
        """Whether some built lane of the mask has a value, and all of them the same; a value not known is zero."""
        lanes = [lane for lane in range(self.cfg.lanes) if mask >> lane & 1]
        return len({int(self.workload.trace.values[row, lane]) if row >= 0 else 0 for lane in lanes}) == 1

    def is_scalar(self, result: Result) -> bool:
        """Whether a result with a register has one word in all live lanes."""
        return result.full and self.alike(result.row, result.mask)

    def is_held(self, result: Result) -> bool:
        """Whether it is of some lanes and meets a scalar register."""
        return not result.full and (result.warp, result.register) in self.scalar

    # -- banks: those of words are behind the others

    def _bank(self, warp: int, register: int) -> int:
        return self._home(warp, register) + self.cfg.banks * ((warp, register) in self.scalar)

    def _home(self, warp: int, register: int) -> int:
        return super()._bank(warp, register)

    def _result_bank(self, result: Result) -> int:
        return self._home(result.warp, result.register) + self.cfg.banks * self.is_scalar(result)

    # -- a cycle

    @staticmethod
    def _shown(stimulus: Stimulus) -> Iterator[tuple[int, Result]]:
        """Results with a register, the highest port first."""
        for port, result in reversed([*enumerate(stimulus.results)]):
            if result is not None and result.writes:
                yield port, result

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Check one cycle, then follow it."""
        require(f["expansion"] == self.phase, "the expansion goes from phase to phase")
        require(f["scalar_registers"] == len(self.scalar), "scalar are the registers that were last written as such")
        shown = [*self._shown(stimulus)]
        scalar = sum(1 << port for port, result in shown if self.is_scalar(result))
        held = sum(1 << port for port, result in shown if self.is_held(result))
        require(f["scalar_result"] == scalar, "scalar is a result with every live lane, and one word in them")
        require(f["needs_expansion"] == held, "some lanes of a scalar register wait for all lanes")
        super().check(stimulus, f)
        self._follow_results(shown, f)
        self._follow_expansion(shown, f)
        if stimulus.launch is not None:
            self.scalar = {one for one in self.scalar if one[0] != stimulus.launch.warp}
            self.rows = {one: row for one, row in self.rows.items() if one[0] != stimulus.launch.warp}

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self._check_expansion(f)
        written = self._check_accepted(stimulus, f)
        served = self._expected_grants(f, written)
        super()._check_banks(stimulus, f)
        banks = [self._bank(warp, register) for warp, register in self._sources(f["grant"])]
        require(sorted(served) == sorted(banks), "every bank that is free and asked serves a slot")
        mask = sum(1 << bank for bank in banks)
        require(f["scalar_read"] == mask >> self.cfg.banks, "words are read from scalar banks")
        require(f["vector_read"] == mask & (1 << self.cfg.banks) - 1, "other registers are read from the other banks")
        self._check_words(f)

    def _sources(self, slots: int) -> Iterator[tuple[int, int]]:
        """Warp and register of source slots in a mask."""
        for index in indices(slots):
            unit, slot = divmod(index, self.cfg.source_slots)
            warp, beat = self.units[unit]
            yield warp, beat.sources[slot]

    def _check_words(self, f: dict[str, int]) -> None:
        """The contract: one word is what every lane finds that reads."""
        for index in indices(f["grant"]):
            unit, slot = divmod(index, self.cfg.source_slots)
            warp, beat = self.units[unit]
            one = warp, beat.sources[slot]
            if one in self.scalar and beat.mask & (1 << self.cfg.lanes) - 1:
                require(self.alike(self.rows[one], beat.mask), "a scalar register has one word in all live lanes")

    def _check_expansion(self, f: dict[str, int]) -> None:
        """Its accesses come before all others of its bank."""
        reads, writes = self.phase == READS, self.phase == WRITES
        home = self._home(*self.expanding) if reads or writes else 0
        bank, kind = (home + self.cfg.banks, "read") if reads else (home, "write")
        granted = (reads or writes) and self._is_free(bank, kind, self.cfg.bank_cycles)
        require(f["expansion_read"] == (reads and granted), "an expansion reads as soon as its scalar bank is free")
        require(f["expansion_write"] == (writes and granted), "an expansion writes as soon as its bank is free")
        if granted:
            self._access(bank, kind)

    def _check_accepted(self, stimulus: Stimulus, f: dict[str, int]) -> set[int]:
        """Returns the banks that results are written to."""
        written: set[int] = set()
        accepted = {True: 0, False: 0}
        for port, result in self._shown(stimulus):
            bank = self._result_bank(result)
            if self.is_held(result) or bank in written or not self._is_free(bank, "write", self.cfg.bank_cycles):
                continue
            written.add(bank)
            accepted[self.is_scalar(result)] |= 1 << port
        require(f["scalar_write"] == accepted[True], "scalar results are written to scalar banks, by rank of the port")
        require(f["vector_write"] == accepted[False], "other results are written to the other banks, by the same rank")
        plain = sum(1 << port for port, one in enumerate(stimulus.results) if one is not None and not one.writes)
        require(f["write"] == accepted[True] | accepted[False] | plain, "what is stored or has no register is accepted")
        return written

    def _expected_grants(self, f: dict[str, int], written: set[int]) -> list[int]:
        """Banks that serve a slot; with ``collect`` = ``one`` as many as can be told without their arbiters."""
        asked: dict[int, int] = {}
        for index, one in zip(indices(f["request"]), self._sources(f["request"]), strict=True):
            asked[self._bank(*one)] = asked.get(self._bank(*one), 0) | 1 << index
        served, passed = [], 0
        for bank in sorted(asked):
            taken = self.cfg.bank_ports == "1RW" and bank in written
            if asked[bank] & ~passed and not taken and self._is_free(bank, "read", self.cfg.bank_cycles):
                served.append(bank)
                for index in indices(asked[bank] & f["grant"] if self.cfg.collect == "one" else 0):
                    unit = index // self.cfg.source_slots
                    passed |= ((1 << self.cfg.source_slots) - 1) << unit * self.cfg.source_slots
        return served

    # -- the clock edge

    def _follow_results(self, shown: list[tuple[int, Result]], f: dict[str, int]) -> None:
        for port, result in shown:
            if f["write"] >> port & 1:
                one = result.warp, result.register
                self.rows[one] = result.row
                if self.is_scalar(result):
                    self.scalar.add(one)
                elif result.full:
                    self.scalar.discard(one)

    def _follow_expansion(self, shown: list[tuple[int, Result]], f: dict[str, int]) -> None:
        waiting = [(result.warp, result.register) for _, result in shown if self.is_held(result)]
        if self.phase == IDLE and waiting:
            self.phase, self.expanding = READS, waiting[0]
        elif self.phase == READS and f["expansion_read"]:
            self.phase, self.arrival = WAITS, self.cycle - 1 + self.cfg.bank_cycles
        elif self.phase == WAITS and self.cycle - 1 == self.arrival:
            self.phase = WRITES
        elif self.phase == WRITES and f["expansion_write"]:
            self.phase = IDLE
            self.scalar.discard(self.expanding)

    def check_end(self, counters: dict[str, int]) -> None:
        """No expansion is under way, and every source and result was of one kind."""
        super().check_end(counters)
        require(self.phase == IDLE, "an expansion ends with the result that needs it")
        require(counters["scalar_reads"] + counters["vector_reads"] == counters["bank_reads"], "reads are of two kinds")
        require(
            counters["scalar_writes"] + counters["vector_writes"] == counters["bank_writes"], "writes are of two kinds"
        )
