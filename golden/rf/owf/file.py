"""Register file in which two CTAs share a part of their registers (docs/schemes/owf.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.entry import Entry
from warpfile.golden.rf.owf.location import Sets
from warpfile.golden.rf.owf.owners import Owners
from warpfile.golden.rf.owf.probes import Probes
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.rf.residents import Residents
from warpfile.golden.scheduler.places import Places
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.owf import OwfConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class OwfFile(PlainFile):
    """A plain file that takes the kernel, holds head beats and knows owners.

    ``golden.rf.contract``: ``KernelFile``, ``GatedFile``, ``RankedFile``.
    """

    quiet = True

    def __init__(self, cfg: OwfConfig, layout: ProbeLayout, places: Places | None) -> None:
        self.sets = Sets(cfg)
        super().__init__(cfg, self.sets)
        self.ownership = Owners(cfg.warps)
        self.probes = Probes(layout, self.counters)
        self.residents = Residents()
        self.hold = self.refuses = self.yields = 0
        self.owners = self.sharers = 0
        self.kernel_ready, self.launch_ready = True, False
        self._kernel: Kernel | None = None

    def gate(self, heads: Heads) -> None:
        """See the contract."""
        self.hold = self.yields = self.ownership.holds(heads, self.sets.split)

    def refused(self, warp: int) -> None:
        """See the contract. It refuses nothing."""

    def kernel(self, kernel: Kernel) -> None:
        """See the contract."""
        self._kernel = kernel

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract."""
        accepted = super().accept(cycle, results, valid, store)
        for port in indices(accepted & store):
            result = results[port]
            assert result is not None, f"port {port} has nothing that could be stored"
            self.probes.write(port, result.register >= self.sets.split)
        return accepted

    def issued(self, warp: int, entry: Entry) -> None:
        """See the contract."""
        if entry.executes:
            self.probes.sources(entry.beat.sources, self.sets.split)
        if self.ownership.issued(warp, entry.exits):
            self.probes.taken()
        if entry.exits:
            self.residents.exited()

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.ownership.launched(launch.warp, launch.cta)
        self.residents.launched()

    def edge(self, cycle: int) -> int:
        """See the contract; then owners change."""
        word = self.probes.word(self.ownership, self.hold) | super().edge(cycle)
        kernel, self._kernel = self._kernel, None
        if kernel is not None:
            paired = kernel.descriptor["paired_warps"]
            self.sets.kernel(kernel.descriptor["private_registers"], paired)
            self.ownership.kernel(paired)
            self.launch_ready = True
        self.ownership.edge()
        self.residents.edge()
        self.owners = self.ownership.owner
        self.sharers = self.ownership.slots & ~self.owners
        self.kernel_ready = not self.residents.count
        return word
