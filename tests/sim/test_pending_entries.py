"""A scoreboard of a few entries: RTL equals golden model, and both issue as often as entries become free."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.golden.scenario import hand_trace, op
from warpfile.schemes import SCHEMES
from warpfile.sim.build import generated_verilog
from warpfile.sim.plan import Outcome
from warpfile.sim.runner import cosim
from warpfile.spec.config import Config
from warpfile.spec.stress import stress_trace
from warpfile.spec.trace import Trace

pytestmark = pytest.mark.needs("iverilog")

BASELINE = SCHEMES["baseline"]
LATENCY = 40


def configuration(entries: int) -> Config:
    return BASELINE.configuration("tiny", lanes=1, pending_entries=entries, alu_latency=LATENCY)


def run(root: Path, entries: int, trace: Trace, verilog: str | None = None) -> Outcome:
    options = {"build_root": root / "build", "explain": False, "verilog": verilog}
    return cosim(BASELINE, configuration(entries), trace, simulator="icarus", **options).outcome


def stress() -> Trace:
    return stress_trace(2, warps_per_cta=[3, 1, 2], ctas=6, length=80)


def independent(length: int) -> Trace:
    """One warp whose results are never read, so that only a full scoreboard stalls it."""
    return hand_trace([op((), number % 16) for number in range(length)])


@pytest.mark.parametrize("entries", [1, 3])
def test_the_machine_equals_the_golden_model(root: Path, entries: int) -> None:
    outcome = run(root, entries, stress())
    assert outcome.mismatches == 0 and outcome.operands_checked > 0, outcome.first_mismatch


@pytest.mark.parametrize("entries", [1, 2])
def test_a_warp_issues_once_per_entry_in_the_time_of_a_result(root: Path, entries: int) -> None:
    """An entry is taken from the cycle behind the issue until the result completes, some cycles after its latency."""
    long, short = (run(root, entries, independent(length)) for length in (60, 20))
    assert long.mismatches == short.mismatches == 0
    turn = (long.cycles - short.cycles) * entries / (60 - 20)
    assert LATENCY < turn < LATENCY + 8


def test_a_full_scoreboard_that_lets_beats_issue_is_found(root: Path) -> None:
    text = generated_verilog(BASELINE, configuration(1), root / "build")
    found = re.search(r"(?s)module \S*warp_scoreboard\.entries\b.*?(  assign full = \S+;)", text)
    assert found
    wrong = text[: found.start(1)] + "  assign full = 1'b0;" + text[found.end(1) :]
    assert run(root, 1, stress(), wrong).mismatches > 0
