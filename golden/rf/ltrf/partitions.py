"""What each place goes through from getting a warp to being let go (docs/schemes/ltrf.md, section 4)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.entry import Entry
from warpfile.golden.rf.ltrf.partition import Partition
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.scheduler.places import Places
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PREFETCH, RECALL, RELEASING, LtrfConfig

_STATES: Final = 6


class Partitions:
    """States of all places, and the memories of warps that have none.

    ``where`` has the places of each state, as masks. ``hold`` are the warps whose place is not open; ``takes`` the
    places that take results in this cycle. ``release`` comes first in a cycle, ``issued`` notes what issues, ``edge``
    is the clock edge; channels are freed behind it.
    """

    def __init__(self, cfg: LtrfConfig, places: Places, seen: Seen) -> None:
        self.parts = [Partition(cfg) for _ in range(cfg.active_warps)]
        self.where = [0] * _STATES
        self.where[EMPTY] = (1 << cfg.active_warps) - 1
        self._states = [EMPTY] * cfg.active_warps
        self.hold = (1 << cfg.warps) - 1
        self.takes = 0
        self.operand = 0
        self._places, self._seen = places, seen
        self._liveness, self._dead_at = bool(cfg.liveness), cfg.hint_at("dead") if cfg.liveness else 0
        self._working_sets = [0] * cfg.warps
        self._livenesses = [0] * cfg.warps
        self._entered = 0  # warps that have executed a PREFETCH
        self._recalled = 0  # places whose warp came back to its interval
        self._spared = False  # the warp that comes back has a PREFETCH next
        self._littered = 0  # empty places with banks that have to be given back
        self._asked = self._released = 0  # places
        self._enters = self._exits = -1  # the place whose PREFETCH or EXIT issues
        self._bits, self._banks = cfg.cache_bank_bits, cfg.interval_registers
        self._at = [seen.at(name) for name in ("place_state", "bank_occupied", "recalled")]
        self._at_free = -1 if cfg.by_banks else seen.at("bank_free")
        self._word: int | None = None

    @property
    def word(self) -> int:
        """Probes of states and banks."""
        if self._word is None:
            states = free = occupied = 0
            for place, part in enumerate(self.parts):
                states |= self._states[place] << 3 * place
                free |= part.free << place * self._banks * self._bits
                occupied |= part.occupied << place * self._banks
            at = self._at
            self._word = states << at[0] | occupied << at[1] | self._recalled << at[2]
            if self._at_free >= 0:
                self._word |= free << self._at_free
        return self._word

    def launched(self, warp: int) -> None:
        """The warp has not executed a PREFETCH."""
        self._entered &= ~(1 << warp)

    def gate(self, heads: Heads) -> None:
        """Look at the head beat of the warp that comes back."""
        self._spared = False
        if self.where[RECALL]:
            warp = self._places.warp[lowest(self.where[RECALL])]
            self._spared = heads.buffered >> warp & 1 != 0 and heads.buffers[warp][0].beat.pseudo

    def release(self, asked: int) -> int:
        """Note the places that are to be let go, and return those that are."""
        self._asked = asked
        self.takes &= ~asked
        for place in indices(asked & self.where[RELEASING]):
            part = self.parts[place]
            if not (part.occupied or part.moves):
                self._released |= 1 << place
        if self._released:
            self._seen.show("released_place", self._released)
        return self._released

    def issued(self, warp: int, entry: Entry) -> None:
        """What a beat makes of its warp's registers."""
        place, beat = self._places.place[warp], entry.beat
        part = self.parts[place]
        if entry.exits:
            self._exits = place
        elif beat.pseudo:
            self._enters = place
            self._entered |= 1 << warp
            self._seen.show("enter", 1 << place, "prefetches")
            self._seen.count("set_writes")
        elif entry.executes:
            if self._liveness:
                part.live = part.live & ~self._dead(entry) | entry.dests
            if beat.long and beat.full:
                part.incoming |= entry.dests

    def _dead(self, entry: Entry) -> int:
        """Sources that nobody reads again in any lane."""
        beat, dead = entry.beat, 0
        if beat.converged and beat.hints:
            for slot, register in enumerate(beat.sources):
                if beat.hints >> self._dead_at + slot & 1:
                    dead |= 1 << register
        return dead

    def edge(self) -> None:
        """All places do what their states say, as they were when the cycle began."""
        empty, recall, prefetch, moving, opened, releasing = self.where
        ready = empty & ~self._littered & self._places.taken
        if empty:
            self._seen.count("empty_cycles", empty.bit_count())
        if recall | prefetch | moving:
            self._seen.count("moving_cycles", (recall | prefetch | moving).bit_count())
            self._move(recall, prefetch, moving)
        if releasing | self._littered:
            self._give_back(releasing)
        if ready:
            self._start(lowest(ready))
        if opened & self._asked:
            self._save(lowest(opened & self._asked))
        if self._enters >= 0:
            self._enter(self._enters, PREFETCH)
            self._enters = -1
        if self._exits >= 0:
            self._leave(self._exits)
            self._exits = -1
        self._asked = self._released = 0
        self.takes = self.where[OPEN]

    def _enter(self, place: int, state: int) -> None:
        bit, before = 1 << place, self._states[place]
        self.where[before] ^= bit
        self.where[state] ^= bit
        self._states[place] = state
        if OPEN in (before, state):
            self.hold ^= 1 << self._places.warp[place]
        self._word = None

    def _move(self, recall: int, prefetch: int, moving: int) -> None:
        for place in indices(moving):
            self._step(place)
        if recall:
            place = lowest(recall)
            warp = self._places.warp[place]
            self._begin(place, 0 if self._spared else self._working_sets[warp], False)
            self.parts[place].live = self._livenesses[warp]
        if prefetch:
            place = lowest(prefetch)
            self._begin(place, self.operand, True)
            self._working_sets[self._places.warp[place]] = self.operand
            self._seen.count("kept_registers", (self.operand & self.parts[place].cached).bit_count())

    def _begin(self, place: int, working: int, prefetches: bool) -> None:
        """The interval is known. Of two that begin in a cycle the one with the operand is observed."""
        part = self.parts[place]
        part.working = working
        self._recalled = self._recalled & ~(1 << place) | (not prefetches) << place
        if prefetches or not self.where[PREFETCH]:
            self._seen.show("working_set", working)
        self._enter(place, MOVING)

    def _step(self, place: int) -> None:
        """A register leaves its bank, or one takes a bank, or all is done."""
        part, seen = self.parts[place], self._seen
        before = part.pending
        if part.cached & ~part.working:
            register, self._word = part.step_out(), None
            moves = part.pending != before
            seen.step("step_out", place, register, moves)
            seen.count("prefetch_backs" if moves else "unsaved_steps")
        elif part.working & ~part.cached:
            seen.fails |= part.full
            register, self._word = part.step_in(), None
            moves = part.pending != before
            seen.step("step_in", place, register, moves)
            fill = "refetch_fills" if self._recalled >> place & 1 else "prefetch_fills"
            seen.count(fill if moves else "dead_fills")
        elif not part.moves:
            self._enter(place, OPEN)

    def _give_back(self, releasing: int) -> None:
        """Of every place that has none or loses its warp, the lowest bank is free again."""
        for place in indices(releasing | self._littered):
            part, bit = self.parts[place], 1 << place
            if part.occupied:
                part.give(lowest(part.occupied))
                self._seen.show("given_back", bit)
                self._word = None
                if not part.occupied:
                    self._littered &= ~bit
            elif self._released & bit:
                part.clear()
                self._enter(place, EMPTY)

    def _start(self, place: int) -> None:
        """A place begins with the warp that it got."""
        self._seen.show("start", 1 << place)
        self._seen.count("set_reads", 2 if self._liveness else 1)
        if self._entered >> self._places.warp[place] & 1:
            self._seen.count("refetches")
            self._enter(place, RECALL)
        else:
            part = self.parts[place]
            part.working = part.live = 0
            self._enter(place, OPEN)

    def _save(self, place: int) -> None:
        """A place begins to be released."""
        part, seen = self.parts[place], self._seen
        part.release()
        self._livenesses[self._places.warp[place]] = part.live
        seen.show("save", 1 << place)
        seen.show("save_set", part.pending, "release_backs")
        seen.count("unsaved_releases", (part.occupied.bit_count() - part.pending.bit_count()))
        if self._liveness:
            seen.show("live_set", part.live)
            seen.count("set_writes")
        self._enter(place, RELEASING)

    def _leave(self, place: int) -> None:
        """The warp has ended."""
        part = self.parts[place]
        part.clear()
        if part.occupied:
            self._littered |= 1 << place
        self._enter(place, EMPTY)

    def free(self, freed: Iterable[int]) -> None:
        """Channels do not work for these places any more, one each."""
        for place in freed:
            self.parts[place].works -= 1
