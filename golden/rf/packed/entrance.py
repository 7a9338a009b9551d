"""X: results in the last cycle but one of their execution (docs/schemes/corf.md, section 5)."""

from __future__ import annotations

from collections.abc import Callable

from warpfile.golden.rf.completions import Completions
from warpfile.golden.rf.contract import Eviction
from warpfile.golden.rf.packed.evictions import Leaving
from warpfile.golden.rf.packed.metadata import Metadata
from warpfile.golden.rf.packed.placement import Wanted
from warpfile.golden.rf.packed.probes import Probes
from warpfile.golden.rf.packed.stages import Reading, Stages
from warpfile.golden.rf.packed.widths import Widths
from warpfile.golden.rf.renaming import Mapped, RenamingTable
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stimulus import Result


class Entrance:
    """Results that have to be stored read the table, and go to T if it is empty; so does an eviction, behind them."""

    def __init__(
        self,
        cfg: PackedConfig,
        table: RenamingTable,
        metadata: Metadata,
        stages: Stages,
        completions: Completions,
        probes: Probes,
    ) -> None:
        self._table, self._metadata, self._stages = table, metadata, stages
        self._completions, self._probes = completions, probes
        self._banks, self._one_bank = cfg.banks, cfg.one_bank
        self.widths = Widths(cfg) if cfg.packing else None
        self._eviction_waits = 1 << cfg.write_ports + cfg.asks.units

    def enter(
        self,
        cycle: int,
        results: list[Result | None],
        valid: int,
        store: int,
        unmapped: Callable[[int, int], bool],
    ) -> int:
        """Of the ``valid`` write-back ports, those whose result is accepted. ``unmapped``: release asks to write it."""
        accepted = 0
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not valid >> port & 1:
                continue
            if not store >> port & 1:
                self._completions.add(cycle, port, result)
                accepted |= 1 << port
            elif self._stages.underway.holds(result.warp, result.register):
                self._probes.show("table_wait", 1 << port)
                self._probes.level("underway_wait", 1 << port)
            elif self._enter(port, result, self.size(result), unmapped):
                accepted |= 1 << port
        return accepted

    def evict(
        self,
        eviction: Eviction,
        results: list[Result | None],
        store: int,
        unmapped: Callable[[int, int], bool],
    ) -> bool:
        """Whether an eviction is taken, behind the results of which those in ``store`` have to be stored."""
        waits = self._stages.underway.holds(eviction.warp, eviction.register)
        if waits:
            self._probes.level("underway_wait", self._eviction_waits)
        if store & 1:
            return False
        if waits or _is_met(eviction, results, store):
            self._probes.show("table_wait", 1)
            return False
        return self._enter(0, Leaving(eviction), eviction.size, unmapped)

    def _enter(self, port: int, result: Result | Leaving, size: int, unmapped: Callable[[int, int], bool]) -> bool:
        warp, register = result.warp, result.register
        found = self._read(warp, register, unmapped)
        if found is None:
            self._probes.show("table_wait", 1 << port)
            return False
        if self._stages.reading[port] is not None:
            return False
        self._probes.size(port, size)
        old, beside = found
        home = (warp if self._one_bank else warp + register) % self._banks
        wanted = Wanted(home, size, old, beside, self._metadata.side[register])
        self._stages.reading[port] = Reading(result, wanted, self._metadata.partner[register])
        return True

    def _read(
        self, warp: int, register: int, unmapped: Callable[[int, int], bool]
    ) -> tuple[Mapped, Mapped | None] | None:
        """Where a register is, and its partner if it has one."""
        partner = self._metadata.partner[register]
        if self._changes(warp, register, unmapped) or (partner >= 0 and self._changes(warp, partner, unmapped)):
            return None
        if partner >= 0:
            return self._table.read_both(warp, register, partner)
        old = self._table.read(warp, register)
        return None if old is None else (old, None)

    def _changes(self, warp: int, register: int, unmapped: Callable[[int, int], bool]) -> bool:
        """Whether a client asks to write this entry."""
        return (warp, register) in self._stages.asking or unmapped(warp, register)

    def size(self, result: Result) -> int:
        """Bytes that a result needs."""
        if self.widths is None:
            return SLICES
        return self.widths.size(result.data or 0, result.mask)


def _is_met(eviction: Eviction, results: list[Result | None], store: int) -> bool:
    """Whether a result of the register has to be stored, too."""
    key = eviction.warp, eviction.register
    for port, result in enumerate(results):
        if result is not None and store >> port & 1 and (result.warp, result.register) == key:
            return True
    return False
