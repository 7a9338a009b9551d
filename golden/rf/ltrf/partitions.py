"""What each place goes through from getting a warp to being let go (docs/schemes/ltrf.md, section 4).

Its address table has four parts, with a step in each per cycle.
"""

from __future__ import annotations

from typing import Final

from warpfile.golden.arbiter import first_from, indices, lowest, ones
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.entry import Entry
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.directory import Directory
from warpfile.golden.rf.ltrf.partition import Partition
from warpfile.golden.rf.ltrf.probes import Probes
from warpfile.golden.scheduler.places import Places
from warpfile.spec.schemes.ltrf import EMPTY, MOVING, OPEN, PARTS, PREFETCH, RECALL, RELEASING, LtrfConfig

_STATES: Final = 6


class Step:
    """A register takes ``bank`` of a place, or leaves its own (-1), and has to be moved."""

    __slots__ = ("bank", "moves", "place", "register")

    def __init__(self, place: int, register: int, bank: int, moves: bool) -> None:
        self.place, self.register, self.bank, self.moves = place, register, bank, moves


def _lowest(registers: int) -> list[int]:
    """The lowest of the registers that each part has, -1 for none."""
    found, parts = [-1] * PARTS, 0
    while registers and parts < PARTS:
        register = lowest(registers)
        registers &= registers - 1
        if found[register % PARTS] < 0:
            found[register % PARTS] = register
            parts += 1
    return found


class Partitions:
    """States of all places, and the memories of warps that have none.

    ``where`` has the places of each state, as masks. ``hold`` are the warps whose place is not open; ``takes`` the
    places that take results in this cycle. ``release`` comes first in a cycle, ``issued`` notes what issues, ``edge``
    is the clock edge. Steps of a cycle are entered into tables and ``directory`` at the edge after it.
    """

    def __init__(self, cfg: LtrfConfig, places: Places, location: Location, probes: Probes) -> None:
        self.parts = [Partition(cfg) for _ in range(cfg.active_warps)]
        self.directory = Directory(cfg, self.parts, probes)
        self.where = [0] * _STATES
        self.where[EMPTY] = (1 << cfg.active_warps) - 1
        self._states = [EMPTY] * cfg.active_warps
        self.hold = (1 << cfg.warps) - 1
        self.takes = 0
        self.operand = 0
        self._places, self._location, self._probes = places, location, probes
        self._liveness, self._dead_at = bool(cfg.liveness), cfg.hint_at("dead") if cfg.liveness else 0
        self._working_sets = [0] * cfg.warps
        self._livenesses = [0] * cfg.warps
        self._entered = 0  # warps that have executed a PREFETCH
        self._recalled = 0  # places whose warp came back to its interval
        self._spared = False  # the warp that comes back has a PREFETCH next
        self._asked = self._released = 0  # places
        self._enters = self._exits = -1  # the place whose PREFETCH or EXIT issues
        banks, count = cfg.interval_registers, cfg.active_warps
        self._banks, self._all_banks = banks, (1 << banks) - 1
        self._first = [place * banks // count for place in range(count)]
        self._steps: list[Step] = []
        self._leaves = 0  # places whose last steps were out
        self._at = [probes.at(name) for name in ("place_state", "bank_occupied", "recalled")]
        self._word: int | None = None

    @property
    def word(self) -> int:
        """Probes of states and banks."""
        if self._word is None:
            states = occupied = 0
            for place in range(len(self.parts) - 1, -1, -1):
                states = states << 3 | self._states[place]
                occupied = occupied << self._banks | self.parts[place].occupied
            at = self._at
            self._word = states << at[0] | occupied << at[1] | self._recalled << at[2]
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
            if not (part.cached or part.works):
                self._released |= 1 << place
        self._probes.released_place.show(self._released)
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
            self._probes.enter.show(1 << place)
            self._probes.counts.set_writes += 1
        elif entry.executes:
            if self._liveness:
                part.live = part.live & ~self._dead(entry) | entry.dests
            if beat.long and beat.full:
                part.incoming |= entry.dests

    def _dead(self, entry: Entry) -> int:
        """Sources that are not read again in any lane."""
        beat, dead = entry.beat, 0
        if beat.converged and beat.hints:
            for slot, register in enumerate(beat.sources):
                if beat.hints >> self._dead_at + slot & 1:
                    dead |= 1 << register
        return dead

    def edge(self) -> None:
        """All places do what their states say, as they were when the cycle began."""
        entered, self._steps = self._steps, []
        self._change()
        self._leaves = 0
        for step in self._steps:
            if step.bank < 0:
                self._leaves |= 1 << step.place
        for step in entered:
            self._enter_step(step)

    def _change(self) -> None:
        empty, recall, prefetch, moving, opened, releasing = self.where
        ready = empty & self._places.taken
        if empty:
            self._probes.counts.empty_cycles += ones(empty)
        if recall | prefetch | moving:
            self._probes.counts.moving_cycles += ones(recall | prefetch | moving)
            self._move(recall, prefetch, moving)
        if releasing:
            self._let_go(releasing)
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
            self._probes.counts.kept_registers += (self.operand & self.parts[place].cached).bit_count()

    def _begin(self, place: int, working: int, prefetches: bool) -> None:
        """The interval is known. Of two that begin in a cycle the one with the operand is observed."""
        part = self.parts[place]
        part.working = working
        self._recalled = self._recalled & ~(1 << place) | (not prefetches) << place
        if prefetches or not self.where[PREFETCH]:
            self._probes.working_set.level(working)
        self._enter(place, MOVING)

    def _step(self, place: int) -> None:
        """Registers leave their banks, or take one, or all is done."""
        part, counts = self.parts[place], self._probes.counts
        leaving, coming = part.cached & ~part.working, part.working & ~part.cached
        if leaving:
            moved, left = self._step_out(place, leaving, part.kept(leaving))
            counts.prefetch_backs += moved
            counts.unsaved_steps += left
        elif coming:
            if not self._leaves >> place & 1:
                self._step_in(place, coming)
        elif not part.works:
            self._enter(place, OPEN)

    def _let_go(self, releasing: int) -> None:
        """Registers of the places that lose their warps leave, until nothing is left."""
        for place in indices(releasing):
            part = self.parts[place]
            if part.cached:
                kept = part.kept(part.cached) & ~part.incoming
                moved, left = self._step_out(place, part.cached, kept)
                self._probes.counts.release_backs += moved
                self._probes.counts.unsaved_releases += left
            elif self._released >> place & 1:
                part.clear()
                self._enter(place, EMPTY)

    def _step_out(self, place: int, leaving: int, kept: int) -> tuple[int, int]:
        """In every part the lowest register that leaves; how many of them have to be saved as ``kept``, and not."""
        moved = left = 0
        for part, register in enumerate(_lowest(leaving)):
            if register >= 0:
                self.parts[place].cached ^= 1 << register
                moves = kept >> register & 1 != 0
                moved, left = moved + moves, left + (not moves)
                self._probes.step_out.level(1 << PARTS * place + part)
                self._note(part, Step(place, register, -1, moves))
        return moved, left

    def _step_in(self, place: int, coming: int) -> None:
        """In every part the lowest register that comes takes the next free bank."""
        here, moved, left = self.parts[place], 0, 0
        for part, register in enumerate(_lowest(coming)):
            if register >= 0:
                moves = here.needed(1 << register) != 0
                here.cached |= 1 << register
                here.dirty &= ~(1 << register)
                moved, left = moved + moves, left + (not moves)
                self._probes.step_in.level(1 << PARTS * place + part)
                self._note(part, Step(place, register, self._take(place), moves))
        counts = self._probes.counts
        counts.dead_fills += left
        if self._recalled >> place & 1:
            counts.refetch_fills += moved
        else:
            counts.prefetch_fills += moved

    def _take(self, place: int) -> int:
        """The next free bank of a place; bank 0 if there is none, which is an error."""
        here = self.parts[place]
        free = self._all_banks & ~here.occupied
        if not free:
            self._probes.fails = True
            return 0
        bank = first_from(free, self._first[place])
        here.occupied |= 1 << bank
        self._word = None
        return bank

    def _note(self, part: int, step: Step) -> None:
        self._probes.step(step.place, part, step.register, step.moves)
        self._steps.append(step)
        self.parts[step.place].works += 1

    def _enter_step(self, step: Step) -> None:
        """Table and directory get to know of a step."""
        place, register, bank = step.place, step.register, step.bank
        part = self.parts[place]
        leaves = bank < 0
        if leaves:
            bank = part.bank[register]
            part.occupied &= ~(1 << bank)
            self._word = None
        else:
            part.bank[register] = bank
        if not step.moves:
            part.works -= 1
            return
        home = self._location.place(self._places.warp[place], register)
        if leaves:
            self.directory.back(place, bank, home)
        else:
            self.directory.fill(place, bank, home)

    def _start(self, place: int) -> None:
        """A place begins with the warp that it got."""
        self._probes.start.show(1 << place)
        self._probes.counts.set_reads += 2 if self._liveness else 1
        if self._entered >> self._places.warp[place] & 1:
            self._probes.counts.refetches += 1
            self._enter(place, RECALL)
        else:
            part = self.parts[place]
            part.working = part.live = 0
            self._enter(place, OPEN)

    def _save(self, place: int) -> None:
        """A place begins to be released; its registers take steps from the next cycle on."""
        live, probes = self.parts[place].live, self._probes
        self._livenesses[self._places.warp[place]] = live
        probes.save.show(1 << place)
        if probes.live_set is not None:
            probes.live_set.level(live)
            probes.counts.set_writes += 1
        self._enter(place, RELEASING)

    def _leave(self, place: int) -> None:
        """The warp has ended, and all banks are free."""
        part = self.parts[place]
        part.clear()
        part.occupied = 0
        self._enter(place, EMPTY)
