"""Golden model of the striped register file."""

from __future__ import annotations

from warpfile.golden.rf.location import Location
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout


class StripedFile(PlainFile):
    """Places as in the baseline."""

    def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
        odd = cfg.gives.cycles
        super().__init__(cfg, Location(cfg), lambda bank, row: odd if row % 2 else cfg.bank_cycles)
