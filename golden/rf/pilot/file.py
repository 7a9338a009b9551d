"""Register file in two partitions with a pilot warp (docs/schemes/pilot.md)."""

from __future__ import annotations

from collections.abc import Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Access
from warpfile.golden.rf.pilot.epochs import Epochs
from warpfile.golden.rf.pilot.homes import Homes
from warpfile.golden.rf.pilot.phases import PROFILE, Phases
from warpfile.golden.rf.pilot.seen import Seen
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.ctas import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class PilotFile(PlainFile):
    """A plain file whose accesses take as long as partition and mode say, and which takes part in a kernel's start."""

    quiet = True

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout, places: Places | None) -> None:
        self.homes = Homes(cfg)
        self.phases = Phases(cfg, self.homes)
        self.epochs = Epochs(cfg.epoch, cfg.epoch_threshold)
        self._high, self._low, self._slow = cfg.bank_cycles, cfg.low_cycles, cfg.slow_cycles
        super().__init__(cfg, self.homes, self._length)
        self.seen = Seen(cfg, layout, self.counters)
        self.read = self._read
        self.kernel_ready = self.phases.ready
        self.launch_ready = self.phases.running
        self._issued = 0

    def _length(self, bank: int, row: int) -> int:
        if not self.homes.is_fast(row):
            return self._slow
        return self._high if self.epochs.high else self._low

    def _read(self, cycle: int, asking: Sequence[int], rows: Sequence[int], order: Sequence[int]) -> list[Access]:
        accesses = self.banks.read(cycle, asking, rows, order)
        for index, _, _ in accesses:
            self.seen.read(index, self.homes.is_fast(rows[index]), self.epochs.high)
        return accesses

    def accept(self, cycle: int, results: Sequence[Result | None], valid: int, store: int) -> int:
        """See the contract. A result is renamed when a bank takes it."""
        accepted = super().accept(cycle, results, valid, store)
        for port, result in enumerate(results):
            if result is not None and result.writes and accepted & store & 1 << port:
                _, row = self.place(result.warp, result.register)
                hits = self.homes.table(result.warp).hits(result.register)
                self.seen.write(port, self.homes.is_fast(row), self.epochs.high, hits)
        return accepted

    def kernel(self, kernel: Kernel) -> None:
        """See the contract."""
        self.phases.taken(kernel)

    def issued(self, warp: int, entry: Entry) -> None:
        """A beat issues: it counts in its epoch, and its accesses if it is the pilot's."""
        beat, phases = entry.beat, self.phases
        self._issued = 1
        if beat.mask:
            self.seen.sources(beat.sources, self.homes.table(warp))
        if phases.state == PROFILE and warp == phases.pilot:
            phases.counts.note(beat)
        if entry.exits:
            phases.exited(warp)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.seen.launch(self.phases.version)
        self.phases.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """See the contract; then kernel and epochs go on."""
        phases, epochs, issued = self.phases, self.epochs, self._issued
        word = self.seen.word(phases, epochs) | super().edge(cycle)
        running, self._issued = phases.running, 0
        phases.edge()
        if running and phases.running:
            epochs.edge(issued)
        else:
            epochs.restart()
        self.kernel_ready, self.launch_ready = phases.ready, phases.running
        return word
