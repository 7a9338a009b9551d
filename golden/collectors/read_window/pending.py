"""Dependences by pending bits and issue distances, without any code (docs/schemes/modern.md, section 9)."""

from __future__ import annotations

from typing import Final

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.read_window.guard import Guard
from warpfile.golden.collectors.read_window.held_beat import HeldBeat
from warpfile.golden.entry import Entry
from warpfile.spec.schemes.modern import ReadWindowConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.trace import Port

_ALU_PORT = 0
_NO_PORT: Final = int(Port.NONE)
#: Warp, first destination, their number.
Issue = tuple[int, int, int]


@mypyc_attr(allow_interpreted_subclasses=True)
class PendingGuard(Guard):
    """Pending registers and tokens of every warp, and the last fixed beats, that of the tick before first."""

    def __init__(self, cfg: ReadWindowConfig) -> None:
        super().__init__(cfg)
        self._fixed, self._variable = cfg.fixed_distance, cfg.variable_distance
        self._registers = [0] * cfg.warps
        self._tokens = [0] * cfg.warps
        self._recent: list[Issue | None] = [None] * (max(self._fixed, self._variable) + 1)
        self._reading: list[list[HeldBeat]] = [[] for _ in range(cfg.warps)]

    def blocked(self, warp: int, head: Entry) -> bool:
        """See :class:`Guard`."""
        if head.touched & self._registers[warp] or head.tokens & self._tokens[warp]:
            return True
        if head.dests and self._unread(warp) & head.dests:
            return True
        return self._is_near(warp, head) or super().blocked(warp, head)

    def _unread(self, warp: int) -> int:
        """Registers that beats of variable latency have yet to read."""
        registers = 0
        for beat in self._reading[warp]:
            for slot, register in enumerate(beat.entry.beat.sources):
                registers |= (beat.unread >> slot & 1) << register
        return registers

    def _is_near(self, warp: int, head: Entry) -> bool:
        """Whether a fixed beat that wrote what the head names issued too few ticks ago."""
        reads, distance = self._reads(head), self._fixed if head.port == _ALU_PORT else self._variable
        for age, issue in enumerate(self._recent, 1):
            if issue is None or issue[0] != warp:
                continue
            for number in range(issue[2]):
                bit, later = 1 << issue[1] + number, max(number - 1, 0)
                if (reads & bit and age < distance + later) or (head.dests & bit and age < self._variable + later):
                    return True
        return False

    def _reads(self, head: Entry) -> int:
        """Registers that a head beat reads in a unit, whether or not it executes."""
        registers = 0
        if head.beat.port != _NO_PORT:
            for register in head.beat.sources:
                registers |= 1 << register
        return registers

    def issued(self, warp: int, head: Entry) -> None:
        """Set wins over clear: this comes after the results of the cycle."""
        super().issued(warp, head)
        if head.executes:
            self._tokens[warp] |= head.beat.token_writes
            if head.needs_unit and head.port != _ALU_PORT:
                self._registers[warp] |= head.dests

    def entered(self, beat: HeldBeat) -> None:
        """Its sources must stay until they are got."""
        if beat.entry.port != _ALU_PORT and beat.unread:
            self._reading[beat.warp].append(beat)

    def got(self, beat: HeldBeat) -> None:
        """A source may be written now."""
        if not beat.unread:
            self._reading[beat.warp].remove(beat)
        self.changed |= 1 << beat.warp

    def accepted(self, port: int, result: Result) -> None:
        """Its register, unless its latency is fixed, and its tokens are there."""
        super().accepted(port, result)
        if result.writes and port != _ALU_PORT:
            self._registers[result.warp] &= ~(1 << result.register)
        self._tokens[result.warp] &= ~result.tokens

    def tick(self, warp: int, head: Entry | None) -> None:
        """See :class:`Guard`. A warp that is near a recent beat may be further from it now."""
        for issue in self._recent:
            if issue is not None:
                self.changed |= 1 << issue[0]
        newest: Issue | None = None
        if head is not None and head.needs_unit and head.port == _ALU_PORT and head.dests:
            newest = warp, head.beat.dest, head.beat.dest_count
        self._recent = [newest, *self._recent[:-1]]
