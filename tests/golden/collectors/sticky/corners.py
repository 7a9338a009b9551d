"""Corner cases of slots that keep operands and wait for results: how often a run meets each of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from tests.golden.collectors.sticky.invariants import Register, Slot, StickyWatcher
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.stimulus import Result, Stimulus


@dataclass(frozen=True)
class Cycle:
    """A cycle and what the watcher knew at its beginning. ``beat`` issues, of ``warp``; ``unit`` takes it, or is -1."""

    f: dict[str, int]
    first: Result | None
    tags: dict[Slot, Register]
    waits: dict[Slot, Register]
    coming: set[Register]
    order: list[int]
    warps: dict[int, int]
    heads: dict[int, Beat]
    near_slots: int
    unit: int
    warp: int
    beat: Beat | None

    @property
    def shown(self) -> Register | None:
        """Register of the result that is shown on write-back port 0."""
        return (self.first.warp, self.first.register) if self.first is not None and self.first.writes else None

    @property
    def written(self) -> set[Register]:
        """What the issuing beat writes."""
        if self.beat is None or not self.beat.mask:
            return set()
        return {(self.warp, self.beat.dest + number) for number in range(self.beat.dest_count)}

    @property
    def hits(self) -> set[Register]:
        """Registers of the sources that hit."""
        assert self.beat is not None or not self.f["hit"]
        return {(self.warp, self.beat.sources[slot]) for slot in indices(self.f["hit"])} if self.beat else set()


def _accepted(c: Cycle) -> bool:
    return bool(c.f["write"] & 1)


def _beside(c: Cycle) -> bool:
    return any(c.warps.get(unit, warp) != warp for (unit, _), (warp, _) in c.tags.items())


def _far(c: Cycle) -> bool:
    return any(
        not c.f["clear"] >> warp & 1
        and any((warp, one) in c.coming for one in beat.sources[c.near_slots :])
        and not any((warp, one) in c.coming for one in beat.sources[: c.near_slots])
        for warp, beat in c.heads.items()
    )


def _reads_what_it_writes(c: Cycle) -> bool:
    return any(
        beat.dest <= one < beat.dest + beat.dest_count and (warp, one) in c.coming
        for warp, beat in c.heads.items()
        for one in beat.sources
    )


CORNERS: dict[str, Callable[[Cycle], bool]] = {
    "two slots take one result": lambda c: c.f["forward"].bit_count() > 1,
    "a result that is awaited is held": lambda c: bool(c.f["write_wait"] & 1) and c.shown in c.waits.values(),
    "nobody awaits a result that is coming": lambda c: _accepted(c) and c.shown in c.coming and not c.f["forward"],
    "a result is late for one source and another one awaits": lambda c: bool(c.f["late"] and c.f["expects"]),
    "a beat has a late source": lambda c: bool(c.f["late"]),
    "a beat hits and awaits": lambda c: bool(c.f["hit"] and c.f["expects"]),
    "all sources of a beat hit": lambda c: bool(c.f["taken"]) and c.f["hit"] == c.f["taken"],
    "all sources of a beat are awaited": lambda c: bool(c.f["taken"]) and c.f["expects"] == c.f["taken"],
    "a unit hits in the cycle in which it dispatches": lambda c: bool(c.f["hit"] and c.f["occupied"] >> c.unit & 1),
    "a unit fits that was not allocated longest ago": lambda c: bool(c.f["hit"]) and c.order.index(c.unit) > 0,
    "no unit fits": lambda c: bool(c.f["taken"] and not c.f["hit"] and c.tags),
    "a slot keeps a register of another warp than its unit's": _beside,
    "two slots keep one register": lambda c: len(set(c.tags.values())) < len(c.tags),
    "a write ends two slots": lambda c: c.f["overwritten"].bit_count() > 1,
    "a beat writes what it hits": lambda c: bool(c.hits & c.written),
    "a write of some lanes ends a slot": lambda c: bool(c.f["overwritten"]) and c.beat is not None and not c.beat.full,
    "both registers of a wide result are awaited": lambda c: any(
        (warp, register ^ 1) in c.waits.values() and register & 1 for warp, register in c.waits.values()
    ),
    "a source of a far slot is coming": _far,
    "a head beat reads and writes what is coming": _reads_what_it_writes,
    "a warp exits that has something kept": lambda c: bool(c.f["exit"]) and c.warp in {w for w, _ in c.tags.values()},
    "two ports mark in one cycle": lambda c: c.f["marks"].bit_count() > 1,
    "a result of some lanes is not coming": lambda c: (
        _accepted(c) and c.first is not None and c.first.writes and not c.first.full
    ),
}


@dataclass
class CountingWatcher(StickyWatcher):
    """Counts the corner cases of a run that it watches. Both fields of the machine must be on."""

    met: Counter[str] = field(default_factory=Counter)

    def check(self, stimulus: Stimulus, f: dict[str, int]) -> None:
        """Count, then check and follow."""
        cycle = self._cycle(stimulus, f)
        for name, holds in CORNERS.items():
            self.met[name] += holds(cycle)
        super().check(stimulus, f)

    def _cycle(self, stimulus: Stimulus, f: dict[str, int]) -> Cycle:
        warp = f["issue_warp"] if f["issue"] else -1
        return Cycle(
            f=f,
            first=stimulus.results[0],
            tags=dict(self.tags),
            waits=dict(self.waits),
            coming=set(self.coming),
            order=self.order.copy() or [*range(self.cfg.collectors)],
            warps={unit: owner for unit, (owner, _) in self.units.items()},
            heads={number: buffer[0] for number, buffer in self.buffers.items() if buffer},
            near_slots=self.sticky.near_slots,
            unit=f["allocate"].bit_length() - 1,
            warp=warp,
            beat=self.buffers[warp][0] if warp >= 0 else None,
        )
