"""Declared once of ``rfc``: parameters, hints, probes, counters (docs/schemes/rfc.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from warpfile.spec.annotation import beat_counts, on_sources
from warpfile.spec.config import Config, choice_field, index_bits, number_field
from warpfile.spec.contract import Gives, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import LINES_ARRAY, OperandArray, Structure
from warpfile.spec.trace import Trace

READ_PORTS = 3  #: of a cache line array; also the sources that a tag check looks up


@dataclass(frozen=True, kw_only=True)
class RfcConfig(Config):
    """A domain with a small register cache per active warp in front of the banks."""

    beat_flags: ClassVar[tuple[str, ...]] = ("full", "converged")
    result_flags: ClassVar[tuple[str, ...]] = ("full", "origin")

    cache_entries: int = number_field(0, 16, "registers that the cache holds per active warp; 0: no cache", 6)
    replacement: str = choice_field(
        ("fifo", "evict_first", "lru"), "victim: oldest, dead or not read again first, least recently used", "fifo"
    )
    dead_bits: str = choice_field(
        ("honoured", "ignored"), "whether values read for the last time are written back", "honoured"
    )
    allocation: str = choice_field(
        ("all", "hinted"), "results that enter: all short ones, or those read before the warp is suspended", "all"
    )
    long_results: str = choice_field(
        ("bypass", "allocate"), "whether loads from global and local memory enter the cache", "bypass"
    )
    partial_results: str = choice_field(
        ("bypass", "lanes"),
        "results of some lanes: pass the cache by, or enter lines that know their lanes, of those that are built",
        "bypass",
    )
    write_queue: int = number_field(1, 16, "results and victims that wait in front of each bank", 4)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.has_places:
            raise ValueError(f"scheduler must have places, not be {self.scheduler}: only warps with one have a cache")
        if self.long_results == "allocate" and self.suspend != "never":
            raise ValueError(
                f"suspend must be never, not {self.suspend}, if long_results is allocate: a load may return for a warp"
                " without a place"
            )
        if self.source_slots > READ_PORTS:
            raise ValueError(
                f"source_slots must be at most {READ_PORTS}, the cache's read ports, not {self.source_slots}"
            )

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values as the cache needs them."""
        slots = values["source_slots"]
        assert isinstance(slots, int)
        return super().adapted(values | {"source_slots": min(slots, READ_PORTS)})

    def hints(self) -> tuple[Hint, ...]:
        """No-allocate, which comes back with the result; suspend; per source: dead, evict first."""
        slots = self.source_slots
        own = (
            Hint("no_allocate", 1, True, "the results are not read before the warp is suspended again", "1: yes"),
            Hint("suspend", 1, False, "the beat may wait for a load; on the first beat", "1: yes"),
            Hint("dead", slots, False, "sources that are read for the last time", "bit s: source slot s"),
            Hint("evict_first", slots, False, "sources not read again before a suspension", "bit s: source slot s"),
        )
        return (*super().hints(), *own)

    @property
    def gives(self) -> Gives:
        """A copy is named by its entry; with its read come dead (where lanes have converged) and evict first."""
        if not self.cache_entries:
            return Gives(later=True, cycles=self.bank_cycles)
        near_bits, note_bits = index_bits(self.cache_entries), 2 * self.source_slots
        return Gives(True, near_bits, note_bits, self.keeps_lanes, self.bank_cycles)

    @property
    def keeps_lanes(self) -> bool:
        """Whether lines know which lanes they have."""
        return self.partial_results == "lanes" and self.cache_entries > 0

    @property
    def lines(self) -> int:
        """Lines of the whole cache."""
        return self.active_warps * self.cache_entries

    @property
    def operand_arrays(self) -> tuple[OperandArray, ...]:
        """All lines of the cache."""
        own = OperandArray(LINES_ARRAY, self.lines, READ_PORTS, 1, self.lanes)
        return (*super().operand_arrays, *((own,) if self.lines else ()))

    @property
    def pin_bits(self) -> int:
        """Every unit may have a line pinned."""
        return index_bits(self.collectors + 1)


def cache_words(
    trace: Trace,
    cfg: RfcConfig,
    suspend: np.ndarray,
    dead: np.ndarray,
    evict_first: np.ndarray,
    no_allocate: np.ndarray,
) -> np.ndarray:
    """Hints of a trace's beats from those of its records; ``dead``, ``evict_first``: masks over distinct sources."""
    count = beat_counts(trace, cfg.source_slots)
    record = np.repeat(np.arange(len(count)), count)
    beat = np.arange(len(record)) - np.repeat(np.cumsum(count) - count, count)
    words = np.where(beat == count[record] - 1, no_allocate[record].astype(np.uint64), 0) << cfg.hint_at("no_allocate")
    words |= np.where(beat == 0, suspend[record].astype(np.uint64), 0) << cfg.hint_at("suspend")
    words |= on_sources(trace, cfg.source_slots, dead) << cfg.hint_at("dead")
    words |= on_sources(trace, cfg.source_slots, evict_first) << cfg.hint_at("evict_first")
    return words


def cache_probes(cfg: RfcConfig) -> tuple[Probe, ...]:
    """Observation of cache and queues; lines have bit place * cache_entries + entry."""
    lines, places, banks = max(1, cfg.lines), cfg.active_warps, cfg.banks
    partial = (
        Probe("line_lanes", lines * cfg.lanes, "lanes of each line, zero if it holds no register"),
        Probe("defer", 1, "the waiting unit is not looked up because a line lacks lanes of its beat"),
        Probe("recall", 1, "the line that goes to its bank's queue lacks lanes of the waiting beat"),
    )
    return (
        Probe("held", lines, "lines that hold a register"),
        Probe("line_register", lines * cfg.register_bits, "register of each line, zero if none"),
        Probe("dead", lines, "lines whose value is not read again"),
        Probe("evict_first", lines, "lines whose value is not read before the warp is suspended"),
        Probe("pinned", lines, "lines that some unit still has to read"),
        Probe(
            "head", places * index_bits(max(2, cfg.cache_entries)), "where the search for a victim starts, per place"
        ),
        Probe("cache_write", cfg.write_ports, "accepted results that enter the cache"),
        Probe("cache_write_hit", cfg.write_ports, "results written to the cache whose register was there"),
        Probe(
            "bypass_hint", cfg.write_ports, "accepted short results that go to the queue as the compiler's hint says"
        ),
        Probe(
            "bypass_partial",
            cfg.write_ports,
            "accepted short results that go to the queue because they write some lanes",
        ),
        Probe("bypass_full", cfg.write_ports, "accepted short results that go to the queue because no line can leave"),
        Probe("long", cfg.write_ports, "accepted results of loads that go to the queue"),
        Probe("long_merge", cfg.write_ports, "accepted results of loads that write some lanes of a line"),
        Probe("long_drop", cfg.write_ports, "accepted results of loads that invalidate their line"),
        Probe("evict", 1, "a victim goes to its bank's queue"),
        Probe("evict_dead", 1, "a victim is dropped because it is dead"),
        Probe("flush", lines, "line that goes to its bank's queue because its warp is suspended"),
        Probe("flush_dead", lines, "lines that are dropped at a suspension because they are dead"),
        Probe("drop", lines, "lines that are dropped because their warp ends"),
        Probe("queued", banks * index_bits(cfg.write_queue + 1), "entries in each bank's queue"),
        Probe("bank_write", banks, "banks that take the head of their queue"),
        *(partial if cfg.keeps_lanes else ()),
    )


def cache_events(fields: Fields) -> dict[str, int]:
    """Counters of the register cache (docs/schemes/rfc.md, section 5)."""
    counted = COUNTERS | PARTIAL_COUNTERS
    return {counter: int(fields[name].sum()) for counter, name in counted.items() if name in fields}


#: Counters that are the number of set bits of one probe.
COUNTERS = {
    "bank_writes": "bank_write",
    "cache_writes": "cache_write",
    "cache_write_hits": "cache_write_hit",
    "bypasses_hint": "bypass_hint",
    "bypasses_partial": "bypass_partial",
    "bypasses_full": "bypass_full",
    "long_results": "long",
    "long_merges": "long_merge",
    "long_drops": "long_drop",
    "evictions": "evict",
    "evictions_dead": "evict_dead",
    "flushes": "flush",
    "flushes_dead": "flush_dead",
    "drops": "drop",
}
#: The same where lines know their lanes.
PARTIAL_COUNTERS = {"deferrals": "defer", "recalls": "recall"}


#: Storage beside the reference design.
STRUCTURES = (
    Structure("lane bits of the lines", "flip-flops", r"cache_lane\.present"),
    Structure("cache lines", "flip-flops", r"cache_lane\.", lambda cfg: cfg.lines * cfg.lanes * 32),
    Structure("registers of the lines", "cam", r"cache_tags\.register", lambda cfg: cfg.lines * cfg.register_bits),
    Structure("heads", "flip-flops", r"cache_tags\.head", lambda cfg: cfg.active_warps * index_bits(cfg.cache_entries)),
    Structure(
        "valid, dirty, dead, evict first, pins of the lines",
        "flip-flops",
        r"cache_tags\.",
        lambda cfg: cfg.lines * 6,
        "no dirty bit, because only results enter; a pin count for as many units as there are",
    ),
    Structure(
        "rows of the queues",
        "cam",
        r"write_queue\.row",
        lambda cfg: cfg.banks * cfg.write_queue * 13,
        "a row of the bank instead of warp and register",
    ),
    Structure(
        "data of the queues",
        "flip-flops",
        r"queue_lane\.",
        lambda cfg: cfg.banks * cfg.write_queue * cfg.lanes * 33,
    ),
    Structure("pointers of the queues", "flip-flops", r"write_queue\."),
    Structure(
        "places (inner scheduler)",
        "flip-flops",
        r"warpfile\.frame\.scheduler\.(idle\d|placed|draining|releasing|current)",
        lambda cfg: cfg.active_warps * 16 + index_bits(cfg.active_warps),
        "scoreboards and units show the operations in flight, so there is no second count",
    ),
    Structure(
        "warp states (outer scheduler)",
        "flip-flops",
        r"warpfile\.frame\.scheduler\.",
        lambda cfg: cfg.warps * 12 + index_bits(cfg.warps),
        "one bit, and a one-hot pointer; places, scoreboards and barrier show slot, loads and barrier",
    ),
    Structure("bases of the places", "flip-flops", r"warpfile\.register_file\.location\.(place_base|taken)"),
    Structure("loads under way", "flip-flops", r"warp_scoreboard\.loading", lambda cfg: cfg.warps * cfg.register_names),
)
