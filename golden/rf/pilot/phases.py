"""What the file does about a kernel, cycle after cycle (docs/schemes/pilot.md, section 4)."""

from __future__ import annotations

from warpfile.golden.rf.pilot.counts import Counts
from warpfile.golden.rf.pilot.homes import Homes
from warpfile.golden.rf.pilot.moves import Mover
from warpfile.golden.rf.pilot.sorter import Sorter
from warpfile.spec.schemes.pilot import PilotConfig, State
from warpfile.spec.workload import Kernel

# Plain numbers: members of an IntEnum cost a lookup.
IDLE, LOAD, PROFILE, SORT, REMAP, RUN, DRAIN, MOVE = (int(state) for state in State)


class Phases:
    """``state`` as of the last edge, and what belongs to the kernel: hot list, counts, sorter, pilot.

    ``taken``, ``launched`` and ``exited`` note what happens in a cycle, as do ``drained`` and ``moved``; ``edge`` ends
    it.
    ``resident``: warps, as of the last edge. ``adopts``: with this edge they all get the pilot's map.
    """

    def __init__(self, cfg: PilotConfig, homes: Homes) -> None:
        self._piloted, self._listed, self._marker = cfg.piloted, cfg.listed, cfg.marker
        self._size = cfg.fast_registers
        self._remap = cfg.remap
        self.mover = Mover(cfg, homes)
        self.homes = homes
        self.counts = Counts(cfg)
        self.sorter = Sorter(cfg.fast_registers)
        self.state = IDLE
        self.step = 0
        self.pilot = 0
        self.version = 0
        self.resident = 0
        self.adopts = self.drained = self.moved = False
        self._checks_map, self._missed = cfg.checks_map, False
        self._exited: int | None = None
        self._registers = 0
        self._hot: list[int] = []
        self._kernel: Kernel | None = None
        self._pilot_ends = False
        self._launched: int | None = None

    @property
    def ready(self) -> bool:
        """A kernel is taken if it is offered."""
        return not self.resident and self.state != LOAD

    @property
    def running(self) -> bool:
        """A kernel is there and its hot list is installed: epochs go on, and unless ``held`` launches are taken."""
        return self.state > LOAD

    @property
    def held(self) -> bool:
        """Registers move, or are about to: no warp issues, none is launched, and epochs stand."""
        return self.state > RUN or (self.state == REMAP and self._remap == "migrate")

    @property
    def ends(self) -> bool:
        """Another kernel is taken in this cycle."""
        return self._kernel is not None

    @property
    def scanned(self) -> int:
        """The count that goes to the sorter in this cycle."""
        return self.counts.of[self.step] if self.state == SORT else 0

    @property
    def keeps(self) -> bool:
        """SORT ends in this cycle, and the list of the kernel is kept."""
        if not self._checks_map or self.state != SORT or self.step + 1 < min(self._registers, self._marker):
            return False
        return self._missed or self._misses()

    def _misses(self) -> bool:
        """The register that is scanned is in the list, and the pilot has not accessed it."""
        return self.step in self._hot and not self.scanned

    def taken(self, kernel: Kernel) -> None:
        """A kernel is taken."""
        self._kernel = kernel

    def launched(self, warp: int) -> None:
        """A warp is resident from the next cycle."""
        self._launched = warp

    def exited(self, warp: int) -> None:
        """A warp's EXIT issues."""
        self._exited = warp
        self._pilot_ends = self.state == PROFILE and warp == self.pilot

    def edge(self) -> None:
        """The cycle ends."""
        self.counts.edge()
        self.adopts = False
        self._come_and_go()
        kernel, self._kernel = self._kernel, None
        if kernel is not None:
            self._begin(kernel)
        else:
            self._go_on()
        self._pilot_ends = False

    def _come_and_go(self) -> None:
        if self._launched is not None:
            self._settle(self._launched)
            self.resident |= 1 << self._launched
        if self._exited is not None:
            self.resident &= ~(1 << self._exited)
        self._launched = self._exited = None

    def _settle(self, warp: int) -> None:
        """A warp that was launched in this cycle has its version; the first one is the pilot."""
        bit = 1 << warp
        new = self.version and self._remap != "migrate"
        self.homes.versions = self.homes.versions | bit if new else self.homes.versions & ~bit
        if self._piloted and self.state == PROFILE and not self.resident:
            self.pilot = warp

    def _begin(self, kernel: Kernel) -> None:
        self.counts.clear()
        self.sorter.clear()
        self.mover.rewind()
        for table in self.homes.tables:
            table.clear()
        self.version = 0
        self._missed = False
        self._registers = kernel.registers
        names = [kernel.descriptor[f"hot{k}"] if self._listed else self._marker for k in range(self._size)]
        self._hot = [-1 if name == self._marker else name for name in names]
        self._enter(LOAD)

    def _enter(self, state: int) -> None:
        self.state, self.step = state, 0

    def _go_on(self) -> None:
        """What the state does in its cycle, and the next one."""
        if self.state == LOAD:
            self.homes.tables[0].install(self._hot, self.step)
            self._last(self._size, PROFILE if self._piloted else RUN)
        elif self.state == PROFILE:
            if self._pilot_ends:
                self._enter(SORT)
        elif self.state == SORT:
            after = DRAIN if self._remap == "migrate" else REMAP
            keeps, self._missed = self.keeps, self._missed or self._misses()
            self.sorter.take(self.step, self.scanned)
            self._last(min(self._registers, self._marker), RUN if keeps else after)
        elif self.state == DRAIN:
            if self.drained:
                self._enter(MOVE)
        elif self.state == MOVE:
            self._end_move()
        elif self.state == REMAP:
            self._install()

    def _end_move(self) -> None:
        """The old pairs are undone, or the new ones applied."""
        if not self.moved:
            return
        if self.version:
            self._enter(RUN)
        else:
            self.homes.tables[0].clear()
            self._enter(REMAP)

    def _install(self) -> None:
        moves = self._remap == "migrate"
        self.homes.tables[not moves].install(self.sorter.members, self.step)
        if self._last(self._size, MOVE if moves else RUN):
            self.version = 1
            self.adopts = self._remap == "instant"

    def _last(self, cycles: int, state: int) -> bool:
        """One more cycle of a state that lasts so many; whether it was the last one."""
        if self.step + 1 < cycles:
            self.step += 1
            return False
        self._enter(state)
        return True
