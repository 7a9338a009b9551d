"""Probes and counters of the shared file (docs/schemes/larf.md, section 16)."""

from __future__ import annotations

from warpfile.golden.rf.event_probes import EventProbes
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.las import P1
from warpfile.spec.schemes.renamed import SWEPT
from warpfile.spec.schemes.shared import ALLOCATE, IN_PLACE, OUTCOMES, PERFECT, REASONS, RENEW, SharedConfig

#: Counters that have one more for each bit of an event.
EVENTS = {
    "search_wait": "search_waits",
    "table_wait": "table_waits",
    "merge": "merges",
    "stored": "bank_writes",
    "killed": "kills_done",
    "sweep_free": SWEPT,
    "error": "error_cycles",
    "lost": "lost_hits",
    "fallback": "fallbacks",
    "act_wait": "act_waits",
    "merge_busy": "merge_busy_waits",
    "evicted": "table_evictions",
    "ahead": "found_ahead",
    "ended": "table_ends",
    "flushed": "table_flushes",
    "merge_read": "merge_reads",
    "merge_write": "merge_writes",
    "merge_hold": "merge_waits",
    "absorbed_done": "absorbed_loads_done",
    "probe_hit": "las_hits",
    "reader_read": "las_reads",
    "reader_late": "las_late",
}
#: Sums of levels over cycles.
LEVELS = ("used_row_cycles", "shared_row_cycles", "valid_entry_cycles")
DECISIONS = {IN_PLACE: "in_place", RENEW: "renewals", ALLOCATE: "allocations"}


class Probes(EventProbes):
    """In addition to :class:`EventProbes`: what becomes of results and of accesses."""

    def __init__(self, cfg: SharedConfig, layout: ProbeLayout) -> None:
        super().__init__(layout, "deciding", EVENTS)
        counters = [*LEVELS, *DECISIONS.values(), *OUTCOMES, "table_deletions"]
        self._used = self._shared = self._valid = self._probing = 0
        self.sums |= dict.fromkeys([*counters, *(f"untracked_{reason}" for reason in REASONS)], 0)
        self._looks_ahead = cfg.gives.lookahead
        # These lie side by side: a word by itself, which goes into the long one at once.
        self._at_search, self._at_act, self._at_send, self._at_pointer = (
            self._at[name] - self._at["access_vector"]
            for name in ("access_search", "access_act", "access_send", "table_pointer")
        )
        self._at_shared, self._at_valid = (
            self._at[name] - self._at["used_rows"] for name in ("shared_rows", "valid_entries")
        )
        self._used_rows, self._access = self._probes["used_rows"], self._probes["access_vector"]
        self._decision, self._target = self._probes["decision"], self._probes["target"]
        self._entry, self._mapped = cfg.mapping_bits, 1 << cfg.bank_bits + cfg.row_bits

    @property
    def counters(self) -> dict[str, int]:
        """See :class:`EventProbes`."""
        sums = dict(zip(LEVELS, (self._used, self._shared, self._valid), strict=True))
        return super().counters | sums | ({"las_probes": self._probing} if self._looks_ahead else {})

    def rows(self, used: int, shared: int, valid: int) -> None:
        """Levels that are summed over cycles: rows that are used and shared, and entries of the address table."""
        self._used_rows.level(used | shared << self._at_shared | valid << self._at_valid)
        self._used += used
        self._shared += shared
        self._valid += valid

    def access(self, vector: bool, search: int, act: int, send: bool, pointer: int) -> None:
        """States of the access port's four stages, and where the address table's next entry comes."""
        port = vector | search << self._at_search | act << self._at_act | send << self._at_send
        self._access.level(port | pointer << self._at_pointer)

    def decision(self, port: int, code: int, row: int) -> None:
        """A result leaves W0 for its row."""
        self._decision.level(code << 3 * port)
        self._target.level((row | self._mapped) << self._entry * port)
        self.sums[DECISIONS[code]] += 1

    def outcome(self, outcome: int, row: int) -> None:
        """An access acts; the row is that of its destination from now on."""
        self.level("outcome", outcome)
        self.level("outcome_row", row)
        self.sums[OUTCOMES[outcome - PERFECT]] += 1

    def untracked(self, reason: int) -> None:
        """A load is not tracked."""
        self.level("untracked", 1 << reason)
        self.sums[f"untracked_{REASONS[reason]}"] += 1

    def deleted(self, count: int) -> None:
        """A store ends so many entries."""
        self.level("deleted", count)
        self.sums["table_deletions"] += count

    def probing(self, state: int, lookahead_hit: int) -> None:
        """The state of the probe, and the warp that it tells of."""
        self.level("probe_state", state)
        self.level("lookahead_hit", lookahead_hit)
        self._probing += state == P1

    def reading(self, state: int, probed: int) -> None:
        """The state of the reader, and the warps that have had their probe."""
        self.level("reader_state", state)
        self.level("probed", probed)

    def show_ready(self, bit: int) -> None:
        """A row becomes ready: 1 by a fill, 2 by the merge slot."""
        self.level("row_ready", bit)
