"""What becomes of a result behind X: W0 and W1 (docs/schemes/larf.md, section 10)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.copies import NEVER_WRITTEN, Latest, written
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.completions import Completions
from warpfile.golden.rf.renaming import RenamingTable
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.counts import NO_ROW
from warpfile.golden.rf.shared.mapping import Mapping
from warpfile.golden.rf.shared.merging import MergeSlot
from warpfile.golden.rf.shared.probes import Probes
from warpfile.spec.schemes.shared import ALLOCATE, IN_PLACE, RENEW, SharedConfig
from warpfile.spec.stimulus import Result

#: What is to be done with a result. Of these ``FILL``, ``ALONE`` and ``UNSHARED`` are in place.
FILL: Final = 0
ALONE: Final = 1
UNSHARED: Final = 2
RENEWED: Final = 3
ALLOCATED: Final = 4
MERGED: Final = 5
_SHOWN: Final = {FILL: IN_PLACE, ALONE: IN_PLACE, UNSHARED: IN_PLACE, RENEWED: RENEW, ALLOCATED: ALLOCATE}
_NEVER: Final = 1 << 62


class Whole:
    """What lanes outside the mask of a result get: words, and what they hold as a copy."""

    __slots__ = ("copy", "words")

    def __init__(self, words: int, copy: int) -> None:
        self.words, self.copy = words, copy


class Deciding:
    """A result in W0, and the row that its register was mapped to. ``whole`` after M0, which it is from ``start`` on.

    ``code``: what is to be done in this cycle; ``asks``: it was to merge in a cycle before, and has not been served.
    """

    __slots__ = ("asks", "code", "old", "result", "start", "whole")

    def __init__(self, result: Result, old: int) -> None:
        self.result, self.old = result, old
        self.code, self.start, self.asks = ALLOCATED, _NEVER, False
        self.whole: Whole | None = None


class Storing:
    """A result in W1, and its row. ``fills``: it is what the row waits for."""

    __slots__ = ("fills", "result", "row", "whole")

    def __init__(self, result: Result, row: int, whole: Whole | None, fills: bool) -> None:
        self.result, self.row, self.whole, self.fills = result, row, whole, fills


class Stages:
    """Per write-back port what is in W0 and W1; ``observe``, ``store``, then ``decide``, once per cycle each.

    ``needs_old``: some result in W0 changes what its register is mapped to, or ends its entry. ``asking``: entries that
    results write in this cycle. ``fails``: one found no row.
    """

    def __init__(
        self,
        cfg: SharedConfig,
        banks: Banks,
        table: RenamingTable,
        mapping: Mapping,
        contents: Contents,
        slot: MergeSlot,
        completions: Completions,
        probes: Probes,
    ) -> None:
        self._ports = list(range(cfg.write_ports - 1, -1, -1))
        self.deciding: list[Deciding | None] = [None] * cfg.write_ports
        self.storing: list[Storing | None] = [None] * cfg.write_ports
        self.asking: list[tuple[int, int]] = []
        self.fails = self.needs_old = False
        self.latest = Latest(cfg)
        self._banks, self._table, self._mapping, self._counts = banks, table, mapping, mapping.counts
        self._contents, self._slot, self._completions, self._probes = contents, slot, completions, probes

    @property
    def empty(self) -> bool:
        """Whether there is nothing in W0 and W1."""
        return all(self.deciding[port] is None and self.storing[port] is None for port in self._ports)

    def observe(self, cycle: int) -> None:
        """Probes at the beginning of a cycle, and what is to be done in it."""
        occupied, storing, self.needs_old = 0, 0, False
        for port in self._ports:
            storing |= (self.storing[port] is not None) << port
            deciding = self.deciding[port]
            if deciding is not None:
                occupied |= 1 << port
                deciding.code = code = self._code(deciding, cycle)
                self.needs_old |= code in (UNSHARED, RENEWED)
        self._probes.level("deciding", occupied)
        self._probes.level("storing", storing)

    def _code(self, deciding: Deciding, cycle: int) -> int:
        counts, row = self._counts, deciding.old
        if deciding.asks:
            return MERGED
        if row == NO_ROW:
            return ALLOCATED
        if not counts.ready[row]:
            return FILL
        if deciding.whole is not None and deciding.start > cycle:
            return MERGED  # M1
        if counts.count[row] > 1:
            return RENEWED if deciding.result.full or deciding.whole is not None else MERGED
        return UNSHARED if counts.marked[row] else ALONE

    def store(self, cycle: int) -> None:
        """The banks serve the results in W1, and those in W0 that want to merge."""
        for port in self._ports:
            storing = self.storing[port]
            if storing is not None and self._banks.claim(cycle, self._counts.bank(storing.row)):
                self._store(storing)
                self._probes.show("stored", 1 << port)
                self._completions.stored(cycle, port, storing.result)
                self.storing[port] = None
        for port in self._ports:
            deciding = self.deciding[port]
            if deciding is None:
                continue
            if deciding.asks:
                self._read(cycle, port, deciding)
            elif deciding.code == MERGED:
                deciding.asks = deciding.whole is None

    def _read(self, cycle: int, port: int, deciding: Deciding) -> None:
        """M0."""
        result, row = deciding.result, deciding.old
        if self._banks.claim(cycle, self._counts.bank(row)):
            copy = self._contents.copy(row, result.warp, result.register)
            deciding.whole, deciding.start = Whole(self._contents.words[row], copy), cycle + 2
            deciding.asks = False
            self._probes.show("merge", 1 << port)

    def _store(self, storing: Storing) -> None:
        result, row, contents, whole = storing.result, storing.row, self._contents, storing.whole
        held = contents.copy(row, result.warp, result.register) if whole is None else whole.copy
        if whole is not None:
            contents.write(row, whole.words, -1)
        contents.write(row, result.data or 0, result.mask)
        copy = written(held, self.latest.change(result), result)
        contents.finds(row, result.warp, result.register, copy)
        contents.learn(result.row, result.data)
        if storing.fills:
            self._counts.becomes_ready(row)
            self._probes.show_ready(1)

    def decide(self, acts: bool) -> None:
        """Results move from W0 to W1; ``acts``: an access changes mappings in this cycle."""
        self.asking.clear()
        changed = acts
        for port in self._ports:
            deciding = self.deciding[port]
            if deciding is None or self.storing[port] is not None or self._slot.busy(deciding.old):
                continue
            if deciding.code in (FILL, ALONE):
                self._move(port, deciding, deciding.old)
            elif deciding.code == MERGED:
                continue
            elif changed:
                self._probes.show("search_wait", 1 << port)
            else:
                changed = True
                self._probes.level("search", 1 << port)
                self._change(port, deciding)

    def _change(self, port: int, deciding: Deciding) -> None:
        result = deciding.result
        if deciding.code == UNSHARED:
            self._mapping.end(deciding.old)
            self._move(port, deciding, deciding.old)
            return
        row = self._counts.fresh(self._table.memory(result.warp, result.register))
        if row == NO_ROW:
            self.fails = True
            return
        self.asking.append((result.warp, result.register))
        self._mapping.change(result.warp, result.register, deciding.old, row)
        if deciding.code == ALLOCATED and not result.full:
            deciding.whole = Whole(0, NEVER_WRITTEN)
        self._move(port, deciding, row)

    def _move(self, port: int, deciding: Deciding, row: int) -> None:
        self.deciding[port] = None
        self.storing[port] = Storing(deciding.result, row, deciding.whole, deciding.code == FILL)
        self._probes.decision(port, _SHOWN[deciding.code], row)
