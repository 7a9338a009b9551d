"""Parts of every register file behind a renaming table: kernel, residents, kills, sweep (docs/schemes/corf.md)."""

from __future__ import annotations

from collections.abc import Mapping

from mypy_extensions import mypyc_attr

from warpfile.golden.entry import Entry
from warpfile.golden.rf.banks import Access, Banks
from warpfile.golden.rf.completions import Completions
from warpfile.golden.rf.contract import Death, KernelFile, Place, RenamedFile
from warpfile.golden.rf.engine import EnginePort
from warpfile.golden.rf.event_probes import EventProbes
from warpfile.golden.rf.renaming import Mapped, RenamingTable
from warpfile.golden.rf.sweep import Sweep
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.schemes.renamed import RenamedConfig
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class TableFile(RenamedFile, KernelFile):
    """Parts of a register file (:class:`golden.rf.contract.RenamedFile`) that holds no warp and takes the kernel.

    A subclass defines what a register that is unmapped gives up (``_lose``), and calls ``_rest`` at the edge.
    """

    hold = 0
    drives_itself = True

    def __init__(self, cfg: RenamedConfig, probes: EventProbes) -> None:
        self.engines: Mapping[str, EnginePort] = {}
        self.launch_ready = self.died = self.error = False
        self.kernel_ready = self.quiet = True
        self.banks = Banks(cfg)
        self.table = RenamingTable(cfg.banks, cfg.warps, cfg.register_names)
        self.completions = Completions(cfg.write_ports, cfg.gives.lead)
        self.completion = self.completions.completion
        self.sweep = Sweep(self.table, self._lose)
        self._shown = probes
        self._death: Death | None = None
        self._kernel: Kernel | None = None
        self._resident = 0
        self._waited = False

    def _lose(self, mapped: Mapped) -> None:
        """A register is not mapped to this any more."""
        raise NotImplementedError

    @property
    def counters(self) -> dict[str, int]:
        """See the contract."""
        return self._shown.counters

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

    def dies(self, death: Death) -> None:
        """See the contract."""
        self._death = death

    def _give_up(self, sweep: bool, death: bool) -> None:
        """One mapping is given up per cycle, that which the sweep holds before that of a dead register.

        ``sweep`` and ``death`` tell whether each may.
        """
        died, self._death = self._death, None
        self.died = died is not None and death and self.sweep.held is None
        if died is not None and self.died:
            self.table.unmap(died.warp, died.register)
            self._lose(died.mapped)
            self._shown.show("killed")
        self.sweep.step(not self._waited, sweep, self._sweepable())
        self._waited = died is not None and not self.died

    def _sweepable(self) -> int:
        return self.sweep.waiting

    def _may_unmap(self, warp: int, register: int) -> bool:
        """Whether a register that dies has this entry."""
        return self._death is not None and (self._death.warp, self._death.register) == (warp, register)

    def _observe_release(self) -> None:
        """Probes of registered state."""
        self._shown.level("swept", self.sweep.waiting)
        self._shown.level("sweep_register", self.sweep.register)
        self._shown.level("sweep_held", self.sweep.held is not None)
        if self.error:
            self._shown.show("error")

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract. What an access brings is unpacked by who asked."""
        return self.banks.read(cycle, asking, rows, order)

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

    def _change_table(self) -> None:
        """The table and its probes end the cycle."""
        if self.sweep.read:
            self._shown.level("sweep_read", 1)
        if self.sweep.gave_up:
            self._shown.show("sweep_free")
        self._shown.table(self.table.reads, self.table.writes)
        self.table.edge()

    def _start(self, kernel: Kernel) -> None:
        """The kernel was taken in this cycle."""
        self._kernel = None
        self.launch_ready = True

    def _rest(self, accesses: bool, results: bool) -> None:
        """What may come in the next cycle; whether nothing of either is under way."""
        if self._kernel is not None:
            self._start(self._kernel)
        self.kernel_ready = accesses and not (self._resident or self.sweep.waiting)
        self.quiet = accesses and results and not (self.sweep.waiting or self.completions.waits)
