"""Declared once of ``malekeh``: parameters, hints, probes, counters (docs/schemes/malekeh.md)."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from warpfile.spec.annotation import beat_counts
from warpfile.spec.config import Config, choice_field, index_bits, number_field, power_field
from warpfile.spec.contract import Asks, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.structure import UNIT_ARRAY, OperandArray, Structure
from warpfile.spec.trace import Trace

NEAR_DESTS = 4  #: near bits of the destinations of a beat
LFSR_BITS = 8
WAIT_BITS = 7
THRESHOLD_BITS = 6


@dataclass(frozen=True, kw_only=True)
class MalekehConfig(Config):
    """A domain whose collector units are small caches of their warp's registers."""

    beat_flags: ClassVar[tuple[str, ...]] = ("full",)
    result_flags: ClassVar[tuple[str, ...]] = ("full", "component")

    unit_entries: int = power_field(2, 16, "registers that a caching collector unit holds", 8)
    reuse_hints: str = choice_field(
        ("exact", "static"), "reuse distances from the trace itself, or from data flow over the listing", "exact"
    )
    reuse_threshold: int = number_field(1, 64, "largest reuse distance, in instructions, that counts as near", 8)
    wait_control: str = choice_field(
        ("adaptive", "fixed"), "whether the wait threshold follows the issue rate", "adaptive"
    )
    wait_table: str = choice_field(
        ("reconstructed", "bounded"),
        "changes of the issue rate that count as large: above 1/32; so that a climb without any loses below 4 %",
        "reconstructed",
    )
    wait_threshold: int = number_field(0, 63, "wait threshold at reset, and always if wait_control is fixed", 0)
    wait_step: int = number_field(1, 31, "step of the adaptive wait threshold", 4)
    interval: int = number_field(2, 1 << 20, "cycles between two decisions about the wait threshold", 10000)

    def __post_init__(self) -> None:
        super().__post_init__()
        required = {
            "collect": ("one", "because a caching unit has one port for operands from the banks"),
            "bank_arbitration": ("oldest", "because the unit allocated first is served first"),
            "dispatch_arbitration": ("oldest", "because the unit allocated first leaves first"),
        }
        self.must_have(required)
        if self.unit_entries < self.source_slots:
            raise ValueError(f"unit_entries must be at least source_slots, {self.source_slots}")

    @classmethod
    def adapted(cls, values: dict[str, object]) -> dict[str, object]:
        """A preset's values as caching units need them."""
        fixed = {"collect": "one", "bank_arbitration": "oldest", "dispatch_arbitration": "oldest"}
        return super().adapted(values | fixed)

    def hints(self) -> tuple[Hint, ...]:
        """Near bits of four destinations, which come back with the results, and of all sources."""
        dests, sources = "destinations that are read again soon", "sources that are read again soon"
        own = (
            Hint("near_dests", NEAR_DESTS, True, dests, "bit k: destination register k"),
            Hint("near_sources", self.source_slots, False, sources, "bit s: source slot s"),
        )
        return (*super().hints(), *own)

    @property
    def asks(self) -> Asks:
        """Of several results for one unit the one in the lowest bank comes first."""
        return dataclasses.replace(super().asks, result_banks=True)

    @property
    def operand_arrays(self) -> tuple[OperandArray, ...]:
        """A unit's entries: all sources of its beat are read at once; an operand from the banks, and a result."""
        own = OperandArray(UNIT_ARRAY, self.unit_entries, self.source_slots, 2, self.collectors * self.lanes)
        return (*super().operand_arrays, own)

    @property
    def tag_bits(self) -> int:
        """Width of a tag; all ones means empty. R255 is RZ and never cached, so 256 names need no further bit."""
        return self.register_bits if self.register_names == 256 else self.register_bits + 1

    @property
    def rank_bits(self) -> int:
        """Width of an entry's number, and of its place in the order of use."""
        return index_bits(self.unit_entries)

    @property
    def large_bits(self) -> int:
        """A change is large if it is more than this power of two's share of the beats before (section 4)."""
        if self.wait_table == "reconstructed":
            return 5
        steps = -(-((1 << THRESHOLD_BITS) - 1) // self.wait_step)
        return index_bits(25 * steps)

    @property
    def issue_count_bits(self) -> int:
        """Width of the count of beats in an interval."""
        return self.interval.bit_length()


def near_words(trace: Trace, cfg: MalekehConfig, sources: np.ndarray, dests: np.ndarray) -> np.ndarray:
    """Hints of a trace's beats from near bits of its records: of their distinct sources and of their destinations."""
    count = beat_counts(trace, cfg.source_slots)
    record = np.repeat(np.arange(len(count)), count)
    beat = np.arange(len(record)) - np.repeat(np.cumsum(count) - count, count)
    own = sources[record].astype(np.uint64) >> (beat * cfg.source_slots).astype(np.uint64)
    last = beat == count[record] - 1
    near = (own & ((1 << cfg.source_slots) - 1)) << cfg.hint_at("near_sources")
    return (near | np.where(last, dests[record], 0).astype(np.uint64) << cfg.hint_at("near_dests")).astype(np.uint64)


def unit_probes(cfg: MalekehConfig) -> tuple[Probe, ...]:
    """Observation of the caching collector units; masks over entries have bit unit * unit_entries + entry."""
    units, slots, entries = cfg.collectors, cfg.collectors * cfg.source_slots, cfg.collectors * cfg.unit_entries
    return (
        Probe("prefer", cfg.warps, "warps that own a unit with a register in it"),
        Probe("busy", units, "units that hold a beat"),
        Probe("lacking", units, "busy units with a source that is missing"),
        Probe("owned", units, "units that belong to a warp"),
        Probe("owner", units * cfg.warp_bits, "warp of every unit, zero if none"),
        Probe("tag", entries * cfg.tag_bits, "register in every entry, all ones if empty"),
        Probe("near", entries, "entries whose register is used again soon"),
        Probe("locked", entries, "entries that are sources of the unit's beat"),
        Probe("rank", entries * cfg.rank_bits, "order of use of the entries, 0 the least recent"),
        Probe("filled", slots, "source slots of busy units whose value is in its entry"),
        Probe("lfsr", units * LFSR_BITS, "start of the search for a far entry"),
        Probe("allocate", units, "unit that takes the issuing beat, one-hot"),
        Probe("take_own", 1, "the taken unit belongs to the beat's warp"),
        Probe("take_empty", 1, "the unit was taken because it is empty"),
        Probe("take_far", 1, "the unit was taken because no register in it is near"),
        Probe("take_near", 1, "the unit was taken because the offers have waited long enough"),
        Probe("refuse_wait", 1, "the offer waits for a unit without near registers"),
        Probe("refuse_busy", 1, "the offer finds all units busy"),
        Probe("lost", entries, "near registers that the taken unit held for another warp"),
        Probe("hit", cfg.source_slots, "sources of the allocated beat that are in its unit"),
        Probe("miss", cfg.source_slots, "sources of the allocated beat that are not in its unit"),
        Probe("miss_empty", cfg.source_slots, "missing sources that get an empty entry"),
        Probe("miss_far", cfg.source_slots, "missing sources that replace a far register"),
        Probe("miss_near", cfg.source_slots, "missing sources that replace a near register"),
        Probe("request", slots, "source slots that request their bank, bit unit * source_slots + slot"),
        Probe("grant", slots, "source slots whose bank serves them"),
        Probe("cache", cfg.write_ports, "accepted results that enter a unit"),
        Probe("cache_hit", cfg.write_ports, "results that enter a unit and whose register was there"),
        Probe("cache_empty", cfg.write_ports, "results that enter a unit and get an empty entry"),
        Probe("cache_far", cfg.write_ports, "results that enter a unit and replace a far register"),
        Probe("cache_near", cfg.write_ports, "results that enter a unit and replace a near register"),
        Probe("unowned", cfg.write_ports, "accepted results of warps without a unit"),
        Probe("far", cfg.write_ports, "accepted results that are not near, of warps with a unit"),
        Probe("outdone", cfg.write_ports, "near results for whose unit another result came first"),
        Probe("met", cfg.write_ports, "near results that came first, but whose unit takes a beat"),
        Probe(
            "partial",
            cfg.write_ports,
            "near results that came first, but write some lanes of a register that is not there",
        ),
        Probe("crowded", cfg.write_ports, "near results that came first, but find every entry locked"),
        Probe("invalidate", entries, "entries whose register is overwritten in the banks only"),
        Probe("wait_count", WAIT_BITS, "offers refused in wait since the last one taken"),
        Probe("threshold", THRESHOLD_BITS, "wait threshold"),
        Probe("threshold_state", 3, "state of the threshold machine"),
        Probe("interval_end", 1, "last cycle of an interval"),
    )


def unit_events(fields: Fields) -> dict[str, int]:
    """Counters of the caching units (docs/schemes/malekeh.md, section 6)."""
    counters = {counter: int(fields[name].sum()) for counter, name in COUNTERS.items()}
    counters["sources"] = int(fields["hit"].sum() + fields["miss"].sum())
    counters["bank_conflicts"] = int((fields["request"] & ~fields["grant"]).sum())
    issued = fields["issue"][:, 0]
    warp = np.packbits(fields["issue_warp"], axis=1, bitorder="little")[:, 0].astype(np.int64)
    preferred = fields["prefer"][np.arange(len(warp)), warp] & issued
    counters["issued_preferred"] = int(preferred.sum())
    counters["issued_others"] = int((issued & ~preferred).sum())
    return counters


#: Counters that are the number of set bits of one probe.
COUNTERS = {
    "source_hits": "hit",
    "bank_reads": "grant",
    "unit_cycles": "busy",
    "operand_waits": "lacking",
    "cached_results": "cache",
    "cached_hits": "cache_hit",
    "cached_empty": "cache_empty",
    "cached_far": "cache_far",
    "cached_near": "cache_near",
    "uncached_unowned": "unowned",
    "uncached_far": "far",
    "uncached_outdone": "outdone",
    "uncached_met": "met",
    "uncached_partial": "partial",
    "uncached_crowded": "crowded",
    "invalidations": "invalidate",
    "replaced_empty": "miss_empty",
    "replaced_far": "miss_far",
    "replaced_near": "miss_near",
    "taken_own": "take_own",
    "taken_empty": "take_empty",
    "taken_far": "take_far",
    "taken_near": "take_near",
    "near_lost": "lost",
    "wait_bubbles": "refuse_wait",
    "busy_bubbles": "refuse_busy",
    "intervals": "interval_end",
}


#: Storage of section 8 of the page, beside the reference design.
STRUCTURES = (
    Structure(
        "entries of the units",
        "flip-flops",
        r"caching_lane\.",
        lambda cfg: cfg.collectors * cfg.unit_entries * cfg.lanes * 32,
    ),
    Structure("tags", "cam", r"caching_unit\.tag", lambda cfg: cfg.collectors * cfg.unit_entries * cfg.register_bits),
    Structure(
        "valid bits of the entries",
        "flip-flops",
        r"caching_unit\.used",
        None,
        "an empty entry has a bit of its own; the paper marks it by a tag of ones, which needs a chain of gates",
    ),
    Structure("locks", "flip-flops", r"caching_unit\.locked", lambda cfg: cfg.collectors * cfg.unit_entries),
    Structure("near bits", "flip-flops", r"caching_unit\.near_entries", lambda cfg: cfg.collectors * cfg.unit_entries),
    Structure(
        "order of use",
        "flip-flops",
        r"caching_unit\.recency\.first",
        lambda cfg: cfg.collectors * cfg.unit_entries * index_bits(cfg.unit_entries),
        "a bit per pair of entries, not a rank per entry: 28 bits instead of 24 in a unit of 8, and no rank to compute",
    ),
    Structure(
        "entry of each source slot",
        "flip-flops",
        r"caching_unit\.entry_of_slot",
        lambda cfg: cfg.collectors * cfg.source_slots * index_bits(cfg.unit_entries),
    ),
    Structure("units with an owner", "flip-flops", r"caching_unit\.owned", lambda cfg: cfg.collectors),
    Structure("unit fields of the baseline", "flip-flops", r"caching_unit\."),
    Structure("wait count", "flip-flops", r"warpfile\.collectors\.allocator", lambda cfg: WAIT_BITS),
    Structure("replacement LFSRs", "flip-flops", r"warpfile\.collectors\.lfsr", lambda cfg: cfg.collectors * LFSR_BITS),
    Structure(
        "order of dispatch",
        "flip-flops",
        r"warpfile\.collectors\.departures",
        lambda cfg: cfg.collectors * (cfg.collectors - 1) // 2,
    ),
    Structure(
        "threshold machine",
        "flip-flops",
        r"warpfile\.collectors\.wait_threshold",
        lambda cfg: 61,
        "as wide as one sub-core needs, with the beats of this interval and of the one before; "
        "one machine per sub-core, not per chip",
    ),
)
