"""The frame: warp slots, instruction buffers, scoreboard and barriers (docs/machine.md, sections 3, 4 and 7)."""

from __future__ import annotations

from collections import deque
from typing import cast

from warpfile.golden.arbiter import lowest
from warpfile.golden.collectors.contract import Collectors, ForwardingCollectors, Heads
from warpfile.golden.entry import Entry
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.stimulus import Result


class Frame(Heads):
    """State of all warp slots, as masks with one bit per slot, and the clock edges that change it.

    ``residents`` counts those that are resident. ``clear`` and ``unitless`` (head beats that need no collector unit)
    follow from the rest; ``refresh`` brings them up to date for the warps marked in ``stale``. ``port_of``: by warp
    slot, the execution port of every class of units.
    """

    def __init__(self, cfg: Config) -> None:
        self.port_of = [cfg.port_of] * cfg.warps
        self._depth = cfg.buffer_depth
        self._forwards = cfg.asks.forwards > 0
        self.resident = self.residents = 0
        self.buffered = 0
        self.decode_ready = (1 << cfg.warps) - 1
        self.waiting = 0
        self.clear = 0
        self.unitless = 0
        self.stale = 0
        self.buffers: list[deque[Entry]] = [deque() for _ in range(cfg.warps)]
        self.registers = [0] * cfg.warps
        self._most = cfg.pending_entries  # 0: any number
        self._entries = [list[int]() for _ in range(cfg.warps)]  # what is left of each beat, with ``pending_entries``
        self.tokens = [0] * cfg.warps
        self._cta = [0] * cfg.warps
        self._members = [0] * cfg.cta_slots

    def refresh(self, collectors: Collectors) -> None:
        """Check the head beats of the warps for which something changed at the last clock edge."""
        stale = self.stale | collectors.changed
        self.stale = collectors.changed = 0
        while stale:
            bit = stale & -stale
            stale ^= bit
            warp = bit.bit_length() - 1
            self.clear &= ~bit
            if self.buffered & bit:
                head = self.buffers[warp][0]
                if head.needs_unit:
                    self.unitless &= ~bit
                else:
                    self.unitless |= bit
                if not self._hazard(warp, head, collectors):
                    self.clear |= bit

    def _hazard(self, warp: int, head: Entry, collectors: Collectors) -> bool:
        pending = head.touched & self.registers[warp]
        if pending and self._forwards and not pending & head.dests:
            pending &= ~cast(ForwardingCollectors, collectors).coming(warp, head)
        if pending or head.tokens & self.tokens[warp]:
            return True
        if head.dests and (head.dests & collectors.unread(warp) or self._full(warp)):
            return True
        if not head.drains:
            return False
        return collectors.collecting(warp) or (head.empties and bool(self.registers[warp] or self.tokens[warp]))

    def _full(self, warp: int) -> bool:
        return self._most > 0 and len(self._entries[warp]) == self._most

    def release(self, result: Result) -> None:
        """A result that completes frees its register and its tokens."""
        warp = result.warp
        if result.writes:
            bit = 1 << result.register
            assert self.registers[warp] & bit, f"R{result.register} of warp {warp} is released but not pending"
            self.registers[warp] ^= bit
            if self._most:
                left = [entry & ~bit for entry in self._entries[warp]]
                self._entries[warp] = [entry for entry in left if entry]
        assert not result.tokens & ~self.tokens[warp], f"a token of warp {warp} is released but not pending"
        self.tokens[warp] ^= result.tokens
        self.stale |= 1 << warp

    def opening(self) -> int:
        """Warps whose barrier opens in this cycle: every resident warp of their CTA waits."""
        opening, arrived = 0, self.waiting
        while arrived:
            members = self._members[self._cta[lowest(arrived)]]
            arrived &= ~members
            if members & ~self.waiting == 0:
                opening |= members
        return opening

    def release_barriers(self) -> None:
        """End the wait of every CTA whose warps all wait. To be called before this cycle's issue is noted."""
        self.waiting ^= self.opening()

    def issue(self, warp: int) -> Entry:
        """Take the head beat of a warp out of its buffer and note what it reserves or ends."""
        buffer, bit = self.buffers[warp], 1 << warp
        entry = buffer.popleft()
        self.decode_ready |= bit
        if not buffer:
            self.buffered ^= bit
        if entry.executes:
            self._reserve(warp, entry)
        if entry.barrier:
            self.waiting |= bit
        if entry.exits:
            assert not buffer, f"warp {warp} exits before its last beat"
            self.resident ^= bit
            self.residents -= 1
            self._members[self._cta[warp]] ^= bit
        self.stale |= bit
        return entry

    def _reserve(self, warp: int, entry: Entry) -> None:
        assert not entry.dests & self.registers[warp], f"warp {warp} reserves a register twice"
        self.registers[warp] |= entry.dests
        if self._most and entry.dests:
            assert not self._full(warp), f"the scoreboard of warp {warp} overflows"
            self._entries[warp].append(entry.dests)
        self.tokens[warp] |= entry.beat.token_writes

    def decode(self, warp: int, beat: Beat) -> None:
        """Put a beat into the buffer of its warp, before this cycle's issue, which makes room in the next cycle."""
        buffer, bit = self.buffers[warp], 1 << warp
        assert self.resident & bit, f"a beat arrives for slot {warp}, where no warp is"
        assert self.decode_ready & bit, f"the buffer of warp {warp} overflows"
        buffer.append(Entry(beat, self.port_of[warp]))
        if len(buffer) == self._depth:
            self.decode_ready ^= bit
        if not self.buffered & bit:
            self.buffered |= bit
            self.stale |= bit

    def launch(self, launch: Launch) -> None:
        """Make a slot resident."""
        warp, bit = launch.warp, 1 << launch.warp
        assert not self.resident & bit, f"a warp is launched onto slot {warp}, which is taken"
        assert not (self.registers[warp] or self.tokens[warp]), f"slot {warp} is launched with something pending"
        self.resident |= bit
        self.residents += 1
        self._cta[warp] = launch.cta
        self._members[launch.cta] |= bit
