"""With both fields ``none`` the collectors are the baseline's: proved by yosys, module by module."""

import pytest
from amaranth.lib import wiring

from tests.hdl.collectors.sticky.bench import config
from tests.hdl.equivalence import prove
from warpfile.hdl.collectors.contract import collector_members
from warpfile.hdl.collectors.sticky.collectors import StickyUnits
from warpfile.hdl.collectors.units.collectors import Units
from warpfile.hdl.probe import with_probes
from warpfile.hdl.stamp import convert
from warpfile.spec.schemes.sticky import sticky_probes
from warpfile.yosys import YosysError


class Baseline(Units):
    """The baseline's units, with the one probe that they have not."""

    def __init__(self, cfg):
        self._cfg = cfg
        wiring.Component.__init__(self, with_probes(collector_members(cfg), sticky_probes(cfg)))

    def elaborate(self, platform):
        """Units and probe."""
        m = super().elaborate(platform)
        m.d.comb += self.taken.eq(self.offer.source_valid & self.allocate.any().replicate(self._cfg.source_slots))
        return m


def texts(**changes):
    """Verilog of our collectors and of the baseline's, with the same names."""
    cfg = config(forward_results="none", keep_operands="none", **changes)
    ours = convert(lambda: StickyUnits(cfg), "collectors")
    for part in ("unit", "lane"):
        ours = ours.replace(f"sticky_{part}", f"collector_{part}")
    # Numbered nets of both are not the same nets.
    return ours.replace("\\$", "\\ours$"), convert(lambda: Baseline(cfg), "collectors")


CHANGES = [{"collect": "lowest"}, {"collect": "all", "retake": "same", "source_slots": 4, "ports": 6}]


@pytest.mark.parametrize("changes", CHANGES, ids=["lowest", "all"])
def test_neither_is_the_baseline(changes, tmp_path):
    assert prove(*texts(**changes), tmp_path) > 2


def test_a_difference_is_found(tmp_path):
    ours, theirs = texts(**CHANGES[0])
    wrong = ours.replace("assign lacking = | missing;", "assign lacking = & missing;")
    assert wrong != ours
    with pytest.raises(YosysError):
        prove(wrong, theirs, tmp_path)
