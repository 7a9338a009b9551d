"""The reader: addresses of head loads, from banks without another request (docs/schemes/larf.md, section 19)."""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import first_from, indices
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.rf.banks import Banks
from warpfile.golden.rf.renaming import UNMAPPED, RenamingTable
from warpfile.golden.rf.shared.contents import Contents
from warpfile.golden.rf.shared.counts import Counts
from warpfile.golden.rf.shared.probes import Probes
from warpfile.spec.beat import Beat
from warpfile.spec.schemes.las import ASK, DATA, NO_READER, READ, READ_CYCLES
from warpfile.spec.schemes.shared import LOAD, SharedConfig

NO_REGISTER: Final = -1


class HeadLoad:
    """The load that is read for: its warp, the low register of its address, the offset's low half, its built lanes."""

    __slots__ = ("lanes", "offset", "register", "warp")

    def __init__(self, warp: int, register: int, offset: int, lanes: int) -> None:
        self.warp, self.register, self.offset, self.lanes = warp, register, offset, lanes


class Reader:
    """``watch`` before the first cycle. In a cycle ``choose``, ``ask`` in the place of the access port, if it does not
    ask, and ``read`` behind all others at the banks. ``state`` changes at the ``edge``. In ``DATA``, ``load`` has been
    read, and its register holds ``words``.
    """

    _heads: Heads

    def __init__(
        self, cfg: SharedConfig, table: RenamingTable, banks: Banks, counts: Counts, contents: Contents, probes: Probes
    ) -> None:
        self.state = self._next = NO_READER
        self.load = self._chosen = HeadLoad(0, 0, 0, 0)
        self.words = 0
        self._table, self._banks, self._counts, self._contents, self._probes = table, banks, counts, contents, probes
        self._warps, self._built = cfg.warps, (1 << cfg.lanes) - 1
        self._at_access, self._at_registers = cfg.hint_at("access"), cfg.hint_at("address_registers")
        self._at_offset = cfg.hint_at("address_offset")
        self._probed = self._marked = 0
        self._pointer = 0
        self._place = UNMAPPED
        self._left = 0  # cycles in which it may ask its bank

    def watch(self, heads: Heads) -> None:
        """Where the head beats are."""
        self._heads = heads

    def register(self, beat: Beat) -> int:
        """The low register of the address of a load that may be shared; ``NO_REGISTER`` of any other beat."""
        hints = beat.hints
        if hints >> self._at_access & 3 != LOAD or not hints >> self._at_registers & 3 or not beat.sources:
            return NO_REGISTER
        return beat.sources[0]

    def offset(self, beat: Beat) -> int:
        """What is added to it."""
        return beat.hints >> self._at_offset & (1 << 32) - 1

    def mark(self, warp: int) -> None:
        """The head load of this warp has its probe."""
        self._marked |= 1 << warp

    def choose(self) -> None:
        """The next load, if there is room for one; all of it by registered state."""
        self._probes.reading(self.state, self._probed)
        if self.state not in (NO_READER, DATA):
            return
        candidates = self._candidates()
        self._next = ASK if candidates else NO_READER
        if candidates:
            warp = first_from(candidates, self._pointer)
            self._pointer = (warp + 1) % self._warps
            beat = self._heads.buffers[warp][0].beat
            self._chosen = HeadLoad(warp, self.register(beat), self.offset(beat), beat.mask & self._built)
            self.mark(warp)

    def _candidates(self) -> int:
        candidates, heads = 0, self._heads
        for warp in indices(heads.buffered & ~self._probed):
            beat = heads.buffers[warp][0].beat
            register = self.register(beat)
            if register != NO_REGISTER and beat.full and not heads.registers[warp] >> register & 1:
                candidates |= 1 << warp
        return candidates

    def ask(self) -> None:
        """The table is asked as the access port would: behind the results in X and before the sweep."""
        if self.state != ASK:
            return
        found = self._table.read(self.load.warp, self.load.register)
        if found is not None:
            self._place, self._next, self._left = found, READ, READ_CYCLES

    def read(self, cycle: int, free: bool) -> None:
        """The bank is asked, if the probe is ``free``, and serves if no other client has asked it."""
        if self.state != READ:
            return
        if not self._place.mask:
            self._next = NO_READER
            return
        self._left -= 1
        if free and self._banks.claim_read(cycle, self._place.bank):
            self._probes.show("reader_read")
            self.words, self._next = self._contents.words[self._counts.row(self._place)], DATA
        elif not self._left:
            self._probes.show("reader_late")
            self._next = NO_READER

    def edge(self, issued: int) -> None:
        """State changes. Whatever is under way for the warp that ``issued`` a beat is dropped; -1: none did."""
        if self.state in (NO_READER, DATA) and self._next == ASK:
            self.load = self._chosen
        if self.load.warp == issued:
            self._next = NO_READER
        self._probed |= self._marked
        if issued >= 0:
            self._probed &= ~(1 << issued)
        self._marked = 0
        self.state = self._next
