"""The register file of the baseline: places by base and number (docs/machine.md, section 5)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.rf.location import Location
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout


@mypyc_attr(allow_interpreted_subclasses=True)
class BankedFile(PlainFile):
    """A plain file with the location of the baseline."""

    def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, Location(cfg))
