"""Golden model of the toy."""

from __future__ import annotations

from warpfile.golden.entry import Entry
from warpfile.golden.rf.banked.file import BankedFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.workload import Kernel


class ToyFile(BankedFile):
    """A plain register file that takes its time."""

    def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, layout, places)
        self.hold = 0
        self.launch_ready = True
        self.started = self.kernel_ready = False
        self.quiet = True
        self.retired = 0
        self._age = 0
        self._rest = 0
        self._pause = 0
        self._held: dict[int, int] = {}
        self._leaving: dict[int, int] = {}
        self._asked: int | None = None
        self._asks: int | None = None
        self._gone: list[int] = []

    def kernel(self, kernel: Kernel) -> None:
        """Its descriptor says how long a sweep takes."""
        self._pause = kernel.descriptor["pause"]

    def operand(self, operand: int) -> None:
        """So many cycles more."""
        assert self._asked is not None
        self._held[self._asked] = operand + 1

    def issued(self, warp: int, entry: Entry) -> None:
        """Note who has an operand coming, and who leaves."""
        super().issued(warp, entry)
        if entry.beat.pseudo:
            self._asks = warp
        if entry.exits:
            self._gone.append(warp)

    def launched(self, launch: Launch) -> None:
        """Then rest."""
        super().launched(launch)
        self._rest = 3

    def edge(self, cycle: int) -> int:
        """Count down what goes on."""
        self._age += 1
        self.started = self.kernel_ready = self._age >= 3
        self._rest = max(0, self._rest - 1)
        self.launch_ready = not self._rest
        self._held = {warp: left - 1 for warp, left in self._held.items() if left > 1}
        self._asked, self._asks = self._asks, None
        if self._asked is not None:
            self._held[self._asked] = 2
        self.retired = sum(1 << warp for warp, left in self._leaving.items() if not left)
        self._leaving = {warp: left - 1 for warp, left in self._leaving.items() if left}
        self._leaving |= dict.fromkeys(self._gone, self._pause)
        self._gone.clear()
        self.hold = sum(1 << warp for warp in self._held)
        self.quiet = not self._held and not self._leaving
        return super().edge(cycle)
