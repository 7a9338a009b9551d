"""Whose access a probe of the collectors shows (docs/profile.md, section 4): which beat is in which unit."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.trace import Kind

EXIT = int(Kind.EXIT)
NOBODY = -1  #: stands for a beat where there is none
Count = Callable[[str, int, int], None]  #: column, beat, how many


@dataclass(slots=True)
class Cycle:
    """What else happens in a cycle: the issuing beat and its warp, the beats that each port takes, and the next beat
    of every warp slot before this issue; ``NOBODY`` where there is none."""

    issued: int
    warp: int
    dispatched: Sequence[int]
    heads: Sequence[int]


class Operands(Protocol):
    """Charges what collectors count to beats."""

    @property
    def columns(self) -> tuple[str, ...]:
        """What it counts."""
        ...

    @property
    def probes(self) -> tuple[str, ...]:
        """What it has to be told."""
        ...

    def note(self, fields: Mapping[str, int], cycle: Cycle) -> None:
        """One cycle. Probes show it as it was before what issues in it."""


def bits(word: int) -> list[int]:
    """Places of the bits that are set, ascending."""
    found = []
    while word:
        low = word & -word
        found.append(low.bit_length() - 1)
        word ^= low
    return found


#: Of units: column, probe of units or of their slots, and what is taken off it.
_UNITS = (
    ("bank_reads", "grant", ""),
    ("bank_conflicts", "request", "grant"),
    ("fast_reads", "fast_grant", ""),
    ("slow_reads", "grant", "fast_grant"),
    ("unit_cycles", "occupied", ""),
    ("unit_cycles", "busy", ""),
    ("operand_waits", "lacking", ""),
    ("interlocks", "interlock", ""),
    ("coalesced", "joined", ""),
    ("unmapped_reads", "zero", ""),
    ("look_ups", "look_up", ""),
    ("look_up_waits", "look_up_wait", ""),
)


#: Of units whose slots may have their operands or wait for them: column, and probe of the beat that takes a unit.
_TAKEN = (("sources", "taken"), ("source_hits", "hit"), ("source_awaits", "expects"))


class UnitOperands:
    """Of units that hold a beat each from its issue on: ``units``, ``coalescing``, ``malekeh``, ``sticky``."""

    def __init__(self, cfg: Config, layout: ProbeLayout, beats: Sequence[Beat], count: Count) -> None:
        widths = {probe.name: probe.width for probe in layout}
        self._count, self._beats = count, [NOBODY] * cfg.asks.units
        self._sums = [
            (column, probe, minus, widths[probe] // cfg.asks.units)
            for column, probe, minus in _UNITS
            if probe in widths and (not minus or minus in widths)
        ]
        self._looks = "check" in widths and cfg.gives.near_bits > 0
        self._keeps = {"hit", "miss"} <= widths.keys() and "check" not in widths
        self._taken = [(column, probe) for column, probe in _TAKEN if "taken" in widths and probe in widths]
        self._levels = [probe for probe in ("orf_read", "lrf_read") if probe in widths]
        near = ("cache_hits", "cache_misses") if self._looks else ("sources", "source_hits") if self._keeps else ()
        levels = (f"{probe}s" for probe in self._levels)
        taken = (column for column, _ in self._taken)
        self.columns = (*dict.fromkeys(column for column, *_ in self._sums), *near, *levels, *taken)
        read = (name for _, *names, _ in self._sums for name in names)
        own = ("check", "hit", "miss") if self._looks else ("hit", "miss") if self._keeps else ()
        levels_of = ("near_read", *self._levels) if self._levels else ()
        own += tuple(probe for _, probe in self._taken)
        self.probes = tuple(dict.fromkeys(name for name in ("allocate", *read, *own, *levels_of) if name))

    def note(self, fields: Mapping[str, int], cycle: Cycle) -> None:
        """See :class:`Operands`. A unit that is free in the cycle of its dispatch still shows the beat that leaves."""
        for column, probe, minus, slots in self._sums:
            word = fields[probe]
            for bit in bits(word & ~fields[minus] if minus and word else word):
                self._count(column, self._beats[bit // slots], 1)
        if self._looks and fields["check"]:
            beat = self._beats[fields["check"].bit_length() - 1]
            self._count("cache_hits", beat, fields["hit"].bit_count())
            self._count("cache_misses", beat, fields["miss"].bit_count())
        if self._levels and fields["near_read"]:
            beat = self._beats[fields["near_read"].bit_length() - 1]
            for probe in self._levels:
                self._count(f"{probe}s", beat, fields[probe].bit_count())
        if self._keeps and cycle.issued != NOBODY:
            self._count("sources", cycle.issued, (fields["hit"] | fields["miss"]).bit_count())
            self._count("source_hits", cycle.issued, fields["hit"].bit_count())
        if cycle.issued != NOBODY:
            for column, probe in self._taken:
                self._count(column, cycle.issued, fields[probe].bit_count())
        if fields["allocate"]:
            self._beats[fields["allocate"].bit_length() - 1] = cycle.issued


class WindowOperands:
    """Of ``bow``: a window per warp slot, in which beat n has slot n mod ``window``."""

    def __init__(self, cfg: Config, layout: ProbeLayout, beats: Sequence[Beat], count: Count) -> None:
        self._count, self._all = count, beats
        self._slots = cfg.window  # type: ignore[attr-defined]  # of a BowConfig
        self._entered = [0] * cfg.warps
        self._beats = [NOBODY] * (cfg.warps * self._slots)
        self._missed: list[deque[int]] = [deque() for _ in range(cfg.warps)]  # a beat per source that asks, in order
        self._zero = ("zero",) if "zero" in layout.offset else ()
        self._heads = ("stall_slot", "stall_evict", "stall_entry")
        own = ("unmapped_reads",) if self._zero else ()
        common = ("bank_reads", "bank_conflicts", "unit_cycles", "operand_waits", "bypassed_reads")
        self.columns = (*common, *own, *self._heads)
        self.probes = ("request", "grant", "undispatched", "lacking", "hit", "miss", *self._zero, *self._heads)

    def note(self, fields: Mapping[str, int], cycle: Cycle) -> None:
        """See :class:`Operands`."""
        for column, probe in (("unit_cycles", "undispatched"), ("operand_waits", "lacking")):
            for bit in bits(fields[probe]):
                self._count(column, self._beats[bit], 1)
        for name in self._heads:
            for warp in bits(fields[name]):
                self._count(name, cycle.heads[warp], 1)
        self._serve(fields)
        if cycle.issued != NOBODY:
            self._enter(fields, cycle)

    def _serve(self, fields: Mapping[str, int]) -> None:
        for warp in bits(fields["request"] & ~fields["grant"]):
            self._count("bank_conflicts", self._missed[warp][0], 1)
        for warp in bits(fields["grant"]):
            self._count("bank_reads", self._missed[warp].popleft(), 1)
        for warp in bits(fields["zero"]) if self._zero else ():
            self._count("unmapped_reads", self._missed[warp].popleft(), 1)

    def _enter(self, fields: Mapping[str, int], cycle: Cycle) -> None:
        warp, beat = cycle.warp, cycle.issued
        self._count("bypassed_reads", beat, fields["hit"].bit_count())
        self._missed[warp].extend([beat] * fields["miss"].bit_count())
        self._beats[warp * self._slots + self._entered[warp] % self._slots] = beat
        self._entered[warp] += 1
        if self._all[beat].kind == EXIT:
            self._entered[warp] = 0


#: Of ``modern``: column, and probe of positions of the beat in Allocate.
_ALLOCATED = (("fixed_sources", "sources"), ("rfc_hits", "hit"))
_WINDOW_HEADS = {"unit_waits": "unit_wait", "queue_waits": "queue_wait"}


class StageOperands:
    """Of ``modern``: Control, Allocate, and a queue per port of variable latency."""

    def __init__(self, cfg: Config, layout: ProbeLayout, beats: Sequence[Beat], count: Count) -> None:
        self._count, self._all, self._port_of = count, beats, cfg.port_of
        self._control = self._allocate = NOBODY
        self._queues = {port: deque[int]() for port in range(1, cfg.ports)}
        self._ports = cfg.queue_ports  # type: ignore[attr-defined]  # of a ReadWindowConfig
        own = ("fixed_reads", "variable_reads", "duplicates", "forwards", "freezes")
        self.columns = ("bank_reads", "bank_conflicts", *(column for column, _ in _ALLOCATED), *own, *_WINDOW_HEADS)
        self.probes = ("freeze", "need", "sources", "hit", "forward", "fetch", "fetch_wait", *_WINDOW_HEADS.values())

    def note(self, fields: Mapping[str, int], cycle: Cycle) -> None:
        """See :class:`Operands`."""
        for column, probe in _WINDOW_HEADS.items():
            for warp in bits(fields[probe]):
                self._count(column, cycle.heads[warp], 1)
        self._fetch(fields)
        self._count("forwards", cycle.dispatched[0], fields["forward"].bit_count())
        for port, queue in self._queues.items():
            if cycle.dispatched[port] != NOBODY:
                queue.popleft()
        if fields["freeze"]:
            self._count("freezes", self._allocate, 1)
        else:
            self._plan(fields)
            self._advance(cycle.issued)

    def _fetch(self, fields: Mapping[str, int]) -> None:
        for bit in bits(fields["fetch"]):
            beat = self._queues[self._ports[bit // 2]][0]
            self._count("variable_reads", beat, 1)
            self._count("bank_reads", beat, 1)
        for bit in bits(fields["fetch_wait"]):
            self._count("bank_conflicts", self._queues[self._ports[bit // 2]][0], 1)

    def _plan(self, fields: Mapping[str, int]) -> None:
        """The beat in Allocate leaves it; what it needs is two bits per bank."""
        need, sources, hits = fields["need"], fields["sources"].bit_count(), fields["hit"].bit_count()
        reads = (need & 3) + (need >> 2)
        for column, count in (
            ("fixed_reads", reads),
            ("bank_reads", reads),
            ("fixed_sources", sources),
            ("rfc_hits", hits),
            ("duplicates", sources - hits - reads),
        ):
            self._count(column, self._allocate, count)

    def _advance(self, issued: int) -> None:
        """A tick: Control is emptied, and takes what issues unless that goes beside."""
        leaving, self._allocate = self._control, NOBODY
        if leaving != NOBODY:
            port = self._port_of[self._all[leaving].port]
            if port:
                self._queues[port].append(leaving)
            else:
                self._allocate = leaving
        self._control = issued if issued != NOBODY and self._all[issued].needs_unit else NOBODY


class NoOperands:
    """Of collectors of another package."""

    columns: tuple[str, ...] = ()
    probes: tuple[str, ...] = ()

    def note(self, fields: Mapping[str, int], cycle: Cycle) -> None:
        """See :class:`Operands`."""


def operands_of(collectors: str, cfg: Config, layout: ProbeLayout, beats: Sequence[Beat], count: Count) -> Operands:
    """For collectors by their name; those of other packages are taken for units if their probes are."""
    if collectors == "bow":
        return WindowOperands(cfg, layout, beats, count)
    if collectors == "read_window":
        return StageOperands(cfg, layout, beats, count)
    if {"allocate", "request", "grant"} <= layout.offset.keys():
        return UnitOperands(cfg, layout, beats, count)
    return NoOperands()
