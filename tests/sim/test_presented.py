"""The files that ``generate`` writes run in lockstep too, though lockstep makes a text of its own."""

from pathlib import Path

import pytest

from warpfile.generate import design, presented
from warpfile.names import Names
from warpfile.schemes import SCHEMES
from warpfile.sim.runner import cosim
from warpfile.spec.stress import stress_trace


@pytest.mark.parametrize("name", SCHEMES)
def test_the_files_of_a_scheme_equal_its_golden_model(root: Path, name: str) -> None:
    scheme = SCHEMES[name]
    cfg = scheme.configuration("tiny")
    _, raw = design(scheme, cfg, probes=True)
    verilog = "\n".join(presented(cfg, raw, Names.of(name, True, None, None)))
    trace = stress_trace(3, warps_per_cta=[2, 3], ctas=3, length=40, profile="mixed")
    report = cosim(scheme, cfg, trace, simulator="icarus", build_root=root / "build", verilog=verilog)
    assert report.outcome.mismatches == 0, report.outcome.first_mismatch
    assert report.outcome.instructions == trace.instructions
    assert report.outcome.operands_checked == report.outcome.golden_operands_checked > 0
