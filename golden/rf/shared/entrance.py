"""X: results in the last cycle of their execution (docs/schemes/larf.md, section 10)."""

from __future__ import annotations

from collections.abc import Callable

from warpfile.golden.rf.completions import Completions
from warpfile.golden.rf.renaming import RenamingTable
from warpfile.golden.rf.shared.counts import Counts
from warpfile.golden.rf.shared.probes import Probes
from warpfile.golden.rf.shared.stages import Deciding, Stages
from warpfile.spec.stimulus import Result


class Entrance:
    """Results with a register ask what that is mapped to, and go to W0 if it is empty."""

    def __init__(
        self, table: RenamingTable, counts: Counts, stages: Stages, completions: Completions, probes: Probes
    ) -> None:
        self._table, self._counts, self._stages = table, counts, stages
        self._completions, self._probes = completions, probes

    def enter(
        self,
        cycle: int,
        results: list[Result | None],
        valid: int,
        store: int,
        written: Callable[[int, int], bool],
    ) -> int:
        """Of the ``valid`` ports, those whose result is accepted. ``written``: a client asks to write an entry."""
        accepted = 0
        for port in range(len(results) - 1, -1, -1):
            result = results[port]
            if result is None or not valid >> port & 1:
                continue
            if not store >> port & 1:
                self._completions.add(cycle, port, result)
            elif not self._enter(port, result, written):
                continue
            accepted |= 1 << port
        return accepted

    def _enter(self, port: int, result: Result, written: Callable[[int, int], bool]) -> bool:
        warp, register = result.warp, result.register
        found = None if written(warp, register) else self._table.read(warp, register)
        if found is None:
            self._probes.show("table_wait", 1 << port)
        if found is None or self._stages.deciding[port] is not None:
            return False
        self._stages.deciding[port] = Deciding(result, self._counts.row(found))
        return True
