"""Machines that issue two beats per cycle: studies, without RTL.

The rules of issue in docs/machine.md hold for both beats; the second one must have room behind the first.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, cast

from warpfile.golden.arbiter import indices, lowest
from warpfile.golden.collectors.contract import Collectors
from warpfile.golden.entry import Entry
from warpfile.golden.frame import Frame
from warpfile.golden.long_frame import LongFrame
from warpfile.golden.machine import Machine, MakeCollectors, MakeFile
from warpfile.golden.scheduler.contract import PlacingScheduler, Scheduler
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.config import Config
from warpfile.spec.dual_issue import EXITS, ISSUED, PORTS, SCHEDULERS, WARP, DualStimulus, own_ports
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.stimulus import Stimulus


class RoomForTwo(Collectors, Protocol):
    """Collectors that take two beats in a cycle, of one warp or of several."""

    def another(self, warp: int, entry: Entry) -> bool:
        """Whether there is room for this beat behind the one that was accepted in this cycle."""


class TwoIssues(Machine):
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

    def _issue_second(self, warp: int) -> None:
        self._second = 1 << ISSUED | self.frame.buffers[warp][0].exits << EXITS | warp << WARP
        Machine._issue(self, warp)


class DualMachine(TwoIssues):
    """Two beats of one warp, as in the SM of BOW (H. Asghari Esfeden, dissertation, UC Riverside 2021, Tab. 3.2).

    The second beat must have no hazard behind the first. It sees the reads that are granted in this cycle.
    """

    _registers = 0  #: pending of the chosen warp, over registered state
    _tokens = 0  #: the same

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
            self._issue_second(warp)
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


class Schedulers:
    """Schedulers that know nothing of each other: slot w belongs to number w mod ``SCHEDULERS``.

    A caller names eligible warps of one of them. Probes of places are those of all, one over the other.
    """

    def __init__(self, cfg: Config, make: Callable[[Config], Scheduler]) -> None:
        self.each = [make(cfg) for _ in range(SCHEDULERS)]
        self.may_issue = 0

    @property
    def places(self) -> Places | None:
        """Of the first one: no register file may keep anything for places here."""
        return self.each[0].places

    @property
    def counters(self) -> dict[str, int]:
        """Sums over all."""
        return {name: sum(one.counters[name] for one in self.each) for name in self.each[0].counters}

    def _of(self, warp: int) -> Scheduler:
        return self.each[warp % SCHEDULERS]

    def choose(self, eligible: int) -> int:
        """See the contract."""
        return self._of(lowest(eligible)).choose(eligible)

    def issued(self, warp: int) -> None:
        """See the contract."""
        self._of(warp).issued(warp)

    def launched(self, warp: int) -> None:
        """See the contract."""
        self._of(warp).launched(warp)

    def exited(self, warp: int) -> None:
        """See the contract."""
        self._of(warp).exited(warp)

    def _placing(self) -> list[PlacingScheduler]:
        return [cast(PlacingScheduler, one) for one in self.each]

    def observe_at(self, layout: ProbeLayout) -> None:
        """See the contract."""
        for one in self._placing():
            one.observe_at(layout)

    def begin(
        self, frame: LongFrame, collecting: Callable[[int], bool], release: Callable[[int], int], yields: int
    ) -> int:
        """See the contract."""
        word = self.may_issue = 0
        for one in self._placing():
            word |= one.begin(frame, collecting, release, yields)
            self.may_issue |= one.may_issue
        return word

    def edge(self) -> None:
        """See the contract."""
        for one in self._placing():
            one.edge()


class TwoSchedulers(TwoIssues):
    """Two schedulers over one operand stage: each issues at most one beat per cycle, of a warp of its own.

    They choose in turn, the first of an even cycle is number 0. What the first one's beat leaves of the units is room
    for the second one's. A beat that changes what others see, a pseudo-instruction or an EXIT, issues in a cycle in
    which the first one has issued none. Each has a port of its own for all arithmetic (``spec.dual_issue.own_ports``).
    Raises ``ValueError`` for other numbers of ports.
    """

    def __init__(
        self,
        cfg: Config,
        layout: ProbeLayout,
        scheduler: Callable[[Config], Scheduler],
        collectors: MakeCollectors,
        file: MakeFile,
    ) -> None:
        if (cfg.ports, cfg.write_ports) != (PORTS, PORTS):
            raise ValueError(f"ports and write_back_ports must be {PORTS} for two schedulers")
        super().__init__(cfg, layout, lambda one: Schedulers(one, scheduler), collectors, file)
        self._slots = [sum(1 << warp for warp in range(first, cfg.warps, SCHEDULERS)) for first in range(SCHEDULERS)]
        self._rest = 0  # warps of the scheduler that has not chosen

    def _make_frame(self, cfg: Config, layout: ProbeLayout) -> Frame:
        frame = super()._make_frame(cfg, layout)
        frame.port_of = [own_ports(cfg, warp) for warp in range(cfg.warps)]
        return frame

    def _pick(self, candidates: int) -> int:
        first, second = self._slots[:: 1 - 2 * (self.cycle & 1)]
        warp = super()._pick(candidates & first)
        if warp >= 0:
            self._rest = candidates & second
            return warp
        self._rest = 0
        return super()._pick(candidates & second)

    def _issue(self, warp: int) -> int:
        alone = _reaches_others(self.frame.buffers[warp][0])
        events = super()._issue(warp)
        for other in indices(self._rest):
            head = self.frame.buffers[other][0]
            if not self._room.another(other, head) or (alone and _reaches_others(head)):
                self._rest ^= 1 << other
        second = super()._pick(self._rest)
        if second >= 0:
            self._issue_second(second)
        return events


def _reaches_others(entry: Entry) -> bool:
    return entry.beat.pseudo or entry.exits
