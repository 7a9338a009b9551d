"""Probes and counters of the cache and its transfers (docs/schemes/ltrf.md, section 9)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.events import Events
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.ltrf import PARTS, LtrfConfig

COUNTERS = (
    "bank_writes",
    "prefetches",
    "refetches",
    "prefetch_fills",
    "refetch_fills",
    "dead_fills",
    "kept_registers",
    "prefetch_backs",
    "unsaved_steps",
    "release_backs",
    "unsaved_releases",
    "moving_cycles",
    "empty_cycles",
    "main_reads",
    "main_writes",
    "parked_results",
    "cache_reads",
    "cache_writes",
    "set_reads",
    "set_writes",
    "transfer_waits",
    "crossbar_beats_used",
    "look_ups",
    "error_cycles",
)
FIRST: Final = "place_state"  #: of the file's probes
EVENTS: Final = (
    *("error", "start", "enter", "working_set", "live_set", "save", "step_out", "step_in", "step_moves"),
    *("fill_pick", "fill_grant", "back_pick", "back_grant", "unfit", "main_write", "main_beat", "look_up_banks"),
    *("channel_read", "channel_write", "cache_write", "parked", "released_place"),
)


class Counts:
    """Sums since the start that are not those of one probe's bits, by the names of ``COUNTERS``."""

    def __init__(self) -> None:
        self.bank_writes = self.refetches = self.kept_registers = self.moving_cycles = self.empty_cycles = 0
        self.prefetch_fills = self.refetch_fills = self.dead_fills = 0
        self.prefetch_backs = self.unsaved_steps = self.release_backs = self.unsaved_releases = 0
        self.cache_reads = self.set_reads = self.set_writes = self.look_ups = 0


class Probes:
    """Events of a cycle, an attribute for each probe, and the file's counters.

    ``first``: lowest bit of the file's probes, from which ``at`` and ``edge`` count. ``error`` is set; ``fails``: it is
    from the next cycle on.
    """

    def __init__(self, cfg: LtrfConfig, layout: ProbeLayout) -> None:
        self.counts = Counts()
        self.first = layout.offset[FIRST]
        self._at = {probe.name: layout.offset[probe.name] - self.first for probe in layout}
        there = [name for name in EVENTS if name in self._at]
        self._events = events = Events(layout, dict.fromkeys(there, 1) | {"step_register": cfg.active_warps})
        self._first_event = events.first - self.first
        self._error, self.start, self.enter, self.save = (
            events.of(name) for name in ("error", "start", "enter", "save")
        )
        self.working_set, self.live_set = events.of("working_set"), events.of("live_set") if cfg.liveness else None
        self.step_out, self.step_in, self._moves = events.of("step_out"), events.of("step_in"), events.of("step_moves")
        self._registers = [events.of("step_register", place) for place in range(cfg.active_warps)]
        self.fill_pick, self.fill_grant = events.of("fill_pick"), events.of("fill_grant")
        self.back_pick, self.back_grant = events.of("back_pick"), events.of("back_grant")
        self.unfit, self.main_write, self.main_beat = (
            events.of("unfit"),
            events.of("main_write"),
            events.of("main_beat"),
        )
        self.channel_read, self.channel_write = events.of("channel_read"), events.of("channel_write")
        self.cache_write, self.parked = events.of("cache_write"), events.of("parked")
        self.released_place, self._look_up_banks = events.of("released_place"), events.of("look_up_banks")
        self._register_bits, self._bank_bits = cfg.register_bits, cfg.cache_bank_bits
        self.error = self.fails = False

    def at(self, probe: str) -> int:
        """Lowest bit of a probe, counted from the first one of the file."""
        return self._at[probe]

    @property
    def counters(self) -> dict[str, int]:
        """By name."""
        counts = self.counts
        of_bits = {
            "prefetches": self.enter.count,
            "main_reads": self.fill_grant.count,
            "main_writes": self.back_grant.count + self.parked.count,
            "parked_results": self.parked.count,
            "cache_reads": counts.cache_reads + self.channel_read.count,
            "cache_writes": self.channel_write.count + self.cache_write.count,
            "transfer_waits": self.unfit.count,
            "crossbar_beats_used": self.main_beat.count,
            "error_cycles": self._error.count,
        }
        return {name: of_bits[name] if name in of_bits else getattr(counts, name) for name in COUNTERS}

    def step(self, place: int, part: int, register: int, moves: bool) -> None:
        """A register of a place takes a bank, or leaves its own."""
        self._moves.level(moves << PARTS * place + part)
        self._registers[place].level(register << part * self._register_bits)

    def looked_up(self, slot: int, bank: int) -> None:
        """Bank of a source."""
        self._look_up_banks.level(bank << slot * self._bank_bits)

    def edge(self) -> int:
        """End the cycle; returns its events."""
        if self.error:
            self._error.show(1)
        self.error |= self.fails
        return self._events.edge() << self._first_event
