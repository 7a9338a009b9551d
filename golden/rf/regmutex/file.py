"""Register file with a pool of extended registers (docs/schemes/regmutex.md)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.collectors.contract import Heads
from warpfile.golden.entry import Entry
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.rf.regmutex.heads import PseudoHeads
from warpfile.golden.rf.regmutex.location import Sets
from warpfile.golden.rf.regmutex.probes import Probes
from warpfile.golden.rf.regmutex.sections import Sections
from warpfile.golden.rf.residents import Residents
from warpfile.golden.scheduler.places import Places
from warpfile.spec.cta_dispatcher import Launch
from warpfile.spec.probe import ProbeLayout
from warpfile.spec.schemes.regmutex import RegMutexConfig
from warpfile.spec.stimulus import Result
from warpfile.spec.workload import Kernel


@mypyc_attr(allow_interpreted_subclasses=True)
class RegMutexFile(PlainFile):
    """A plain file that takes the kernel (``golden.rf.contract.KernelFile``) and gates ACQ and REL (``GatedFile``)."""

    quiet = True

    def __init__(self, cfg: RegMutexConfig, layout: ProbeLayout, places: Places | None) -> None:
        self.sections = Sections(cfg)
        self.sets = Sets(cfg, self.sections)
        super().__init__(cfg, self.sets)
        self.probes = Probes(cfg, layout, self.counters)
        self.heads = PseudoHeads()
        self.residents = Residents()
        self.hold = self.refuses = self.yields = 0
        self.stray = False
        self.kernel_ready, self.launch_ready = True, False
        self._warps = (1 << cfg.warps) - 1
        self._kernel: Kernel | None = None
        self._draining = 0
        self._strays = False
        self._acquires = False  # of the pseudo-instruction that issued last

    def gate(self, heads: Heads) -> None:
        """See the contract."""
        pseudo, sections = self.heads, self.sections
        pseudo.update(heads)
        self._draining = self._drains(heads) if pseudo.releasing else 0
        self.yields = sections.waiting & sections.closed
        self.hold = self.yields | self._draining
        self.refuses = pseudo.acquiring & ~sections.owners(0) & sections.closed

    def _drains(self, heads: Heads) -> int:
        """Warps whose REL would give back what something under way is for."""
        split, draining = self.sets.split, 0
        for warp in indices(self.heads.releasing & self.sections.owners(self._warps)):
            if heads.registers[warp] >> split:
                draining |= 1 << warp
        return draining

    def refused(self, warp: int) -> None:
        """See the contract."""
        self.sections.refused(warp)
        self.probes.refused(warp)

    def accept(self, cycle: int, results: list[Result | None], valid: int, store: int) -> int:
        """See the contract."""
        accepted = super().accept(cycle, results, valid, store)
        for port in indices(accepted & store):
            result = results[port]
            assert result is not None, f"port {port} has nothing that could be stored"
            _, row = self.place(result.warp, result.register)
            if row >= 0:
                self.probes.write(port, result.register >= self.sets.split)
        return accepted

    def kernel(self, kernel: Kernel) -> None:
        """See the contract."""
        self._kernel = kernel

    def operand(self, operand: int) -> None:
        """See the contract. It must give what the drain class gave."""
        self._strays |= operand != self._acquires

    def issued(self, warp: int, entry: Entry) -> None:
        """See the contract."""
        if entry.beat.pseudo:
            self._pseudo(warp)
        elif entry.executes:
            self.probes.sources(entry.beat.sources, self.sets.split)
            self._strays |= self.sections.lacks(warp) and entry.touched >> self.sets.split != 0
        if entry.exits:
            self.sections.exited(warp)
            self.residents.exited()
        self.heads.issued(warp)

    def _pseudo(self, warp: int) -> None:
        self._acquires = bool(self.heads.acquiring >> warp & 1)
        if not self._acquires:
            self.probes.released(self.sections.released(warp))
            return
        section = self.sections.acquired(warp)
        self.probes.acquired(section >= 0)
        if section >= 0:
            self.sets.acquired(warp, section)

    def launched(self, launch: Launch) -> None:
        """See the contract."""
        super().launched(launch)
        self.residents.launched()

    def edge(self, cycle: int) -> int:
        """See the contract; then sections change hands."""
        word = self.probes.word(self.sections, self._draining, self.stray) | super().edge(cycle)
        kernel, self._kernel = self._kernel, None
        if kernel is not None:
            self._begin(kernel)
        self.sections.edge()
        self.sets.edge()
        self.residents.edge()
        self.kernel_ready = not self.residents.count
        self.stray |= self._strays
        return word

    def _begin(self, kernel: Kernel) -> None:
        given = kernel.descriptor
        self.sets.kernel(given["base_registers"], given["extended_registers"], given["pool"])
        self.sections.kernel(given["sections"])
        self.launch_ready = True
