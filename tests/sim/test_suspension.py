"""Places that are given up for loads, in the lockstep: machines of both sides agree, and a wrong one is found."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest
from amaranth import Signal

from warpfile.hdl.frame import Frame
from warpfile.schemes import find
from warpfile.sim.runner import cosim
from warpfile.spec.stress import stress_trace

SCHEME = find("baseline+two_level")
CFG = SCHEME.configuration(
    "tiny", active_warps=2, lanes=1, suspend_load="needed", resume="all", long_from="miss", notice_latency=2
)
pytestmark = pytest.mark.needs("iverilog")


def outcome(root: Path, verilog: str | None = None) -> Any:
    """Lockstep of one trace in Icarus."""
    trace = stress_trace(3, warps_per_cta=[3, 2], ctas=3, length=60, profile="memory")
    return cosim(
        SCHEME, CFG, trace, simulator="icarus", build_root=root / "build", explain=False, verilog=verilog
    ).outcome


def of(**wrong: object) -> Callable[[], str]:
    """RTL of a machine with other values."""
    return lambda: SCHEME.verilog(CFG.replace(**wrong), probes=True)


def deaf() -> str:
    """RTL that hears of the first register of a wide load only."""
    loads = Frame._loads

    def first(self, m, boards):  # type: ignore[no-untyped-def]
        heard, whole = Signal(self.missed.shape()), self.missed
        m.d.comb += [heard.eq(whole), heard.dest_count.eq(whole.dest_count.any())]
        self.missed = heard
        loads(self, m, boards)

    with mock.patch.object(Frame, "_loads", first):
        return SCHEME.verilog(CFG, probes=True)


def test_both_sides_agree(root: Path) -> None:
    right = outcome(root)
    assert right.mismatches == 0, right.first_mismatch
    assert right.counters["suspends_long"]


@pytest.mark.parametrize(
    ("wrong", "seen"),
    [
        (deaf, "draining"),
        pytest.param(of(suspend_load="always"), "suspend_long", marks=pytest.mark.regress),
        pytest.param(of(resume="head"), "ready", marks=pytest.mark.regress),
    ],
    ids=["miss", "needed", "resume"],
)
def test_a_wrong_side_is_found(root: Path, wrong: Callable[[], str], seen: str) -> None:
    fault = outcome(root, wrong())
    assert fault.mismatches and seen in fault.first_mismatch["fields"]
