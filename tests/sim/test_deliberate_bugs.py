"""The lockstep catches deliberate bugs, and each of them is one that an easy trace would miss."""

import pytest

from tests.golden.scenario import hand_trace, op
from tests.sim.bugs import BUGS, verilog_with
from warpfile.schemes import SCHEMES
from warpfile.sim.runner import cosim
from warpfile.spec.presets import PRESETS
from warpfile.spec.stress import stress_trace

CFG = PRESETS["tiny"].config


def easy_trace():
    """One warp, whole masks, each instruction in a bank of its own, no register written while it is read."""
    return hand_trace([op([number % 4], 4 + number % 4) for number in range(40)])


@pytest.mark.check
@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.name)
def test_a_deliberate_bug_is_caught_and_an_easy_trace_lets_it_pass(bug, root):
    verilog = verilog_with(bug, CFG)
    # One of them shows that a waveform is left; the others need not build a simulation for it.
    options = {"build_root": root / "build", "verilog": verilog, "explain": bug is BUGS[0]}
    easy = cosim(SCHEMES["baseline"], CFG, easy_trace(), **options)
    assert easy.outcome.mismatches == 0, easy.outcome.first_mismatch
    for seed in range(4):
        trace = stress_trace(seed, warps_per_cta=[3, 1, 2], ctas=9, length=120)
        report = cosim(SCHEMES["baseline"], CFG, trace, **options)
        if report.outcome.mismatches:
            break
    assert report.outcome.mismatches
    assert report.outcome.first_mismatch["fields"]
    if options["explain"]:
        assert report.waveform and report.waveform.stat().st_size > 0
