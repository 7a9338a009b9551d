"""E: an access changes mappings and the address table (docs/schemes/larf.md, section 9)."""

from __future__ import annotations

from warpfile.golden.rf.renaming import RenamingTable
from warpfile.golden.rf.shared.absorbed import Absorbed, AbsorbedList
from warpfile.golden.rf.shared.access import Access, merges
from warpfile.golden.rf.shared.addresses import AddressTable, Known
from warpfile.golden.rf.shared.counts import NO_ROW
from warpfile.golden.rf.shared.mapping import Mapping
from warpfile.golden.rf.shared.merging import MergeSlot
from warpfile.golden.rf.shared.probes import Probes
from warpfile.golden.rf.shared.search import Inserted, Match
from warpfile.spec.schemes.shared import IDLE, MISS, PERFECT, SharedConfig


class Acting:
    """``act`` at most once per cycle, before everything else. ``acts``: it did; ``asking``: the entries of the renaming
    table that it wrote, as warp and register. ``fails``: it found no row. ``last``: the entry that the last one to act
    inserted, None if it did not.
    """

    def __init__(
        self,
        cfg: SharedConfig,
        table: RenamingTable,
        addresses: AddressTable,
        mapping: Mapping,
        slot: MergeSlot,
        absorbed: AbsorbedList,
        probes: Probes,
    ) -> None:
        self.acts = self.fails = False
        self.asking: list[tuple[int, int]] = []
        self.last: Inserted | None = None
        self._wait = cfg.merge_wait
        self._table, self._addresses, self._mapping = table, addresses, mapping
        self._counts, self._slot, self._absorbed, self._probes = mapping.counts, slot, absorbed, probes

    def begin(self) -> None:
        """A cycle in which nothing has acted."""
        self.acts = False
        self.asking.clear()

    def act(self, access: Access) -> int:
        """The outcome, 0 if the access has to wait."""
        match = self._now(access.match)
        fallback = merges(match) and self._slot.state != IDLE
        if fallback and access.waited < self._wait:
            self._probes.show("merge_busy")
        elif self._may(access, Match(MISS) if fallback else match):
            self._probes.show("lost", match.outcome != access.match.outcome)
            self._probes.show("fallback", fallback)
            return self._do(access, Match(MISS) if fallback else match)
        self._probes.show("act_wait")
        return 0

    def _now(self, match: Match) -> Match:
        """The class that is left of the one that was found."""
        counts, entries = self._counts, self._addresses.entries
        for source in match.sources:
            if entries[source.number] is None:
                return Match(MISS)
            if match.outcome == PERFECT and counts.count[source.row] == counts.most:
                return Match(MISS)
            if match.outcome != PERFECT and not counts.ready[source.row]:
                return Match(MISS)
        return match

    def _may(self, access: Access, match: Match) -> bool:
        if access.old is None or self._slot.busy(self._counts.row(access.old)):
            return False
        if match.outcome != MISS and self._absorbed.full:
            return False
        if match.outcome == PERFECT or self._target(access) != NO_ROW:
            return True
        self.fails = True
        return False

    def _target(self, access: Access) -> int:
        """The row for words that are not there: that of the register, if it is its alone, or a free one."""
        assert access.old is not None, "an access acts without knowing what its register is mapped to"
        old = self._counts.row(access.old)
        if old != NO_ROW and self._counts.count[old] == 1:
            return old
        return self._counts.fresh(self._table.memory(access.sent.warp, access.sent.entry.beat.dest))

    def _do(self, access: Access, match: Match) -> int:
        self.acts = True
        row = match.sources[0].row if match.outcome == PERFECT else self._target(access)
        self._map(access, row)
        self.last = None
        if match.outcome != PERFECT:
            self._insert(access, row)
        if merges(match):
            self._slot.start(match.sources, row, access.asked.lanes)
        if match.outcome != MISS:
            self._absorbed.add(Absorbed(access.sent.warp, access.sent.entry.beat, row))
        self._probes.outcome(match.outcome, row)
        return match.outcome

    def _map(self, access: Access, row: int) -> None:
        assert access.old is not None
        warp, register, old = access.sent.warp, access.sent.entry.beat.dest, self._counts.row(access.old)
        if row == old:
            return
        self.asking.append((warp, register))
        self._mapping.change(warp, register, old, row)

    def _insert(self, access: Access, row: int) -> None:
        asked = access.asked
        self._mapping.end(row)
        self.last = Inserted(self._addresses.pointer, row)
        if self._addresses.insert(Known(asked.base, asked.stride, asked.lanes, row)):
            self._probes.show("evicted")
        self._counts.mark(row, True)
        self._counts.becomes_ready(row, False)
