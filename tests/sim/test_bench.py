"""What the bench needs of a machine's probes."""

from __future__ import annotations

import pytest

from warpfile.schemes import SCHEMES
from warpfile.sim.records import Quiet
from warpfile.spec.frame import frame_probes
from warpfile.spec.probe import ProbeLayout


@pytest.mark.parametrize("name", SCHEMES)
def test_the_bench_needs_the_frames_probes_only(name: str) -> None:
    cfg = SCHEMES[name].configuration("tiny")
    layout = ProbeLayout(frame_probes(cfg))
    quiet = Quiet(layout, 1).mask
    assert layout.unpack(quiet)["dispatch"] == (1 << cfg.ports) - 1
    assert {probe.name for probe in layout if layout.unpack(quiet)[probe.name]} == {
        *("launch", "issue", "write", "dispatch")
    }


def test_units_are_those_that_the_collectors_ask_for() -> None:
    """Windows are as many as warps, whatever the number of collector units says."""
    for name in SCHEMES:
        cfg = SCHEMES[name].configuration("tiny")
        (probe,) = (one for one in frame_probes(cfg) if one.name == "dispatch_unit0")
        assert probe.width == max(1, (cfg.asks.units - 1).bit_length())
