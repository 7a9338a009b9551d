"""Register file whose values take as many bytes of a row as they need (docs/schemes/corf.md)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Access, Banks
from warpfile.golden.rf.contract import Death, Eviction, Place
from warpfile.golden.rf.engine import EnginePort
from warpfile.golden.rf.packed.completions import Completions
from warpfile.golden.rf.packed.entrance import Entrance
from warpfile.golden.rf.packed.metadata import Metadata
from warpfile.golden.rf.packed.seen import Seen
from warpfile.golden.rf.packed.stages import Stages
from warpfile.golden.rf.renaming import UNMAPPED, Mapped, RenamingTable
from warpfile.golden.rf.slices import FreeSlices
from warpfile.golden.rf.sweep import Sweep
from warpfile.golden.scheduler.places import Places
from warpfile.spec.contract import SLICES
from warpfile.spec.ctas import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class PackedFile:
    """Register file (:class:`golden.rf.contract.EvictingFile`) that takes the kernel, and metadata if it uses them."""

    hold = 0
    drives_itself = True
    quiet = True

    def __init__(self, cfg: PackedConfig, layout: ProbeLayout, places: Places | None) -> None:
        self.engines: Mapping[str, EnginePort] = {}
        self.launch_ready = self.kernel_ready = self.died = self.evicted = self.error = False
        self.seen = Seen(cfg, layout)
        self.counters = self.seen.counters
        self.banks = Banks(cfg)
        self.read_banks = self.banks.read
        self.table = RenamingTable(cfg.banks, cfg.warps, cfg.register_names, cfg.table_rows, cfg.one_bank)
        self.free = FreeSlices(cfg.banks, cfg.rows, SLICES)
        self.metadata = Metadata(cfg)
        self.completions = Completions(cfg.write_ports)
        self.completion = self.completions.completion
        self.stages = Stages(cfg, self.banks, self.table, self.free, self.completions, self.seen)
        self.entrance = Entrance(cfg, self.table, self.metadata, self.stages, self.completions, self.seen)
        self.sweep = Sweep(self.table, self.stages.release)
        self._pairs = cfg.allocation == "pairs"
        self._ports, self._evicts = cfg.write_ports, cfg.asks.evicts
        self._death: Death | None = None
        self._eviction: Eviction | None = None
        self._kernel: Kernel | None = None
        self._resident = 0

    @property
    def retired(self) -> int:
        """See the contract."""
        return self.sweep.retired

    def release(self, places: int) -> int:
        """Nothing is kept for active warps."""
        return places

    def kernel(self, kernel: object) -> None:
        """See the contract."""
        assert isinstance(kernel, Kernel)
        self._kernel = kernel

    def operand(self, operand: int) -> None:
        """See the contract."""
        self.metadata.tell(operand)

    def dies(self, death: Death) -> None:
        """See the contract."""
        self._death = death

    def evicts(self, eviction: Eviction) -> None:
        """See the contract."""
        self._eviction = eviction

    def unmapped(self, warp: int, register: int) -> int:
        """See the contract."""
        return self.stages.unmapped(warp, register)

    def result_size(self, result: Result) -> int:
        """See the contract."""
        return self.entrance.size(result)

    def accept(self, cycle: int, results: Sequence[Result | None], valid: int, store: int) -> int:
        """See the contract. Everything that the table does but look-ups happens here."""
        self._observe()
        stages, accepted = self.stages, 0
        stages.store(cycle)
        stages.decide(cycle)
        if valid:
            accepted = self.entrance.enter(results, valid, store, self._may_unmap)
        if self._evicts:
            self._evict(results, valid, store)
        self.completions.step(cycle)
        self.died = self._death is not None and self._kill(self._death)
        self.sweep.step(self._death is None and not stages.underway.of(self.sweep.warp))
        self._death = None
        return accepted

    def _evict(self, results: Sequence[Result | None], valid: int, store: int) -> None:
        """Collectors that keep results give registers back, and pass the file by with others."""
        eviction, self._eviction = self._eviction, None
        self.evicted = eviction is not None and self.entrance.evict(eviction, results, store, self._may_unmap)
        for port in indices(valid & ~store):
            result = results[port]
            if result is not None and result.writes:
                self.stages.pass_by(result)

    def _observe(self) -> None:
        """Probes of registered state."""
        seen, free = self.seen, self.free
        self.stages.observe()
        seen.level("swept", self.sweep.waiting)
        seen.level("sweep_register", self.sweep.register)
        seen.level("clearing", self.table.clearing)
        seen.level("used_rows", free.used_rows)
        self.counters["used_row_cycles"] += free.used_rows
        if self._pairs:
            seen.level("reserved_rows", free.reserved_rows)
        if self.error:
            seen.show("error")

    def _may_unmap(self, warp: int, register: int) -> bool:
        """Whether release asks to write this entry."""
        if self._death is not None:
            return self._death.warp == warp and self._death.register == register
        return self.sweep.unmaps(warp, register)

    def _kill(self, death: Death) -> bool:
        if not self.table.claim(death.warp, death.register):
            return False
        self.table.write(death.warp, death.register, UNMAPPED)
        self.stages.release(death.mapped)
        self.seen.show("killed")
        return True

    def look_up(self, warp: int, register: int) -> Mapped | None:
        """See the contract."""
        if self.stages.underway.hides(warp, register):
            self.seen.level("underway_wait", 1 << self._ports + warp)
            return None
        found = self.table.read(warp, (register,))
        return found[0] if found else None

    def read(self, cycle: int, asking: Sequence[int], rows: Sequence[int], order: Sequence[int]) -> list[Access]:
        """See the contract. What an access brings is unpacked by who asked."""
        return self.read_banks(cycle, asking, rows, order)

    def unpacked(self, mapped: Mapped) -> int:
        """See the contract."""
        return self.stages.cells.read(mapped)

    def place(self, warp: int, register: int) -> Place:
        """Bank and row in the table."""
        mapped = self.table.entry(warp, register)
        return mapped.bank, mapped.row

    def issued(self, warp: int, entry: Entry) -> None:
        """A warp that ends is swept."""
        if entry.exits:
            self._resident ^= 1 << warp
            self.sweep.exited(warp)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        self._resident |= 1 << launch.warp
        self.stages.launched(launch.warp)

    def edge(self, cycle: int) -> int:
        """Table, free slices and metadata change."""
        seen, sweep = self.seen, self.sweep
        if sweep.read:
            seen.show("sweep_read")
        if sweep.wrote:
            seen.show("sweep_write")
        seen.table(self.table.reads, self.table.writes)
        self.table.edge()
        self.free.edge()
        self.error |= self.stages.fails
        if self.metadata.edge():
            seen.show("told")
        if self._kernel is not None:
            self._start(self._kernel)
        self.kernel_ready = not (self.table.clearing or self._resident or sweep.waiting)
        self.quiet = not sweep.waiting and self.stages.empty and not self.completions.waits
        return seen.edge()

    def _start(self, kernel: Kernel) -> None:
        self._kernel = None
        self.launch_ready = True
        self.metadata.clear()
        self.sweep.registers = kernel.registers
