"""Judges levels lane by lane: does every operand find the latest value of its register where its hint says?

The judge empties all entries before every beginning and behind every barrier, where a warp may lose its place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

from warpfile.compiler.passes.long_latency import is_long
from warpfile.compiler.passes.shrf.allocation import Levels
from warpfile.compiler.passes.shrf.values import Flow
from warpfile.spec.beat import distinct_sources, source_groups
from warpfile.spec.schemes.shrf import ShrfConfig
from warpfile.spec.trace import Kind, Port, StaticInstruction, Trace

ALL = (1 << 32) - 1
Row = tuple[int, int, int, int]  #: instruction, active, execution and live mask


@dataclass
class Hinted:
    """What the hints of an instruction say: by source slot of the instruction, entries; of the result, the entry and
    whether the main file does without it.
    """

    begins: bool = False
    reads: Mapping[int, int] = field(default_factory=dict)
    brings: Mapping[int, int] = field(default_factory=dict)
    result: tuple[int, bool] | None = None


def of_levels(flow: Flow, levels: Levels, index: int) -> Hinted:
    """Hints of an instruction of a listing."""
    return Hinted(
        index in flow.begins,
        levels.reads.get(index, {}),
        levels.brings.get(index, {}),
        levels.results.get(index),
    )


def of_words(cfg: ShrfConfig, static: StaticInstruction, words: list[int]) -> Hinted:
    """Hints of an instruction from the words of its beats."""
    reads, brings, slot = dict[int, int](), dict[int, int](), 0
    for group, word in zip(source_groups(static, cfg.source_slots), words, strict=True):
        entries, bring = cfg.sources_of(word)
        for own in range(len(group)):
            if entries[own] >= 0:
                (brings if bring >> own & 1 else reads)[slot] = entries[own]
            slot += 1
    entry = cfg.result_of(words[-1])
    result = (entry, bool(words[-1] >> cfg.hint_at("mrf_skipped") & 1)) if entry >= 0 else None
    return Hinted(bool(words[0] >> cfg.hint_at("suspend") & 1), reads, brings, result)


class Judge:
    """``misses`` counts operands that some lane does not find, ``near`` those read from an entry, ``partial`` those of
    entries that different writes filled, ``skipped`` results that only an entry has. ``late``: a lane touches what a
    load (``is_load``) of its own strand brings. ``foreign``: a beat of neither ALU nor FMA names the last-result file.
    """

    def __init__(self, is_load: Callable[[StaticInstruction], bool] = is_long) -> None:
        self._is_load = is_load
        self.late = self.loads = self.foreign = 0
        self.misses = self.near = self.brought = self.skipped = self.partial = 0

    def warp(self, rows: Iterable[tuple[StaticInstruction, int, Hinted]]) -> None:
        """Judge the instructions of one warp with their execution masks."""
        self._held: dict[int, dict[int, int]] = {}  # by entry, by register: lanes with the latest value
        self._stale: dict[int, int] = {}  # by register, lanes in which the main file is out of date
        self._loading: dict[int, int] = {}  # by register, lanes that loaded it in this strand
        for static, execution, hinted in rows:
            if hinted.begins:
                self._held.clear()
                self._loading.clear()
            if execution:
                self._wait(static, execution)
                self._read(static, execution, hinted)
                self._write(static, execution, hinted)
            if static.kind is Kind.BARRIER:
                self._held.clear()

    def _wait(self, static: StaticInstruction, execution: int) -> None:
        touched = {*static.sources, *static.dests}
        self.late += any(self._loading.get(register, 0) & execution for register in touched)
        if self._is_load(static):
            self.loads += 1
            for register in static.dests:
                self._loading[register] = self._loading.get(register, 0) | execution

    def _read(self, static: StaticInstruction, execution: int, hinted: Hinted) -> None:
        for slot, register in enumerate(distinct_sources(static.sources)):
            if slot in hinted.reads:
                held = self._held.get(hinted.reads[slot], {}).get(register, 0)
                self.near += 1
                self.partial += held != ALL
                self.misses += bool(execution & ~held)
            else:
                self.misses += bool(execution & self._stale.get(register, 0))
        for slot, entry in hinted.brings.items():
            self.brought += 1
            self._put(entry, distinct_sources(static.sources)[slot], execution)

    def _put(self, entry: int, register: int, lanes: int) -> None:
        held = self._held.setdefault(entry, {})
        for other in held:
            held[other] &= ~lanes
        held[register] = held.get(register, 0) | lanes

    def _write(self, static: StaticInstruction, execution: int, hinted: Hinted) -> None:
        for register in static.dests:
            for held in self._held.values():
                if register in held:
                    held[register] &= ~execution
            self._stale[register] = self._stale.get(register, 0) & ~execution
        if hinted.result is not None:
            entry, skipped = hinted.result
            assert static.dest_count == 1, static.text
            self._put(entry, static.dest, execution)
            if skipped:
                self.skipped += 1
                self._stale[static.dest] |= execution


def judged_trace(cfg: ShrfConfig, trace: Trace) -> Judge:
    """The judge behind all warps of a trace with hints."""
    judge, words = Judge(), iter(trace.hints.tolist())
    counts = [len(source_groups(static, cfg.source_slots)) for static in trace.program]
    cached: dict[tuple[int, tuple[int, ...]], Hinted] = {}
    for start, end in zip(trace.warp_start[:-1].tolist(), trace.warp_start[1:].tolist(), strict=True):
        rows = []
        for number, execution in zip(
            trace.instruction[start:end].tolist(), trace.execute[start:end].tolist(), strict=True
        ):
            static, own = trace.program[number], tuple(next(words) for _ in range(counts[number]))
            if (number, own) not in cached:
                cached[number, own] = of_words(cfg, static, list(own))
            hinted = cached[number, own]
            rows.append((static, execution, hinted))
            named = {*hinted.reads.values(), *([hinted.result[0]] if hinted.result else ())}
            judge.foreign += static.port not in (Port.ALU, Port.FMA) and max(named, default=-1) >= cfg.orf_entries
        judge.warp(rows)
    return judge
