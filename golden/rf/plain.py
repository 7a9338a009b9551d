"""Banks alone, whatever the rule that says where a register lives (docs/machine.md, sections 5 to 7)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from warpfile.golden.completion import Completion
from warpfile.golden.copies import Latest, merged, passed_by
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import RESULTS, Banks, Length
from warpfile.golden.rf.engine import EnginePort
from warpfile.spec.config import Config
from warpfile.spec.ctas import Launch
from warpfile.spec.stimulus import Result


class Located(Protocol):
    """Where registers live: a function of warp, register and a little state, known at any time."""

    def launched(self, warp: int, base: int) -> None:
        """The warp in this slot has its register 0 at place ``base``."""

    def place(self, warp: int, register: int) -> tuple[int, int]:
        """Bank and row of a register of the warp in slot ``warp``."""


class PlainFile:
    """Register file (``golden.rf.contract``) that holds nobody and lets go of every place at once.

    ``length`` says how many cycles an access of a place takes, if that is not ``bank_cycles`` for all.
    """

    hold = 0
    launch_ready = True

    def __init__(self, cfg: Config, location: Located, length: Length | None = None) -> None:
        self.counters = {"bank_writes": 0}
        self.completion = Completion()
        self.banks = Banks(cfg, length)
        self.read = self.banks.read
        self.engines = {engine.name: EnginePort(engine, self.banks) for engine in cfg.asks.engines}
        self.location = location
        self.place = location.place
        self._latest = Latest(cfg)
        # Per port, the cycles in which results complete; kept only where stores differ in length.
        self._completing: list[set[int]] | None = None if length is None else [set() for _ in range(cfg.ports)]
        self._accepted: list[tuple[Result, int]] = []  # results with a register, and whether they are stored

    def release(self, places: int) -> int:
        """Nothing is kept for active warps."""
        return places

    def accept(self, cycle: int, results: Sequence[Result | None], valid: int, store: int) -> int:
        """See the contract; the highest port of a bank wins."""
        if not valid:
            return 0
        if self.banks.shared:
            self.banks.turn(cycle, RESULTS)
        accepted = 0
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not valid >> port & 1:
                continue
            stored = store >> port & 1
            if stored and not self.banks.claim(cycle, *self.place(result.warp, result.register)):
                continue
            accepted |= 1 << port
            last = cycle + self.banks.cycles - 1 if self._completing is None else self._last(cycle, port, result)
            self.completion.add(last, result)
            if result.writes:
                self._accepted.append((result, stored))
        return accepted

    def _last(self, cycle: int, port: int, result: Result) -> int:
        """The cycle in which a result completes where stores differ in length: a port completes one per cycle."""
        assert self._completing is not None
        place = self.place(result.warp, result.register) if result.writes else None
        last = cycle + (self.banks.length(*place) if place else self.banks.cycles) - 1
        taken = {other for other in self._completing[port] if other >= cycle}
        while last in taken:
            last += 1
        self._completing[port] = taken | {last}
        return last

    def issued(self, warp: int, entry: Entry) -> None:
        """A register keeps its place until the next warp comes."""

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self.location.launched(launch.warp, launch.base)
        self._latest.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Whole rows of engines, then the results."""
        if self.banks.writes:
            self.counters["bank_writes"] += self.banks.edge()
        if self._accepted:
            for result, stored in self._accepted:
                self._settle(result, stored)
            self._accepted.clear()
        return 0

    def _settle(self, result: Result, stored: int) -> None:
        """A row that a result passes by is out of date in its lanes."""
        bank, row = self.place(result.warp, result.register)
        rows, before = self.banks.rows[bank], self._latest.change(result)
        if stored:
            self.counters["bank_writes"] += 1
            whole = result.full or rows[row] == before
            rows[row] = result.row if whole else merged(rows[row], before, result.row, result.mask)
        else:
            rows[row] = passed_by(rows[row], before, result.row, result.mask)
