"""The register file of the baseline: places by base and number."""

from warpfile.hdl.rf.location import Location
from warpfile.hdl.rf.plain import PlainFile
from warpfile.spec.config import Config


class BankedFile(PlainFile):
    """A plain file with the location of the baseline. Ports: :func:`hdl.rf.contract.file_members`."""

    def __init__(self, cfg: Config) -> None:
        super().__init__(cfg, Location(cfg))
