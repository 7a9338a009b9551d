"""RTL of the striped register file."""

from amaranth import Mux

from warpfile.hdl.rf.location import Location
from warpfile.hdl.rf.plain import PlainFile
from warpfile.spec.config import Config


class StripedFile(PlainFile):
    """Places as in the baseline."""

    def __init__(self, cfg: Config) -> None:
        longest = cfg.gives.cycles
        super().__init__(cfg, Location(cfg), length=lambda bank, row: Mux(row[0], longest, cfg.bank_cycles))
