"""Places whose address table has four parts, with a step in each per cycle (docs/schemes/ltrf.md, section 14)."""

from __future__ import annotations

from typing import NamedTuple

from warpfile.golden.arbiter import first_from, indices, lowest
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.ltrf.directory import Directory
from warpfile.golden.rf.ltrf.partitions import Partitions
from warpfile.golden.rf.ltrf.seen import Seen
from warpfile.golden.scheduler.places import Places
from warpfile.spec.schemes.ltrf import EMPTY, OPEN, PARTS, RELEASING, LtrfConfig


class Step(NamedTuple):
    """A register takes ``bank`` of a place, or leaves its own (-1), and has to be moved."""

    place: int
    register: int
    bank: int
    moves: bool


class BankPartitions(Partitions):
    """Steps of a cycle are entered into tables and directory at the edge after it."""

    def __init__(self, cfg: LtrfConfig, places: Places, location: Location, seen: Seen) -> None:
        super().__init__(cfg, places, seen)
        self.directory = Directory(cfg, self.parts, seen)
        self._location = location
        names = range(cfg.register_names)
        self._names = [sum(1 << register for register in names[part::PARTS]) for part in range(PARTS)]
        self._all_banks = (1 << self._banks) - 1
        self._first = [place * self._banks // cfg.active_warps for place in range(cfg.active_warps)]
        self._steps: list[Step] = []
        self._leaves = 0  # places whose last steps were out

    def edge(self) -> None:
        """See :class:`Partitions`."""
        entered, self._steps = self._steps, []
        super().edge()
        self._leaves = 0
        for step in self._steps:
            if step.bank < 0:
                self._leaves |= 1 << step.place
        for step in entered:
            self._enter_step(step)

    def _step(self, place: int) -> None:
        part = self.parts[place]
        leaving, coming = part.cached & ~part.working, part.working & ~part.cached
        if leaving:
            self._step_out(place, leaving, part.kept(leaving), "prefetch_backs", "unsaved_steps")
        elif coming:
            if not self._leaves >> place & 1:
                self._step_in(place, coming)
        elif not part.moves:
            self._enter(place, OPEN)

    def _give_back(self, releasing: int) -> None:
        for place in indices(releasing):
            part = self.parts[place]
            if part.cached:
                kept = part.kept(part.cached) & ~part.incoming
                self._step_out(place, part.cached, kept, "release_backs", "unsaved_releases")
            elif self._released >> place & 1:
                part.clear()
                self._enter(place, EMPTY)

    def _step_out(self, place: int, leaving: int, kept: int, moved: str, unmoved: str) -> None:
        """In every part the lowest register that leaves; ``kept`` have to be saved."""
        for part, names in enumerate(self._names):
            if leaving & names:
                register = lowest(leaving & names)
                self.parts[place].cached ^= 1 << register
                moves = kept >> register & 1 != 0
                self._seen.count(moved if moves else unmoved)
                self._note("step_out", part, Step(place, register, -1, moves))

    def _step_in(self, place: int, coming: int) -> None:
        """In every part the lowest register that comes takes the next free bank."""
        here = self.parts[place]
        fill = "refetch_fills" if self._recalled >> place & 1 else "prefetch_fills"
        for part, names in enumerate(self._names):
            if coming & names:
                register = lowest(coming & names)
                moves = here.needed(1 << register) != 0
                here.cached |= 1 << register
                here.dirty &= ~(1 << register)
                self._seen.count(fill if moves else "dead_fills")
                self._note("step_in", part, Step(place, register, self._take(place), moves))

    def _take(self, place: int) -> int:
        """The next free bank of a place; bank 0 if there is none, which is an error."""
        here = self.parts[place]
        free = self._all_banks & ~here.occupied
        if not free:
            self._seen.fails = True
            return 0
        bank = first_from(free, self._first[place])
        here.occupied |= 1 << bank
        self._word = None
        return bank

    def _note(self, probe: str, part: int, step: Step) -> None:
        self._seen.step(probe, PARTS * step.place + part, step.register, step.moves)
        self._steps.append(step)
        self.parts[step.place].works += 1

    def _enter_step(self, step: Step) -> None:
        """Table and directory get to know of a step."""
        place, register, bank, moves = step
        part = self.parts[place]
        leaves = bank < 0
        if leaves:
            bank = part.bank[register]
            part.occupied &= ~(1 << bank)
            self._word = None
        else:
            part.bank[register] = bank
        if not moves:
            part.works -= 1
            return
        home = self._location.place(self._places.warp[place], register)
        if leaves:
            self.directory.back(place, bank, home)
        else:
            self.directory.fill(place, bank, home)

    def _save(self, place: int) -> None:
        """A place begins to be released; its registers take steps from the next cycle on."""
        live, seen = self.parts[place].live, self._seen
        self._livenesses[self._places.warp[place]] = live
        seen.show("save", 1 << place)
        if self._liveness:
            seen.show("live_set", live)
            seen.count("set_writes")
        self._enter(place, RELEASING)

    def _leave(self, place: int) -> None:
        """The warp has ended, and all banks are free."""
        part = self.parts[place]
        part.clear()
        part.occupied = 0
        self._enter(place, EMPTY)
