"""Two banks whose reads are planned by their reader (docs/schemes/modern.md, section 10)."""

from __future__ import annotations

from mypy_extensions import mypyc_attr

from warpfile.golden.arbiter import indices
from warpfile.golden.rf.banks import Access
from warpfile.golden.rf.location import Location
from warpfile.golden.rf.plain import PlainFile
from warpfile.golden.scheduler.places import Places
from warpfile.spec.config import Config
from warpfile.spec.probe import ProbeLayout


@mypyc_attr(allow_interpreted_subclasses=True)
class PortedFile(PlainFile):
    """A plain file without arbiter: every request is served, and the lowest write-back port goes first."""

    def __init__(self, cfg: Config, layout: ProbeLayout, places: Places | None) -> None:
        super().__init__(cfg, Location(cfg))
        self.highest_first = False

    def read(self, cycle: int, asking: list[int], rows: list[int], order: list[int]) -> list[Access]:
        """See the contract: request bank * ``read_ports`` + port has a port of its own."""
        held = self.banks.rows
        return [
            (index, held[bank][rows[index]], cycle + 1) for bank, mask in enumerate(asking) for index in indices(mask)
        ]
