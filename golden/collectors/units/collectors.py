"""The collectors of the baseline (docs/machine.md, sections 5 to 7)."""

from __future__ import annotations

from typing import cast

from mypy_extensions import mypyc_attr

from warpfile.golden.collectors.gathering import GatheringUnits, SourceLookUps
from warpfile.golden.collectors.units.levels import NearSources
from warpfile.golden.collectors.units.lookups import LookUps
from warpfile.golden.rf.contract import LateFile, LeveledFile
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout


@mypyc_attr(allow_interpreted_subclasses=True)
class Units(GatheringUnits):
    """Over a file that looks sources up later, units wait for that first; near sources are read beside the banks."""

    def make_lookups(self, cfg: Config, layout: ProbeLayout) -> SourceLookUps | None:
        """What the register file asks for."""
        if cfg.gives.later:
            return LookUps(cfg, layout, cast(LateFile, self._file), self.units, self._counters)
        if cfg.gives.near_bits:
            return NearSources(layout, cast(LeveledFile, self._file), self.units)
        return None
