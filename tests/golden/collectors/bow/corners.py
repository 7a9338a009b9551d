"""How often runs of operand windows meet the corner cases that are easy to get wrong.

Counted from the golden model's state and from the probes of the same cycle, so a lockstep run counts as well as a run
of the model alone: ``look`` before the model's step, ``note`` after it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from tests.golden.collectors.bow.picture import Picture
from tests.golden.machines import Bow
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.stimulus import Origin, Result, Stimulus
from warpfile.spec.trace import Kind, Port
from warpfile.spec.workload import Workload

_RESULTS = ("full", "partial")
_BANK = ("with grant", "without grant")

#: Names of all corner cases. What only hints can cause is in ``HINTED``.
HINTED = (
    "transient victim",
    "file result over owed entry",
    "partial load after discard",
    "empty write after discard",
    *(f"late load of class {number}" for number in range(3)),
)
CORNERS = (
    *HINTED,
    "late load of class 3",
    "reuse at window - 1",
    "reuse at window",
    "chain of reads",
    "equal sources",
    "source is destination",
    "three misses on one bank",
    "hit on fill",
    "owed source at window",
    "evicting source",
    *(f"{result} result on evicting {bank}" for result in _RESULTS for bank in _BANK),
    "result as its entry expires",
    "writer waits for ready reader",
    "result while all is pinned",
    "result takes clean entry",
    "partial result on entry",
    "partial result without entry",
    "read by other lanes",
    "loop inside window",
    "branch with expired dirty",
    "beat without sources pushes",
    "barrier with dirty",
    "exit with dirty",
    "half of wide result used",
    "misses fill all entries",
    "victim spares hit",
    "load ready before older memory access",
    "partial exit",
    "windows evict to one bank",
    "registers no multiple of banks",
    "refused",
    "second result of a window waits",
)


@dataclass
class BowCorners:
    """Counts corner cases of one run; ``counts`` has every name of ``CORNERS``."""

    cfg: BowConfig
    workload: Workload
    model: Bow
    counts: Counter[str] = field(default_factory=lambda: Counter(dict.fromkeys(CORNERS, 0)))

    def __post_init__(self) -> None:
        self._pictures = [Picture.of(window) for window in self.model.collectors.windows]
        self._heads: dict[int, Beat] = {}
        self._results: list[Result | None] = []
        self._used: dict[tuple[int, int], int] = {}
        self._hits: Counter[tuple[int, int]] = Counter()
        self._writer: dict[tuple[int, int], tuple[int, Beat]] = {}
        self._discarded: set[tuple[int, int]] = set()
        self._previous: dict[int, Beat] = {}
        self._count("registers no multiple of banks", self.workload.registers % self.cfg.banks != 0)

    def _count(self, name: str, happens: object) -> None:
        self.counts[name] += bool(happens)

    def look(self, stimulus: Stimulus) -> None:
        """The beginning of a cycle: only windows that changed in the last one are looked at again."""
        status = self.model.collectors.status
        for warp in indices(status.slots_changed | status.entries_changed | status.requests_changed):
            self._pictures[warp] = Picture.of(self.model.collectors.windows[warp])
        buffers = self.model.frame.buffers
        self._heads = {warp: buffers[warp][0].beat for warp in indices(self.model.frame.buffered)}
        self._results = list(stimulus.results)

    def note(self, f: dict[str, int]) -> None:
        """The probes of the cycle."""
        for port, result in enumerate(self._results):
            if result is not None and result.writes:
                if f["accepted"] >> port & 1:
                    self._note_result(port, result, f)
                else:
                    other = any(self._same_window(result, higher) for higher in self._results[port + 1 :])
                    self._count("second result of a window waits", other)
        for warp in indices(f["stall_evict"] | f["stall_entry"] | f["blocked"] | f["waiting"]):
            self._note_stall(warp, f)
        for picture in self._pictures:
            if len(picture.slots) > 1:
                self._note_order(picture)
        if f["evict"]:
            self._note_evictions(f)
        self._count("refused", f["refused"])
        self._count("transient victim", f["victim_transient"])
        if f["issue"]:
            self._note_entry(f["issue_warp"], self._heads[f["issue_warp"]], f)

    def _same_window(self, result: Result, other: Result | None) -> bool:
        return other is not None and other.writes and other.warp == result.warp

    def _note_result(self, port: int, result: Result, f: dict[str, int]) -> None:
        warp, register, picture = result.warp, result.register, self._pictures[result.warp]
        entry, late = picture.where.get(register, -1), f["late"] >> port & 1
        kind = _RESULTS[0 if result.full else 1]
        if entry >= 0 and picture.evicting >> entry & 1:
            taken = f["evicted"] >> warp & 1 and picture.presented == register
            self._count(f"{kind} result on evicting {_BANK[0 if taken else 1]}", True)
        if late and result.origin != Origin.EXECUTION:
            self._count(f"late load of class {f[f'class{port}']}", True)
        if not result.full:
            self._count(f"partial result {'on entry' if entry >= 0 else 'without entry'}", True)
            load = result.origin != Origin.EXECUTION
            self._count("partial load after discard", load and (warp, register) in self._discarded)
        stored, window = f["store"] >> port & 1, f[f"class{port}"] >> 1
        if result.full and window and not late and entry < 0 and not picture.free:
            everything = (1 << self.cfg.window_entries) - 1
            self._count("result while all is pinned", not stored and picture.pinned == everything)
            self._count("result takes clean entry", stored)
        owed = entry >= 0 and picture.owed >> entry & 1
        self._count("file result over owed entry", owed and f[f"class{port}"] == 1 and result.full)
        number = self._writer.get((warp, register), (-1, None))[0]
        expires = f["issue"] and f["issue_warp"] == warp and picture.next - number == self.cfg.window
        self._count("result as its entry expires", expires and entry >= 0 and stored)
        if stored:
            self._discarded.discard((warp, register))

    def _note_stall(self, warp: int, f: dict[str, int]) -> None:
        picture, head = self._pictures[warp], self._heads.get(warp)
        if f["waiting"] >> warp & 1:
            self._count("barrier with dirty", picture.dirty)
        if head is None:
            return
        entries = [picture.where[register] for register in head.sources if register in picture.where]
        if f["stall_evict"] >> warp & 1:
            self._count("owed source at window", any((picture.owed & picture.stale) >> e & 1 for e in entries))
            self._count("evicting source", any(picture.evicting >> e & 1 for e in entries))
        if f["blocked"] >> warp & 1:
            dests = set(range(head.dest, head.dest + head.dest_count))
            ready = [beat for beat, missing in picture.slots if not missing and dests & set(beat.sources)]
            self._count("writer waits for ready reader", ready)
        count = self.cfg.window_entries
        for victim in indices(f["victim"] >> warp * count & ((1 << count) - 1)):
            hits = [e for e in entries if not (picture.stale | picture.evicting) >> e & 1]
            spared = [e for e in hits if picture.ranks[e] < picture.ranks[victim] and not picture.pinned >> e & 1]
            self._count("victim spares hit", spared)

    def _note_order(self, picture: Picture) -> None:
        memory = [missing for beat, missing in picture.slots if beat.port == Port.LSU]
        self._count("load ready before older memory access", len(memory) > 1 and memory[0] and not memory[-1])

    def _note_evictions(self, f: dict[str, int]) -> None:
        asked = Counter(self._bank(warp, self._pictures[warp].presented) for warp in indices(f["evict"]))
        self._count("windows evict to one bank", max(asked.values()) >= min(3, self.cfg.warps))

    def _bank(self, warp: int, register: int) -> int:
        return self.model.file.location.place(warp, register)[0]

    def _note_entry(self, warp: int, beat: Beat, f: dict[str, int]) -> None:
        picture, previous = self._pictures[warp], self._previous.get(warp)
        if beat.kind == Kind.EXIT:
            self._count("exit with dirty", picture.dirty)
            self._forget(warp)
            return
        sources = beat.sources if beat.mask else ()
        for slot, register in enumerate(sources):
            self._note_source(warp, register, bool(f["hit"] >> slot & 1), beat)
        static = self.workload.trace.program[int(self.workload.trace.instruction[beat.record])]
        dests = range(beat.dest, beat.dest + beat.dest_count)
        misses = [register for slot, register in enumerate(sources) if f["miss"] >> slot & 1]
        banks = Counter(self._bank(warp, register) for register in misses)
        self._count("three misses on one bank", max(banks.values(), default=0) >= 3)
        self._count("misses fill all entries", len(misses) == self.cfg.window_entries)
        self._count("equal sources", beat.mask and len(set(static.sources)) < len(static.sources))
        self._count("source is destination", beat.mask and set(sources) & set(dests))
        self._count("beat without sources pushes", not sources and picture.stale)
        self._count("partial exit", beat.mask and static.opcode.startswith("EXIT") and picture.where)
        self._count("empty write after discard", not beat.mask and any((warp, r) in self._discarded for r in dests))
        if previous is not None and previous.kind == Kind.BRANCH:
            self._count("loop inside window", beat.offset < previous.offset and picture.where)
            self._count("branch with expired dirty", picture.stale & picture.dirty)
        names = {entry: register for register, entry in picture.where.items()}
        count = self.cfg.window_entries
        for entry in indices(f["discard"] >> warp * count & ((1 << count) - 1)):
            if entry in names:
                self._discarded.add((warp, names[entry]))
        self._previous[warp] = beat
        for register in dests if beat.mask else ():
            self._used[warp, register], self._hits[warp, register] = picture.next, 0
            self._writer[warp, register] = picture.next, beat

    def _note_source(self, warp: int, register: int, hit: bool, beat: Beat) -> None:
        picture, key, window = self._pictures[warp], (warp, register), self.cfg.window
        age = picture.next - self._used.get(key, -2 * window)
        self._count("reuse at window - 1" if hit else "reuse at window", age == window - (1 if hit else 0))
        self._hits[key] = self._hits[key] + 1 if hit else 0
        self._count("chain of reads", self._hits[key] == 3)
        self._count("hit on fill", hit and picture.fill >> picture.where[register] & 1)
        number, writer = self._writer.get(key, (0, None))
        if hit and writer is not None:
            self._count("read by other lanes", not writer.mask & beat.mask and picture.next - number < window)
            others = {register ^ 1, register ^ 2} & set(range(writer.dest, writer.dest + writer.dest_count))
            self._count("half of wide result used", any(self._leaves(picture, other) for other in others))
        self._used[key] = picture.next
        self._discarded.discard(key)

    def _leaves(self, picture: Picture, register: int) -> bool:
        return register in picture.where and bool(picture.stale >> picture.where[register] & 1)

    def _forget(self, warp: int) -> None:
        self._previous.pop(warp, None)
        for table in (self._used, self._hits, self._writer):
            for key in [key for key in table if key[0] == warp]:
                del table[key]
        self._discarded = {key for key in self._discarded if key[0] != warp}
