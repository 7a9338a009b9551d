"""A machine that issues two beats of one warp per cycle, as the SM of BOW does: a study, without RTL.

H. Asghari Esfeden, dissertation, UC Riverside 2021, Tab. 3.2. What docs/machine.md says of an issue holds for both; the
second one must have room and no hazard behind the first. It sees the reads that are granted in this cycle.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from warpfile.golden.collectors.contract import Collectors
from warpfile.golden.entry import Entry
from warpfile.golden.machine import Machine, MakeCollectors, MakeFile
from warpfile.golden.scheduler.contract import Scheduler
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.dual import EXITS, ISSUED, DualStimulus
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus


class RoomForTwo(Collectors, Protocol):
    """Collectors that take two beats of a warp in a cycle."""

    def another(self, warp: int, entry: Entry) -> bool:
        """Whether there is room for this beat behind the one that was accepted in this cycle."""


class DualMachine(Machine):
    """See :class:`golden.machine.Machine`; collectors are :class:`RoomForTwo`, around it is a ``DualEnvironment``."""

    def __init__(
        self,
        cfg: Config,
        layout: ProbeLayout,
        scheduler: Callable[[Config], Scheduler],
        collectors: MakeCollectors,
        file: MakeFile,
    ) -> None:
        super().__init__(cfg, layout, scheduler, collectors, file)
        self._room = cast(RoomForTwo, self.collectors)
        self._arriving: Beat | None = None
        self._registers = self._tokens = 0  # pending of the chosen warp, over registered state
        self._second = 0
        self._at_second = layout.width

    def step(self, stimulus: Stimulus) -> int:
        """See :class:`Machine`."""
        assert isinstance(stimulus, DualStimulus)
        self._arriving, self._second = stimulus.beat, 0
        word = super().step(stimulus)
        if stimulus.second is not None:
            self.frame.decode(stimulus.second_warp, stimulus.second)
        return word | self._second << self._at_second

    def _choose(self, candidates: int, room: int) -> int:
        warp = super()._choose(candidates, room)
        if warp >= 0:
            self._registers, self._tokens = self.frame.registers[warp], self.frame.tokens[warp]
        return warp

    def _issue(self, warp: int) -> int:
        first = self.frame.buffers[warp][0]
        events = super()._issue(warp)
        buffer = self.frame.buffers[warp]
        if buffer and buffer[0].beat is not self._arriving and self._follows(warp, first, buffer[0]):
            self._second = 1 << ISSUED | buffer[0].exits << EXITS
            super()._issue(warp)
        return events

    def _follows(self, warp: int, first: Entry, head: Entry) -> bool:
        """Whether the head beat issues in the same cycle as the one before it."""
        if self.frame.waiting >> warp & 1 or self._hazard(warp, first, head):
            return False
        return self._room.another(warp, head) and self.collectors.accept(warp, head)

    def _hazard(self, warp: int, first: Entry, head: Entry) -> bool:
        registers, tokens = self._registers, self._tokens
        if first.executes:
            registers, tokens = registers | first.dests, tokens | first.beat.token_writes
        if head.touched & registers or head.tokens & tokens or head.dests & self.collectors.unread(warp):
            return True
        return head.drains and (self.collectors.collecting(warp) or (head.empties and bool(registers or tokens)))
