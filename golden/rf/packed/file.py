"""Register file whose values take as many bytes of a row as they need (docs/schemes/corf.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.rf.contract import Eviction
from warpfile.golden.rf.packed.entrance import Entrance
from warpfile.golden.rf.packed.metadata import Metadata
from warpfile.golden.rf.packed.probes import Probes
from warpfile.golden.rf.packed.stages import Stages
from warpfile.golden.rf.renaming import Mapped
from warpfile.golden.rf.slices import FreeSlices
from warpfile.golden.rf.table_file import TableFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.contract import SLICES
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class PackedFile(TableFile):
    """Register file (:class:`golden.rf.contract.EvictingFile`) that takes the kernel, and metadata if it uses them."""

    def __init__(self, cfg: PackedConfig, layout: ProbeLayout, places: Places | None) -> None:
        self.probes = Probes(cfg, layout)
        super().__init__(cfg, self.probes)
        self.evicted = False
        self.free = FreeSlices(cfg.banks, cfg.rows, SLICES)
        self.metadata = Metadata(cfg)
        self.stages = Stages(cfg, self.banks, self.table, self.free, self.completions, self.probes)
        self.entrance = Entrance(cfg, self.table, self.metadata, self.stages, self.completions, self.probes)
        self._pairs = cfg.allocation == "pairs"
        self._ports, self._evicts = cfg.write_ports, cfg.asks.evicts
        self._eviction: Eviction | None = None

    def _sweepable(self) -> int:
        """Of the warps that wait for their sweep those of which no eviction is under way."""
        waiting = super()._sweepable()
        return self.stages.underway.others(waiting) if waiting and self._evicts else waiting

    def _lose(self, mapped: Mapped) -> None:
        self.stages.release(mapped)

    def operand(self, operand: int) -> None:
        """See the contract."""
        self.metadata.tell(operand)

    def evicts(self, eviction: Eviction) -> None:
        """See the contract."""
        self._eviction = eviction

    def unmapped(self, warp: int, register: int) -> int:
        """See the contract."""
        return self.stages.unmapped(warp, register)

    def result_size(self, result: Result) -> int:
        """See the contract."""
        return self.entrance.size(result)

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract. Everything that the table does but look-ups happens here."""
        self._observe()
        stages, accepted = self.stages, 0
        stages.store(cycle)
        stages.decide(cycle)
        stages.advance()
        if valid:
            accepted = self.entrance.enter(cycle, results, valid, store, self._may_unmap)
        if self._evicts:
            self._evict(results, valid, store)
        self.completions.step(cycle)
        self._give_up(True, True)
        return accepted

    def _evict(self, results: list[Result | None], valid: int, store: int) -> None:
        """Collectors that keep results give registers back, and pass the file by with others."""
        eviction, self._eviction = self._eviction, None
        self.evicted = eviction is not None and self.entrance.evict(eviction, results, store, self._may_unmap)
        for port in indices(valid & ~store):
            result = results[port]
            if result is not None and result.writes:
                self.stages.pass_by(result)

    def _observe(self) -> None:
        """Probes of registered state."""
        probes, free = self.probes, self.free
        self.stages.observe()
        self._observe_release()
        probes.level("used_rows", free.used_rows)
        self.probes.sums["used_row_cycles"] += free.used_rows
        if self._pairs:
            probes.level("reserved_rows", free.reserved_rows)

    def look_up(self, warp: int, register: int) -> Mapped | None:
        """See the contract."""
        if self.stages.underway.hides(warp, register):
            self.probes.level("underway_wait", 1 << self._ports + warp)
            return None
        return self.table.read(warp, register)

    def unpacked(self, mapped: Mapped, warp: int, register: int) -> int:
        """See the contract."""
        return self.stages.cells.read(mapped)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.stages.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Table, free slices and metadata change."""
        self._change_table()
        self.free.edge()
        self.error |= self.stages.fails
        if self.metadata.edge():
            self.probes.show("told")
        self._rest(True, self.stages.empty)
        return self.probes.edge()

    def _start(self, kernel: Kernel) -> None:
        super()._start(kernel)
        self.metadata.clear()
