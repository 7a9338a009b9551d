"""Banks alone, whatever the rule that says where a register lives (docs/machine.md, sections 5 to 7)."""

from __future__ import annotations

from collections.abc import Mapping

from mypy_extensions import mypyc_attr

from warpfile.golden.completion import Completion
from warpfile.golden.copies import Latest, merged, passed_by
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import LAST, RESULTS, Access, Banks, Length
from warpfile.golden.rf.contract import Place, RegisterFile
from warpfile.golden.rf.engine import EnginePort, OwnEngines
from warpfile.golden.rf.location import Located
from warpfile.spec.config import Config
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.stimulus import Result


@mypyc_attr(allow_interpreted_subclasses=True)
class PlainFile(RegisterFile):
    """Register file (``golden.rf.contract``) that holds no warp and lets go of every place at once.

    ``length`` says how many cycles an access of a place takes, if that is not ``bank_cycles`` for all. ``own``: the
    engines of ``cfg.gives``, if there are any. A file that has some says at the end of its ``edge``, after this one,
    what they ask for next.
    """

    hold = 0
    launch_ready = True
    drives_itself = False

    def __init__(self, cfg: Config, location: Located, length: Length | None = None) -> None:
        self._counters = {"bank_writes": 0}
        self.completion = Completion()
        self.banks = Banks(cfg, length)
        self._absent = cfg.gives.absent
        self.engines: Mapping[str, EnginePort] = {
            engine.name: EnginePort(engine, self.banks) for engine in cfg.asks.engines
        }
        self.own: OwnEngines | None = None
        if cfg.gives.engines:
            self.own = OwnEngines(cfg.gives.engines, self.banks)
            self.banks.own = self.own.come
        self.highest_first = True
        self.location = location
        self._latest = Latest(cfg) if cfg.asks.keeps else None
        self._stored: list[tuple[Result, int, int]] = []  # accepted in this cycle, with bank and row
        self._kept: list[Result] = []  # accepted, with a register, and not stored
        # Per port, the cycles in which results complete; kept only where stores differ in length.
        self._completing: list[set[int]] | None = None if length is None else [set() for _ in range(cfg.write_ports)]

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self._counters

    def release(self, places: int) -> int:
        """Nothing is kept for active warps."""
        return places

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract. The read of a register that is absent brings what is in the row."""
        return self.banks.read(cycle, asking, [max(row, ~row) for row in rows] if self._absent else rows, order)

    def place(self, warp: int, register: int) -> Place:
        """See the contract."""
        return self.location.place(warp, register)

    def destination(self, port: int, result: Result) -> Place:
        """Where a result of a port is written."""
        return self.place(result.warp, result.register)

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract; the highest port of a bank wins, or the lowest."""
        if not valid:
            return 0
        if self.banks.shared:
            self.banks.turn(cycle, RESULTS)
        accepted, count = 0, len(results)
        for port in range(count - 1, -1, -1) if self.highest_first else range(count):
            result = results[port]
            if result is None or not valid >> port & 1:
                continue
            if store >> port & 1:
                bank, row = self.destination(port, result)
                if row >= 0 and not self.banks.claim(cycle, bank, row):
                    continue
                self._stored.append((result, bank, row))
            elif result.writes:
                self._kept.append(result)
            accepted |= 1 << port
            last = cycle + self.banks.cycles - 1 if self._completing is None else self._last(cycle, port, result)
            self.completion.add(last, result)
        return accepted

    def _last(self, cycle: int, port: int, result: Result) -> int:
        """The cycle in which a result completes where stores differ in length: a port completes one per cycle."""
        assert self._completing is not None
        place = self.place(result.warp, result.register) if result.writes else None
        last = cycle + (self.banks.length(place[0], max(place[1], ~place[1])) if place else self.banks.cycles) - 1
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
        if self._latest is not None:
            self._latest.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """What engines write, then the results."""
        if self.own is not None:
            self.own.come(cycle, LAST)
            self._counters["bank_writes"] -= self.own.writes  # which the file counts by a name of its own
        if self.banks.writes:
            self._counters["bank_writes"] += self.banks.edge()
        if self._stored:
            self._counters["bank_writes"] += len(self._stored)
            for result, bank, row in self._stored:
                self._store(result, self.banks.rows[bank], row)
            self._stored.clear()
        if self._kept:
            for result in self._kept:
                self._pass_by(result)
            self._kept.clear()
        return 0

    def _store(self, result: Result, rows: list[int], row: int) -> None:
        """Lanes outside a result's mask are merged in the trace's value: right if the row has what was there before."""
        if self._latest is not None:
            before = self._latest.change(result)
            if not result.full and row >= 0 and rows[row] != before:
                rows[row] = merged(rows[row], before, result.row, result.mask)
                return
        if row >= 0:  # what is absent is lost
            rows[row] = result.row

    def _pass_by(self, result: Result) -> None:
        """A row that a result passes by is out of date in its lanes."""
        assert self._latest is not None, "collectors keep a result that do not say that they may (Asks.keeps)"
        bank, row = self.place(result.warp, result.register)
        before = self._latest.change(result)
        if row >= 0:
            rows = self.banks.rows[bank]
            rows[row] = passed_by(rows[row], before, result.row, result.mask)
