"""What the tests of sticky collectors have in common."""

from amaranth.sim import Simulator

from warpfile.schemes import find
from warpfile.spec.schemes.sticky import StickyConfig

SMALL = {"warps": 3, "lanes": 1, "register_names": 16, "rows": 16, "source_slots": 3, "collect": "all"}


def config(**changes: object) -> StickyConfig:
    """The small machine with three warps of sixteen registers and units of three slots."""
    found = find("sticky").configuration("tiny", **SMALL | changes)
    assert isinstance(found, StickyConfig)
    return found


def run(part, bench) -> None:
    """A bench beside a part with a clock."""
    simulator = Simulator(part)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
