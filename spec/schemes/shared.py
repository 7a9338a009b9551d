"""Declared once of ``shared``: parameters, hints, probes, counters, storage (docs/schemes/larf.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Final

import numpy as np

from warpfile.spec.config import choice_field, index_bits, number_field
from warpfile.spec.contract import Gives, Hint
from warpfile.spec.probe import Fields, Probe
from warpfile.spec.schemes.las import lookahead_events, lookahead_probes
from warpfile.spec.schemes.renamed import MAPPED_BITS, SWEPT, RenamedConfig, sweep_events, sweep_probes
from warpfile.spec.structure import RENAMING_RAM, Structure

ADDRESS_BITS: Final = 48
BASE_BITS: Final = 32  #: of an entry; what is above them is the same in the whole table
STRIDE_BITS: Final = 8  #: strides are counted in words
WORD: Final = 4
MOST_STRIDE: Final = WORD * ((1 << STRIDE_BITS) - 1)
# Hint ``access``.
PLAIN: Final = 0
LOAD: Final = 1
STORE: Final = 2
FLUSH: Final = 3
# States of the access port's second stage.
EMPTY: Final = 0
COMPARE: Final = 1
SELECT: Final = 2
SPAN: Final = 3
DELETE: Final = 4
THROUGH: Final = 5
# States of its third stage.
DECIDE: Final = 1
ACT: Final = 2
RECHECK: Final = 3
DONE: Final = 4
# Outcomes of a search.
PERFECT: Final = 1
SINGLE: Final = 2
DOUBLE: Final = 3
MISS: Final = 4
# Why a load is not tracked.
PARTIAL: Final = 0
IRREGULAR: Final = 1
STRIDE: Final = 2
UPPER: Final = 3
# States of the merge slot.
IDLE: Final = 0
READ1: Final = 1
READ2: Final = 2
WRITE: Final = 3
# Decisions about results.
IN_PLACE: Final = 1
RENEW: Final = 3
ALLOCATE: Final = 4
REASONS = ("partial", "irregular", "stride", "upper")
OUTCOMES = ("hits_perfect", "hits_single", "hits_double", "misses")
_LEAST_PORTS, _LEAST_SLOTS = 3, 2


@dataclass(frozen=True, kw_only=True)
class SharedConfig(RenamedConfig):
    """A domain in which registers that hold the same loaded words share a row."""

    beat_flags: ClassVar[tuple[str, ...]] = ("full", "converged")
    result_flags: ClassVar[tuple[str, ...]] = ("full",)
    values: ClassVar[bool] = True

    table_entries: int = number_field(1, 512, "loaded vectors of words that the address table knows", 400)
    search: str = choice_field(
        ("none", "perfect", "merge"),
        "loads that are absorbed: none, those of a known vector, or also those of words of one or two",
        "merge",
    )
    strides: str = choice_field(("any", "powers"), "strides that are tracked: 0 to 1020, or powers of two", "any")
    merge_wait: int = number_field(0, 63, "cycles that a search waits for the merge slot before the load is sent", 8)
    absorbed_loads: int = number_field(1, 64, "loads that are absorbed and not complete", 64)
    count_bits: int = number_field(1, 12, "bits of the number of registers that share a row", 6)

    def __post_init__(self) -> None:
        super().__post_init__()
        self.must_have({"domains": (1, "stores of other domains do not pass the address table")})
        for name, least, why in (
            ("ports", _LEAST_PORTS, "beats of the LSU need a port of their own"),
            ("source_slots", _LEAST_SLOTS, "an address must be in one beat"),
        ):
            if getattr(self, name) < least:
                raise ValueError(f"{name} must be at least {least}, not {getattr(self, name)}: {why}")
        if self.asks.keeps or not self.asks.sources:
            raise ValueError("collectors must be units that leave all results to the file: it fills the rows of loads")
        if self.asks.joins != "none":
            raise ValueError(f"coalescing must be none, not {self.asks.joins}: a row has one register's value")

    @property
    def gives(self) -> Gives:
        """It takes the kernel, sweeps after every warp, and sees what leaves to the LSU."""
        return Gives(
            kernel=True,
            sweeps=True,
            renamed=True,
            deaths=True,
            lead=self.lead,
            absorbs=True,
            lookahead=self.lookahead,
        )

    def hints(self) -> tuple[Hint, ...]:
        """Of the beat that has an address: what it does to memory, and the address beyond its registers."""
        accesses = ((PLAIN, "plain"), (LOAD, "load"), (STORE, "store"), (FLUSH, "flush"))
        registers = ((0, "none"), (1, "slot_0"), (2, "slots_0_and_1"))
        return (
            *super().hints(),
            Hint(
                "access",
                2,
                False,
                "what it is: a load may be shared, a store changes memory where it points, a flush anywhere",
                values=accesses,
            ),
            Hint("address_registers", 2, False, "registers of the address, the low half first", values=registers),
            Hint("access_size", 3, False, "bytes per lane", "log2"),
            Hint("address_offset", ADDRESS_BITS, False, "what is added to the registers", "modulo 2^48"),
        )

    @property
    def most_shared(self) -> int:
        """Registers that can be mapped to one row."""
        return (1 << self.count_bits) - 1


def shared_probes(cfg: SharedConfig) -> tuple[Probe, ...]:
    """Observation of the file; of the probe, if the scheduler wants it."""
    lookahead = lookahead_probes(cfg) if cfg.gives.lookahead else ()
    return (*_levels(cfg), *_results(cfg), *_accesses(cfg), *lookahead)


def _levels(cfg: SharedConfig) -> tuple[Probe, ...]:
    ports = cfg.write_ports
    rows, entries = index_bits(cfg.banks * cfg.rows + 1), cfg.table_entries
    return (
        Probe("deciding", ports, "write-back ports with a result in W0"),
        Probe("storing", ports, "write-back ports with a result in W1"),
        *sweep_probes(cfg),
        Probe("used_rows", rows, "rows that some register is mapped to"),
        Probe("shared_rows", rows, "rows with more than one register mapped to them"),
        Probe("error", 1, "no row was found"),
        Probe("access_vector", 1, "an access in the first stage of the access port"),
        Probe("access_search", 3, "second stage of the access port: 0 empty, 1 C, 2 S, 3 U, 4 K, 5 F"),
        Probe("access_act", 3, "third stage of the access port: 0 empty, 1 D, 2 E, 3 R, 4 F"),
        Probe("access_send", 1, "the fourth stage of the access port presents an access at the pins"),
        Probe("valid_entries", index_bits(entries + 1), "valid entries of the address table"),
        Probe("table_pointer", index_bits(entries), "entry of the address table that the next insertion takes"),
        Probe("absorbed", cfg.absorbed_loads, "absorbed loads that are not complete"),
        Probe("absorbed_waiting", cfg.absorbed_loads, "absorbed loads whose row is not ready"),
        Probe("merge_state", 2, "merge slot: 0 idle, 1 and 2 first and second read, 3 write"),
    )


def _results(cfg: SharedConfig) -> tuple[Probe, ...]:
    ports, banks = cfg.write_ports, cfg.banks
    return (
        Probe("decision", ports * 3, "decision about each result that leaves W0: 1 in place, 3 renew, 4 allocate"),
        Probe("target", ports * cfg.mapping_bits, "bank and row of each result that leaves W0, and 1 above"),
        Probe("search", ports, "the result that changes"),
        Probe("search_wait", ports, "results that need a change, could move, and wait"),
        Probe("merge", ports, "M0 is served"),
        Probe("stored", ports, "W1 is served"),
        Probe("table_reads", 2 * banks, "entries read in each memory of the renaming table"),
        Probe("table_writes", 2 * banks, "entries written in each"),
        Probe("table_wait", ports, "results in X whose read is not served"),
        Probe("killed", 1, "a dead register loses its row"),
        *sweep_events(),
    )


def _accesses(cfg: SharedConfig) -> tuple[Probe, ...]:
    return (
        Probe("outcome", 3, "outcome of the access that acts: 1 perfect, 2 single, 3 double, 4 miss"),
        Probe(
            "outcome_row",
            cfg.bank_bits + cfg.row_bits,
            "row of the acting access's destination from then on: bank, then row",
        ),
        Probe("lost", 1, "the acting access is a miss because an entry or a row has changed since it was found"),
        Probe("fallback", 1, "the acting access is a miss because the merge slot was not idle"),
        Probe("untracked", len(REASONS), "the load is not tracked: partial, irregular, stride, upper"),
        Probe("act_wait", 1, "an access in E does not act"),
        Probe("merge_busy", 1, "an access in E waits for the merge slot"),
        Probe("evicted", 1, "an insertion takes a valid entry"),
        Probe("ahead", 1, "the entry that the load ahead has inserted is chosen, or deleted"),
        Probe("deleted", index_bits(cfg.table_entries + 1), "entries that a store deletes"),
        Probe("ended", 1, "an entry ends with its row"),
        Probe("flushed", 1, "an access ends all entries, and there are some"),
        Probe("merge_read", 1, "a read of the merge slot is served"),
        Probe("merge_write", 1, "the write of the merge slot is served"),
        Probe("merge_hold", 1, "the merge slot requests its bank and is not served"),
        Probe("row_ready", 2, "a row becomes ready: bit 0 by a fill, bit 1 by the merge slot"),
        Probe("absorbed_done", cfg.absorbed_loads, "the absorbed load that completes"),
    )


#: Counters that are sums of a probe's bits.
_SUMS = {
    "search_waits": "search_wait",
    "table_waits": "table_wait",
    "merges": "merge",
    "kills_done": "killed",
    "error_cycles": "error",
    "bank_writes": "stored",
    "lost_hits": "lost",
    "fallbacks": "fallback",
    "act_waits": "act_wait",
    "merge_busy_waits": "merge_busy",
    "table_evictions": "evicted",
    "found_ahead": "ahead",
    "table_ends": "ended",
    "table_flushes": "flushed",
    "merge_reads": "merge_read",
    "merge_writes": "merge_write",
    "merge_waits": "merge_hold",
    "absorbed_loads_done": "absorbed_done",
}
#: Counters that are sums of a probe's number.
_NUMBERS = {
    "used_row_cycles": "used_rows",
    "shared_row_cycles": "shared_rows",
    "valid_entry_cycles": "valid_entries",
    "table_deletions": "deleted",
}


def shared_events(fields: Fields) -> dict[str, int]:
    """Counters of the file (docs/schemes/larf.md, section 16)."""
    sums = {name: fields[probe].sum() for name, probe in _SUMS.items()}
    sums |= {name: _numbers(fields[probe]).sum() for name, probe in _NUMBERS.items()}
    outcome, decision = _numbers(fields["outcome"]), _numbers(fields["decision"], 3)
    sums |= {name: (outcome == code).sum() for code, name in enumerate(OUTCOMES, PERFECT)}
    decisions = {"in_place": IN_PLACE, "renewals": RENEW, "allocations": ALLOCATE}
    sums |= {name: (decision == code).sum() for name, code in decisions.items()}
    sums |= {f"untracked_{reason}": fields["untracked"][:, at].sum() for at, reason in enumerate(REASONS)}
    sums |= {name: _numbers(fields[name], 2).sum() for name in ("table_reads", "table_writes")}
    sums[SWEPT] = fields["sweep_free"].sum()
    lookahead = lookahead_events(fields) if "probe_state" in fields else {}
    return {name: int(value) for name, value in sums.items()} | lookahead


def _numbers(bits: np.ndarray, width: int = 0) -> np.ndarray:
    """Numbers of ``width`` bits side by side, by cycle; without a width one of all bits."""
    size = width or bits.shape[1]
    weights = 1 << np.arange(size, dtype=np.int64)
    return np.asarray((bits.reshape(len(bits), -1, size) * weights).sum(axis=2))


STRUCTURES = (
    Structure(
        "renaming table",
        "memory",
        RENAMING_RAM,
        lambda cfg: cfg.warps * 63 * 12,
        "RZ has an entry, because the table is addressed by bits of the register's number; a row has fewer bits",
    ),
    Structure(
        "address table",
        "cam",
        r"address_table\.",
        lambda cfg: cfg.table_entries * 85,
        "a row has fewer bits than the reference design's 11, and no entry says that its row is ready",
    ),
    Structure(
        "counts of rows, rows that are ready or marked",
        "flip-flops",
        r"row_counts\.",
        lambda cfg: cfg.banks * cfg.rows * 13,
        "operands that wait in units are not counted, and a hit beyond the largest count is a miss",
    ),
    Structure(
        "merge slot",
        "flip-flops",
        r"merge_(slot|lane)\.",
        lambda cfg: 2 * cfg.lanes * 32 + 12 + 2 * cfg.lanes + 24 + 27,
        "lanes are shifted on arrival, so one word is kept",
    ),
    Structure("absorbed loads", "flip-flops", r"absorbed_list\."),
    Structure("access port", "flip-flops", r"access_(port|lane)\."),
    Structure("probe of las", "flip-flops", r"(lookahead|probe_lane)\."),
    Structure("hints of the units' accesses", "flip-flops", r"access_notes\."),
    Structure("data of W0 and W1", "flip-flops", r"result_lane\."),
    Structure("W0 and W1", "flip-flops", r"result_port\.|warpfile\.register_file\.banks\.merging"),
    Structure("results without a register", "flip-flops", r"completions\."),
    MAPPED_BITS,
    Structure("answers of the renaming table", "flip-flops", r"warpfile\.register_file\.table\."),
    Structure("sweep, kernel and residents, error", "flip-flops", r"warpfile\.register_file\."),
)
