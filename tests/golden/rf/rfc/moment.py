"""One cycle of a run with the register cache, as corner cases look at it."""

from __future__ import annotations

from collections.abc import Iterator

from tests.golden.rf.rfc.invariants import Name, RfcWatcher
from tests.golden.rf.rfc.scenario import lines, queued
from warpfile.golden.arbiter import indices
from warpfile.spec.beat import Beat
from warpfile.spec.environment import Result, Stimulus
from warpfile.spec.schemes.rfc import RfcConfig
from warpfile.spec.trace import Trace


class Moment:
    """One cycle: its probes, the results on the ports, and what was where at its beginning.

    ``units`` has warp and beat of every collector unit, ``heads`` the head beat of every warp, ``lines`` the register
    in every line.
    """

    def __init__(self, watcher: RfcWatcher, stimulus: Stimulus, f: dict[str, int]) -> None:
        self.watcher = watcher
        self.f = f
        self.results = {port: result for port, result in enumerate(stimulus.results) if result is not None}
        self.units = watcher.units
        self.heads = {warp: buffer[0] for warp, buffer in watcher.buffers.items() if buffer}
        placed = watcher.warps_of_places(f)
        entries = max(1, self.cfg.cache_entries)
        self.lines = {line: (placed[line // entries], register) for line, register in lines(self.cfg, f).items()}

    @property
    def cfg(self) -> RfcConfig:
        return self.watcher.rfc

    @property
    def trace(self) -> Trace:
        return self.watcher.workload.trace

    @property
    def issued(self) -> Beat | None:
        return self.heads[self.f["issue_warp"]] if self.f["issue"] else None

    @property
    def checked(self) -> tuple[int, Beat] | None:
        return self.units[self.f["check"].bit_length() - 1] if self.f["check"] else None

    def accepted(self, *probes: str) -> list[Result]:
        """Results that one of the probes shows."""
        ports = 0
        for probe in probes:
            ports |= self.f[probe]
        return [self.results[port] for port in indices(ports)]

    def held_back(self) -> list[Result]:
        return [self.results[port] for port in indices(self.f["write_wait"]) if self.results[port].writes]

    def is_long(self, result: Result) -> bool:
        return self.watcher.is_long(result)

    def line_of(self, result: Result) -> int:
        """The line that has the result's register, -1 if none has."""
        return next((line for line, name in self.lines.items() if name == (result.warp, result.register)), -1)

    def places(self, probe: str) -> dict[int, int]:
        """Warp of every place that a probe shows."""
        warps = self.watcher.warps_of_places(self.f)
        return {place: warps[place] for place in indices(self.f[probe])}

    def reads(self) -> Iterator[tuple[Beat, int, int]]:
        """Beat, slot and line of every hit that is read."""
        for unit in indices(self.f["near_read"]):
            warp, beat = self.units[unit]
            for slot, register in enumerate(beat.sources):
                for line, name in self.lines.items():
                    if name == (warp, register):
                        yield beat, slot, line

    def sharers(self, line: int) -> int:
        """Units that have a source in a line that is pinned."""
        warp, register = self.lines[line]
        return sum(w == warp and register in beat.sources for w, beat in self.units.values())

    def full_queues(self) -> set[int]:
        return {bank for bank, count in enumerate(queued(self.cfg, self.f)) if count == self.cfg.write_queue}

    def home(self, name: Name) -> tuple[int, int]:
        """Bank and row."""
        return self.watcher.home(name)
