"""A value that takes more slices than it needs arrives all the same: operands do not tell, the probe of sizes does."""

from __future__ import annotations

from pathlib import Path
from unittest import mock

import pytest
from amaranth import Const, Value

from warpfile.hdl.renaming import lane
from warpfile.schemes import find
from warpfile.sim.runner import cosim
from warpfile.spec.contract import SLICES
from warpfile.spec.schemes.packed import PackedConfig
from warpfile.spec.stress import stress_trace


def wider(word: Value) -> Value:
    """Every value needs a second byte at least."""
    return Const(1, SLICES - 1) | NEEDS_MORE(word)


NEEDS_MORE = lane.needs_more


@pytest.mark.check
def test_a_width_that_is_too_large_is_seen_in_its_probe_alone(root: Path) -> None:
    scheme = find("packing")
    cfg = scheme.configuration("tiny")
    assert isinstance(cfg, PackedConfig)
    trace = stress_trace(1, warps_per_cta=[3, 1, 2], ctas=9, length=120)
    with mock.patch.object(lane, "needs_more", wider):
        verilog = scheme.verilog(cfg, probes=True)
    found = cosim(scheme, cfg, trace, build_root=root / "build", verilog=verilog, explain=False).outcome
    assert found.mismatches and set(found.first_mismatch["fields"]) == {"size"}
