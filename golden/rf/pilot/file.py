"""Register file in two partitions with a pilot warp (docs/schemes/pilot.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Access
from warpfile.golden.rf.engine import OwnEngines
from warpfile.golden.rf.pilot.epochs import Epochs
from warpfile.golden.rf.pilot.homes import Homes
from warpfile.golden.rf.pilot.instant_moves import InstantMoves
from warpfile.golden.rf.pilot.phases import MOVE, PROFILE, Phases
from warpfile.golden.rf.pilot.probes import Probes
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.beat import Beat
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.pilot import PilotConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class PilotFile(PlainFile):
    """A plain file whose accesses take as long as partition and mode say, and which takes part in a kernel's start.

    With ``rename_latency`` it is a :class:`golden.rf.contract.LateFile` that has nothing near.
    """

    quiet = True

    def __init__(self, cfg: PilotConfig, layout: ProbeLayout, places: Places | None) -> None:
        self.homes = Homes(cfg)
        self.phases = Phases(cfg, self.homes)
        self.epochs = Epochs(cfg.epoch, cfg.epoch_threshold)
        self._high, self._low, self._slow = cfg.bank_cycles, cfg.low_cycles, cfg.slow_cycles
        super().__init__(cfg, self.homes, self._length)
        self.probes = Probes(cfg, layout, self.counters)
        self.kernel_ready = self.phases.ready
        self.launch_ready = self.phases.running
        self._issued = self._awaited = self._awaited_before = 0
        self._asked = False
        self._all = (1 << cfg.warps) - 1
        self._late, self._shared = bool(cfg.rename_latency), cfg.bank_ports == "1RW"
        self._at_once = InstantMoves(cfg, self.homes, self.banks) if cfg.remap == "instant" else None

    def _length(self, bank: int, row: int) -> int:
        if not self.homes.is_fast(row):
            return self._slow
        return self._high if self.epochs.high else self._low

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract."""
        accesses, granted, self._asked = self.banks.read(cycle, asking, rows, order), 0, True
        for index, _, _ in accesses:
            self.probes.read(index, self.homes.is_fast(rows[index]), self.epochs.high)
            granted |= 1 << index
        self._note_busy(asking, granted)
        return accesses if self._at_once is None else self._at_once.corrected(cycle, accesses, asking, rows)

    def _note_busy(self, asking: list[int], granted: int) -> None:
        written = {bank for _, bank, _ in self._stored} if self._shared else ()
        for bank, slots in enumerate(asking):
            if slots and not slots & granted and bank not in written:
                self.probes.busy(slots)

    def note(self, beat: Beat) -> int:
        """See the contract."""
        return 0

    def unwritten(self, slots: int, banks: list[int], rows: list[int]) -> int:
        """See the contract. The scoreboard sees to that."""
        return 0

    def look_up(self, warp: int, sources: tuple[int, ...]) -> list[int]:
        """See the contract."""
        self._asked = True
        self.probes.sources(sources, self.homes.table(warp))
        return [-1] * len(sources)

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract. A result is renamed when a bank takes it."""
        accepted = super().accept(cycle, results, valid, store)
        for port, result in enumerate(results):
            if result is None or not result.writes or not accepted >> port & 1:
                continue
            self._awaited -= 1
            if store >> port & 1:
                _, row = self.place(result.warp, result.register)
                hits = self.homes.table(result.warp).hits(result.register)
                self.probes.write(port, self.homes.is_fast(row), self.epochs.high, hits)
        return accepted

    def kernel(self, kernel: Kernel) -> None:
        """See the contract."""
        self.phases.taken(kernel)

    def issued(self, warp: int, entry: Entry) -> None:
        """A beat issues: it counts in its epoch, and its accesses if it is the pilot's."""
        beat, phases = entry.beat, self.phases
        self._issued = 1
        if beat.mask:
            self._awaited += beat.dest_count
            if not self._late:
                self.probes.sources(beat.sources, self.homes.table(warp))
        if phases.state == PROFILE and warp == phases.pilot:
            phases.counts.note(beat)
        if entry.exits:
            phases.exited(warp)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.probes.launch(self.phases.version)
        self.phases.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """See the contract; then kernel and epochs go on."""
        phases, epochs = self.phases, self.epochs
        word = super().edge(cycle)
        if self.own is not None:
            self._move(cycle, self.own)
        word |= self.probes.word(phases, epochs)
        stood, running = phases.held, phases.running
        phases.edge()
        if not running or not phases.running:
            epochs.restart()
        elif not stood:
            epochs.edge(self._issued)
        if self._at_once is not None and phases.adopts:
            self._at_once.change(cycle, phases.resident)
        self._begin()
        return word

    def _move(self, cycle: int, own: OwnEngines) -> None:
        """What is over when this cycle of DRAIN or MOVE is."""
        phases, served = self.phases, own.served[0] if own.served else None
        self.probes.moves(phases, self.epochs.high, self._awaited_before, served)
        phases.drained = not (self._asked or self._awaited_before)
        phases.moved = phases.state == MOVE and phases.mover.edge(cycle, phases.resident, served)

    def _begin(self) -> None:
        """What the next cycle finds."""
        phases = self.phases
        self._issued, self._asked, self._awaited_before = 0, False, self._awaited
        self.kernel_ready, self.launch_ready = phases.ready, phases.running and not phases.held
        self.hold = self._all if phases.held else 0
        if self.own is not None:
            ask = phases.mover.ask(phases.resident) if phases.state == MOVE else None
            self.own.asks["moves"] = {} if ask is None else {0: ask}
