"""A second reading of operand windows over packed rows, from probes, results and beats (docs/schemes/corf.md, 17)."""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.golden.collectors.bow.inside import Lanes
from tests.golden.collectors.bow.invariants import BowWatcher
from tests.golden.collectors.coalescing.slots import Entry
from tests.golden.invariants import require
from tests.golden.rf.packed.invariants import PackedWatcher
from tests.golden.rf.packed.reading import NOWHERE, Place, sized
from warpfile.golden.arbiter import indices
from warpfile.golden.copies import ALL_LANES
from warpfile.golden.rf.packed.evictions import Leaving
from warpfile.spec.schemes.bow import BowConfig
from warpfile.spec.stimulus import Result, Stimulus


@dataclass
class PackedLanes(Lanes):
    """What a packed file has of a register, or will have when an eviction is written."""

    def stored(self, key: tuple[int, int]) -> int:
        """See above."""
        stages = self.model.file.stages  # type: ignore[attr-defined]
        for one in (stages.reading[0], stages.deciding[0], stages.storing[0]):
            if one is not None and isinstance(one.result, Leaving) and (one.result.warp, one.result.register) == key:
                return one.result.copy
        mapped = stages._table.entry(*key)
        return stages.cells.read(mapped) if mapped.mask else stages.unmapped(*key)

    def check(self, cfg: BowConfig, key: tuple[int, int]) -> None:
        """What is on its way to its row is not there yet."""
        stages = self.model.file.stages  # type: ignore[attr-defined]
        moving = [one.result for one in (*stages.reading, *stages.deciding, *stages.storing) if one]
        names = [(result.warp, result.register) for result in moving]
        require(len(names) == len(set(names)), "two writes of one register are never behind X")
        if not any(name == key and isinstance(result, Result) for name, result in zip(names, moving, strict=True)):
            super().check(cfg, key)


@dataclass
class RowsWatcher(BowWatcher, PackedWatcher):
    """Says of every cycle what windows and file have to do in it.

    ``looked``: places of the first of the registers that a window wants. ``sizes`` of entries, by register. ``under``:
    whose eviction is in T, W0 and W1 when the cycle begins. ``evicting``: the eviction that is presented. ``to_store``:
    registers whose results have to be stored in this cycle.
    """

    looked: dict[int, list[Place]] = field(default_factory=dict)
    sizes: dict[Entry, int] = field(default_factory=dict)
    under: list[Entry | None] = field(default_factory=list)
    evicting: Result | None = None
    to_store: set[Entry] = field(default_factory=set)
    pointer: int = 0

    def __post_init__(self) -> None:
        BowWatcher.__post_init__(self)
        PackedWatcher.__post_init__(self)
        self.lanes = PackedLanes(self.model)

    def _check_banks(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        self._begin(f)
        self._check_under(f)
        self._present(f)
        taken = self._check_stores(f)
        if 0 in self.done and not self.done[0].writes:
            del self.done[0]
        self._check_turns(f, taken)
        moved = self._check_decisions(f)
        self._advance(moved)
        self.met.clear()
        self._check_results(stimulus, f)
        self.denied.clear()
        before = set(self.t)
        self._check_entrance(stimulus, f, None)
        is_taken = self.evicting is not None and 0 in set(self.t) - before and not self.t[0].result.writes
        self._check_evicted(f, is_taken)
        self._complete(stimulus, f)
        self._check_release(f, None)
        self._check_look_ups(f)
        self._check_waits(stimulus, f)
        self._follow_sizes(stimulus, f)
        self._end(f, moved)

    def _check_under(self, f: dict[str, int]) -> None:
        """What is under way when the cycle begins, and the sizes of entries."""
        stored = self.w1.get(0)
        found = [one and one.result for one in (self.t.get(0), self.w0.get(0))] + [stored[0] if stored else None]
        self.under = [(r.warp, r.register) if r is not None and not r.writes else None for r in found]
        if self.cfg.asks.evicts:
            shown = sum(1 << k for k, name in enumerate(self.under) if name is not None)
            require(f["underway"] == shown, "an eviction is under way from X to its bank")
        if self.windows.sizes_entries:
            word = 0
            for warp, states in self.states.items():
                for register, (state, entry) in states.items():
                    number = warp * self.windows.window_entries + entry
                    word |= (0 if state == "fill" else self.sizes[warp, register]) << 3 * number
            require(f["entry_size"] == word, "an entry has the size of what it holds")

    def _present(self, f: dict[str, int]) -> None:
        """One window after the other presents what has to leave first."""
        require(f["evict"] == sum(1 << w for w, r in self.first.items() if r >= 0), "who has to leave wants to")
        order = [(self.pointer + k) % self.cfg.warps for k in range(self.cfg.warps)]
        warp = next((one for one in order if f["evict"] >> one & 1), -1)
        self.evicting = Result(0, warp, False, self.first[warp], 0, ALL_LANES, -1) if warp >= 0 else None

    def _check_evicted(self, f: dict[str, int], is_taken: bool) -> None:
        taken = 0
        if is_taken and self.evicting is not None:
            taken = 1 << self.evicting.warp
            self.pointer = (self.evicting.warp + 1) % self.cfg.warps
        require(f["evicted"] == taken, "the window whose eviction leaves X is told")

    def _check_turns(self, f: dict[str, int], taken: set[int]) -> None:
        """A window has one turn: at its bank, or without any."""
        turns = {warp: places[0] for warp, places in self.looked.items() if places}
        asking = {warp: place[0] for warp, place in turns.items() if place[2]}
        require(f["request"] == sum(1 << warp for warp in asking), "a window asks for its first miss that is located")
        require(f["zero"] == sum(1 << warp for warp in turns if warp not in asking), "what is nowhere is 0")
        for bank in set(asking.values()):
            served = [w for w, b in asking.items() if b == bank and f["grant"] >> w & 1]
            require(len(served) == (bank not in taken), "a bank without a write serves one window")
        for warp in indices(f["grant"] | f["zero"]):
            register, place = self.wanted[warp].pop(0), self.looked[warp].pop(0)
            self.filled[warp, register] = self.cycle + 1
            self.sizes[warp, register] = max(1, sized(place[2]))
            self.reads += f["grant"] >> warp & 1
            self.hits += f["zero"] >> warp & 1

    def _check_look_ups(self, f: dict[str, int]) -> None:
        served = waits = 0
        for warp in sorted(self.wanted):
            places = self.looked.setdefault(warp, [])
            if len(places) == len(self.wanted[warp]):
                continue
            name = warp, self.wanted[warp][len(places)]
            if name not in self.under[:2] and self.port(name):
                places.append(self.where.get(name, NOWHERE))
                served |= 1 << warp
            else:
                waits |= 1 << warp
        require((f["look_up"], f["look_up_wait"]) == (served, waits), "a window looks one register up at a time")

    def _check_waits(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        if not self.cfg.asks.evicts:
            return
        word = 0
        for port, result in enumerate(stimulus.results):
            word |= (result is not None and self._is_stored(port, result) and self._is_under(result)) << port
        for warp in indices(f["look_up_wait"]):
            name = warp, self.wanted[warp][len(self.looked[warp])]
            word |= (name in self.under[:2]) << self.cfg.write_ports + warp
        waits = self.evicting is not None and self._is_under(self.evicting)
        word |= waits << self.cfg.write_ports + self.cfg.warps
        require(f["underway_wait"] == word, "who wants a register waits for its eviction")

    def _is_under(self, result: Result) -> bool:
        return (result.warp, result.register) in self.under

    def _is_stored(self, port: int, result: Result) -> bool:
        return result.writes and self.fates.get(port, ("", False))[1]

    def _is_taken(self, port: int, result: Result) -> bool:
        return not result.writes or port in self.fates

    def _is_held_up(self, result: Result) -> bool:
        if self._is_under(result):
            return True
        return not result.writes and (result.warp, result.register) in self.to_store

    def _arriving(self, stimulus: Stimulus) -> tuple[int, list[tuple[int, Result, int]]]:
        accepted, found = super()._arriving(stimulus)
        self.to_store = {(result.warp, result.register) for _, result, _ in found}
        if self.evicting is not None and all(port for port, _, _ in found):
            size = self.sizes[self.evicting.warp, self.evicting.register] if self.packed.packing else 4
            found.append((0, self.evicting, size))
        return accepted, found

    def _rests(self, warp: int) -> bool:
        return any(name is not None and name[0] == warp for name in self.under)

    def _access(self, bank: int, kind: str) -> None:
        """Banks are followed behind X."""

    def _accept(self, result: Result) -> None:
        """It is pending until ``_complete`` says otherwise."""

    def _complete(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        super()._complete(stimulus, f)
        for port in indices(f["write"]):
            result = stimulus.results[port]
            if result is not None and result.writes and not self._is_stored(port, result):
                self.late[port].append((self.cycle + 2, result))

    def _follow_sizes(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        for port in indices(f["write"]):
            result = stimulus.results[port]
            if result is None or not result.writes:
                continue
            name, effect = (result.warp, result.register), self.fates[port][0]
            if effect == "store":
                self.sizes[name] = self.size(result)
            elif effect == "merge":
                self.sizes[name] = max(self.sizes[name], self.size(result))

    def _follow_issue(self, f: dict[str, int]) -> None:
        super()._follow_issue(f)
        if f["exit"]:
            self.swept.add(f["issue_warp"])
            self.looked.pop(f["issue_warp"], None)

    def check_end(self, counters: dict[str, int]) -> None:
        """Nothing is left of any warp, and the sums agree with the trace."""
        BowWatcher.check_end(self, counters)
        self._check_nothing_left()
        require(counters["unmapped_reads"] == self.hits, "a register that is nowhere is read from no bank")
