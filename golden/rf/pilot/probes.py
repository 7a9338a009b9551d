"""Probes and counters of the partitioned file (docs/schemes/pilot.md, section 9)."""

from __future__ import annotations

from collections.abc import Sequence

from warpfile.golden.rf.engine import Served
from warpfile.golden.rf.pilot.epochs import Epochs
from warpfile.golden.rf.pilot.moves import FAST_READ, FAST_WRITE
from warpfile.golden.rf.pilot.phases import PROFILE, Phases
from warpfile.golden.rf.pilot.swap import SwapTable
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import COUNT_BITS, MOVES, PilotConfig

COUNTERS = (
    "fast_reads_high",
    "fast_reads_low",
    "fast_writes_high",
    "fast_writes_low",
    "slow_reads",
    "slow_writes",
    "table_lookups",
    "table_hits",
    "epochs_high",
    "epochs_low",
    "pilot_cycles",
    "pilot_accesses",
    "warps_old_map",
    "warps_new_map",
    "low_mode_cycles",
    "bank_busy_stall",
    "lists_kept",
    *MOVES,
)


class Probes:
    """Events of a cycle, as probes and in the file's ``counters``; ``word`` adds the state and ends the cycle."""

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout, counters: dict[str, int]) -> None:
        self._counters, self._at = counters, layout.offset
        counters.update(dict.fromkeys(COUNTERS, 0))
        self._bits, self._size = cfg.register_bits, cfg.fast_registers
        self._last = cfg.epoch - 1
        self._shows_sources = "source_lookup" in layout.offset
        self._events = 0
        self._first: list[tuple[int, int]] = []
        self._second: list[tuple[int, int]] = []
        self._slots: list[tuple[int, int]] = []
        self._packed = 0

    def _count(self, counter: str, number: int = 1) -> None:
        self._counters[counter] += number

    def _show(self, probe: str, value: int) -> None:
        self._events |= value << self._at[probe]

    def read(self, index: int, fast: bool, high: bool) -> None:
        """A bank serves a source slot."""
        if fast:
            self._show("fast_grant", 1 << index)
            self._count("fast_reads_high" if high else "fast_reads_low")
        else:
            self._count("slow_reads")

    def busy(self, slots: int) -> None:
        """These slots ask a bank that is busy."""
        self._show("bank_busy", slots)
        self._count("bank_busy_stall", slots.bit_count())

    def write(self, port: int, fast: bool, high: bool, hits: bool) -> None:
        """A bank takes the result of a port."""
        self._show("fast_write" if fast else "slow_write", 1 << port)
        self._count(("fast_writes_high" if high else "fast_writes_low") if fast else "slow_writes")
        self._show("result_lookup", 1 << port)
        self._show("result_hit", hits << port)
        self._count("table_lookups")
        self._count("table_hits", hits)

    def sources(self, sources: tuple[int, ...], table: SwapTable) -> None:
        """The sources of a beat are renamed."""
        if not self._shows_sources:
            return
        for slot, register in enumerate(sources):
            hits = table.hits(register)
            self._show("source_lookup", 1 << slot)
            self._show("source_hit", hits << slot)
            self._show("source_home", table.home(register) << slot * self._bits)
            self._count("table_lookups")
            self._count("table_hits", hits)

    def launch(self, version: int) -> None:
        """A warp is launched with this version of the map."""
        self._count("warps_new_map" if version else "warps_old_map")

    def moves(self, phases: Phases, high: bool, awaited: int, served: Served | None) -> None:
        """How far registers have moved, and which of their accesses is served."""
        self._count("migrate_stall", phases.held)
        mover = phases.mover
        for probe, value in (("warp", mover.warp), ("pair", mover.pair), ("access", mover.access)):
            self._show(f"move_{probe}", value)
        self._show("awaited", awaited)
        if served is not None:
            self._show("move_grant", 1)
            self._count("migrated_pairs", mover.access == FAST_WRITE)
            fast = "moves_fast_high" if high else "moves_fast_low"
            self._count(fast if mover.access in (FAST_READ, FAST_WRITE) else "moves_slow")

    def word(self, phases: Phases, epochs: Epochs) -> int:
        """All probes of the cycle."""
        at, events, self._events = self._at, self._events, 0
        profiling, counted = phases.state == PROFILE, len(phases.counts.held)
        ends = phases.running and not phases.ends and not phases.held and epochs.cycle == self._last
        if profiling:
            self._count("pilot_cycles")
        if counted:
            self._count("pilot_accesses", counted)
        if phases.keeps and not phases.ends:
            self._count("lists_kept")
            events |= 1 << at["list_kept"]
        if not epochs.high:
            self._count("low_mode_cycles")
        if ends:
            self._count("epochs_high" if epochs.high else "epochs_low")
        return (
            events
            | phases.state << at["pilot_state"]
            | profiling << at["profiling"]
            | phases.pilot << at["pilot_warp"]
            | phases.homes.versions << at["versions"]
            | phases.version << at["current_version"]
            | counted << at["counted"]
            | phases.scanned << at["scanned"]
            | self._lists(phases.homes.tables, phases.sorter.slots)
            | epochs.high << at["high_mode"]
            | ends << at["epoch_end"]
            | epochs.cycle << at["epoch_cycle"]
            | epochs.issued << at["epoch_issued"]
        )

    def _lists(self, tables: Sequence[SwapTable], slots: Sequence[tuple[int, int]]) -> int:
        """Swapping tables and sorter. They stay as they are for most of a kernel, and packing them takes long."""
        first, second = tables[0].pairs, tables[1].pairs
        if first != self._first or second != self._second or slots != self._slots:
            self._first, self._second, self._slots = [*first], [*second], [*slots]
            at = self._at
            self._packed = self._tables(tables) << at["swap_table"] | self._sorted(slots) << at["sorted"]
        return self._packed

    def _tables(self, tables: Sequence[SwapTable]) -> int:
        """Entry after entry: valid, register, home."""
        bits, word = self._bits, 0
        for version, table in enumerate(tables):
            for number, (register, home) in enumerate(table.entries, 2 * self._size * version):
                word |= (1 | register << 1 | home << 1 + bits) << number * (1 + 2 * bits)
        return word

    def _sorted(self, slots: Sequence[tuple[int, int]]) -> int:
        """Slot after slot: valid, register, count."""
        bits, word = self._bits, 0
        for number, (count, register) in enumerate(slots):
            word |= (1 | register << 1 | count << 1 + bits) << number * (1 + bits + COUNT_BITS)
        return word
